"""Which files of the lessons an answer comes from, so that it can outlive an edit of the others.

Read from source alone, and wide rather than narrow: where the source does not say what it will import, an answer
comes from every file.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath

from live_numbers.expressions import LESSONS, dotted, imported
from live_numbers.project import Project

IN_TEXT = re.compile(rf"\b{LESSONS}\b((?:\.[A-Za-z_]\w*)*)|\.py\b")
"""A module that a text names; of one that names a file of code, nothing can be said."""

HIDDEN = {"__import__", "eval", "exec", "import_module", "run_module", "run_path", "pkgutil", "__path__"}
"""Names with which code may import what its source does not say."""

Mentions = frozenset[str] | None
"""Dotted names within the lessons' package; None where there may be others."""


class Code:
    """The files of `lesson_code` at one moment."""

    def __init__(self, project: Project) -> None:
        """Read them all."""
        self.files = {
            path.relative_to(project.lessons.parent).as_posix(): path.read_bytes()
            for path in sorted(project.lessons.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
        self._reach = cache(self._reached)

    @cached_property
    def key(self) -> str:
        """A digest of every file: the same key means the same code."""
        return self._digest(self.files)

    @cached_property
    def modules(self) -> dict[str, str]:
        """The file of each module, by its dotted name."""
        paths = [PurePosixPath(name) for name in self.files if name.endswith(".py")]
        parts = {path: (path.parent if path.name == "__init__.py" else path.with_suffix("")).parts for path in paths}
        return {".".join(names): str(path) for path, names in parts.items()}

    def key_for(self, code: str) -> str:
        """A digest of the files that an expression, a block or a module's examples may run.

        Args:
            code: its text, with the names of the lessons written out in full.
        """
        return self._reach(mentions(code.encode(), ""))

    def _reached(self, mentioned: Mentions) -> str:
        modules = self._behind(mentioned)
        if modules is None:
            return self.key
        data = {name for name in self.files if not name.endswith(".py")}
        return self._digest(data | {self.modules[module] for module in modules})

    def _behind(self, mentioned: Mentions) -> set[str] | None:
        """The modules that run for what is mentioned, through all their imports; None where all of them may."""
        found: set[str] = set()
        pending = [LESSONS]
        while mentioned is not None:
            pending += [module for name in mentioned for module in self._on_the_way_to(name)]
            while pending and pending[-1] in found:
                pending.pop()
            if not pending:
                return found
            module = pending.pop()
            found.add(module)
            mentioned = self._mentions_of(module)
        return None

    def _mentions_of(self, module: str) -> Mentions:
        file = self.modules.get(module)
        if file is None:
            return None
        package = module if file.endswith("/__init__.py") else module.rpartition(".")[0]
        return mentions(self.files[file], package)

    def _on_the_way_to(self, name: str) -> list[str]:
        """The modules that are imported for a dotted name."""
        parts = name.split(".")
        heads = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
        return [head for head in heads if head in self.modules]

    def _digest(self, names: Iterable[str]) -> str:
        digest = hashlib.sha256()
        for name in sorted(names):
            digest.update(f"{name}\0{len(self.files[name])}\0".encode() + self.files[name])
        return digest.hexdigest()


@lru_cache(maxsize=4096)
def mentions(source: bytes, package: str) -> Mentions:
    """What of the lessons a piece of code may use.

    Args:
        source: its text.
        package: where its relative imports start from.

    Returns:
        Dotted names, of modules or of what is in them; None where the source does not say all of them.
    """
    try:
        pending: list[ast.AST] = [ast.parse(source)]
    except (SyntaxError, ValueError):
        return None
    found: set[str] = set()
    for node in pending:
        match node:
            case ast.Expr(value=ast.Constant()):  # a docstring
                continue
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom():
                found |= set(imported(node, package).values())
                if any(alias.name == "*" for alias in node.names):
                    return None
            case ast.Constant(value=str(text)):
                found |= {LESSONS + rest for rest in IN_TEXT.findall(text)}
            case ast.Name(id="__package__"):
                found.add(package)
            case ast.Name() | ast.Attribute():
                root, attributes = dotted(node)
                if isinstance(root, ast.Name):
                    found.add(".".join([root.id, *attributes]))
                    continue
        pending += ast.iter_child_nodes(node)
    if LESSONS in found or any(HIDDEN.intersection(name.split(".")) for name in found):
        return None
    return frozenset(name for name in found if name.startswith(f"{LESSONS}."))
