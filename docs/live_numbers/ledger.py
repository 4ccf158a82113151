"""The ledger: the accepted value of every computed figure and of every example output.

A TOML file, one line a figure, grouped by page in page order. A figure's line holds its expression, its exact
value and the forms in which the page writes it; an example's lines are the lines it printed.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import tempfile
import tomllib
from pathlib import Path

from live_numbers.forms import Value

Entries = dict[str, list[Value]]
Pages = dict[str, Entries]

HEAD = """\
# The accepted figures of the site, page by page: expression = [exact value, "as written", ...].
# An example or a picture has the lines it prints, an explorer what its settings amount to.
# Written by `live-numbers accept`; not meant to be edited.
"""


INPUTS = "inputs"
"""The entry of a page that holds, in order, the inputs that its author chose."""


class LedgerError(ValueError):
    """The ledger cannot be read; the text names the line."""


def read(path: Path) -> Pages:
    """The accepted figures by page and expression; none where there is no ledger yet."""
    if not path.exists():
        return {}
    try:
        pages = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise LedgerError(f"the ledger cannot be read: {error}") from error
    for page, entries in pages.items():
        if not isinstance(entries, dict) or not all(_is_entry(entry) for entry in entries.values()):
            raise LedgerError(f"the ledger cannot be read: ['{page}'] holds something that is no list of values")
    return pages


def _is_entry(entry: object) -> bool:
    """Whether something from the file is a list that begins with a value."""
    return isinstance(entry, list) and bool(entry) and all(isinstance(v, str | int | float | list) for v in entry)


def text(pages: Pages) -> str:
    """The ledger as it is written to its file."""
    parts = [HEAD]
    for page, entries in pages.items():
        parts.append(f"\n[{_key(page)}]\n")
        parts += [_line(name, entry) for name, entry in entries.items()]
    return "".join(parts)


def write(path: Path, pages: Pages) -> None:
    """Replace the ledger in one step: a crash leaves the old one or the new one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".numbers.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text(pages))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def diff(old: Pages, new: Pages) -> str:
    """The lines that leave and the lines that come, for a person to read."""
    lines = difflib.unified_diff(_lines(text(old)), _lines(text(new)), "accepted", "computed now", lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith("@@"))


def places(path: Path) -> dict[tuple[str, str], int]:
    """The line of the ledger on which each entry begins, by page and name."""
    found, page = {}, ""
    for number, line in enumerate(_lines(path.read_text(encoding="utf-8")), start=1):
        with contextlib.suppress(ValueError):  # written by hand, and so not found
            if line.startswith("["):
                page = next(iter(tomllib.loads(line)))
            elif line.startswith(("'", '"')):
                name = line[1 : line.index("'", 1)] if line[0] == "'" else json.JSONDecoder().raw_decode(line)[0]
                found[page, name] = number
    return found


def is_example(name: str) -> bool:
    """Whether an entry holds lines (of an example, a picture, an explorer) and is no expression."""
    return name == INPUTS or name.startswith(("output: ", "picture: ", "explorer: "))


def is_expression(name: str) -> bool:
    """Whether an entry is a computed figure, and its name the expression."""
    return not is_example(name) and not name.startswith("cited: ")


def _lines(content: str) -> list[str]:
    """The lines as editors count them: a line separator within a text ends none."""
    return content.rstrip("\n").split("\n")


def _line(name: str, entry: list[Value]) -> str:
    if not is_example(name):
        return f"{_key(name)} = {_json(entry)}\n"
    return f"{_key(name)} = [\n" + "".join(f"  {_json(line)},\n" for line in entry) + "]\n"


def _key(name: str) -> str:
    """A TOML key: quoted as it stands where that is possible, for the reader's sake."""
    return f"'{name}'" if "'" not in name and name.isprintable() else _json(name)


def _json(value: Value) -> str:
    """A value as JSON, which is TOML too once the one character TOML forbids is escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
