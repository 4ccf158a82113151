"""Where the files of a project lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Project:
    """The folders and files of one site, all found from the folder of its `mkdocs.yml`."""

    root: Path

    @property
    def docs(self) -> Path:
        """The pages."""
        return self.root / "docs"

    @property
    def lessons(self) -> Path:
        """The package whose figures the pages quote."""
        return self.root / "lesson_code"

    @property
    def tests(self) -> Path:
        """The tests that assert them."""
        return self.root / "tests"

    @property
    def ledger(self) -> Path:
        """The accepted values."""
        return self.docs / "numbers.lock"

    @property
    def sources(self) -> Path:
        """The cited figures."""
        return self.docs / "sources.toml"

    @property
    def typed_numbers(self) -> Path:
        """The numbers that may stand typed."""
        return self.docs / "typed_numbers.toml"

    @property
    def browser_python(self) -> Path:
        """Python for the reader's browser: the npm package `pyodide`, where it is installed."""
        return self.root / ".ci" / "node_modules" / "pyodide"

    def name(self, path: Path) -> str:
        """A path as messages show it: relative to the project, with forward slashes."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)

    def page(self, uri: str) -> str:
        """The file of a page, as messages show it."""
        return self.name(self.docs / uri)
