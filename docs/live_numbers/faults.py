"""What can be wrong with a page, said so that a person can mend it."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        file: the file to open, relative to the project, such as `docs/lessons/memgpt.md`.
        line: the line in it, counted from 1; 0 where no line can be named.
        kind: a few words that classify it, such as `changed figure`.
        what: what is wrong, with the figures.
        fix: what to do about it.
    """

    file: str
    line: int
    kind: str
    what: str
    fix: str = ""

    @property
    def place(self) -> str:
        """`file:line`, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def body(self) -> str:
        """Everything but the place."""
        return f"{self.kind}: {self.what}" + (f"\nfix: {self.fix}" if self.fix else "")

    def __str__(self) -> str:
        return f"{self.place}: " + self.body.replace("\n", "\n    ")

    def annotation(self) -> str:
        """The fault as a workflow command, which GitHub shows beside the line of a pull request."""

        def escape(text: str) -> str:
            return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

        place = f"file={self.file}" + (f",line={self.line}" if self.line else "")
        return f"::error {place},title={self.kind}::{escape(self.body)}"


def report(faults: list[Fault]) -> str:
    """All faults of a run as one text, sorted by place; under GitHub Actions with annotations."""
    faults = sorted(set(faults))
    lines = [str(fault) for fault in faults]
    if os.environ.get("GITHUB_ACTIONS") == "true":
        lines += [fault.annotation() for fault in faults]
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return "\n".join([*lines, f"{count}: nothing to publish."])
