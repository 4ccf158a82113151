"""Code on a page, taken from `lesson_code` by the name of a function, a class, a module or a marked region.

A region is what stands between the comments `# region: NAME` and `# endregion` of a module.
"""

from __future__ import annotations

import ast
import re
import textwrap
from functools import lru_cache
from pathlib import Path

MARK = re.compile(r"[ \t]*# (?:region: (.+?)|endregion\b.*)[ \t]*\Z")


class MissingCodeError(ValueError):
    """There is no code of that name."""


def find(lessons: Path, topic: str, name: str) -> tuple[Path, str]:
    """The file that holds the named code, and the code.

    Args:
        lessons: the package `lesson_code`.
        topic: the page's module, in which a bare name is looked up first.
        name: `truncate`, `kv_memory.kv_bytes`, `conversation.store.Store`, a module's name, or
            `context_window:walk` for the region `walk`.

    Raises:
        MissingCodeError: nothing has that name; the text lists what the module has.
    """
    if not isinstance(name, str) or not name.strip():
        raise MissingCodeError(f"code({name!r}) names nothing")
    dotted, _, region = name.partition(":")
    parts = dotted.split(".")
    if parts[0] == lessons.name:
        parts = parts[1:]
    path, rest = module(lessons, parts)
    if path is None:
        path, rest = module(lessons, topic.split("."))
        rest = parts
    if path is None:
        raise MissingCodeError(f"there is no module for {name!r} in {lessons.name}")
    source = path.read_text(encoding="utf-8")
    if region:
        return path, _region(source, region, name)
    if not rest:
        return path, source.rstrip()
    return path, _definition(source, rest, name)


def module(lessons: Path, parts: list[str]) -> tuple[Path | None, list[str]]:
    """The longest run of parts that names a module, and what is left of them."""
    for count in range(len(parts), 0, -1):
        base = lessons.joinpath(*parts[:count])
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path, parts[count:]
    return None, parts


def _region(source: str, region: str, name: str) -> str:
    inside: list[str] = []
    depth = 0  # of regions within the wanted one
    for line in source.split("\n"):
        mark = MARK.match(line)
        if depth and mark:
            depth += 1 if mark[1] else -1
            if not depth:
                return textwrap.dedent("\n".join(inside)).strip("\n")
        elif depth:
            inside.append(line)
        elif mark and mark[1] == region:
            depth = 1
    known = [mark[1] for line in source.split("\n") if (mark := MARK.match(line)) and mark[1]]
    what = "has no end" if depth else "is not there"
    raise MissingCodeError(f"the region of {name!r} {what}: the module has {', '.join(known) or 'none'}")


def _definition(source: str, parts: list[str], name: str) -> str:
    """The source of a function, a class, a method or an assigned name, decorators included."""
    body: list[ast.stmt] = parsed(source).body
    for depth, part in enumerate(parts):
        matches = [statement for statement in body if part in names(statement)]
        if not matches:
            known = sorted(name for statement in body for name in names(statement))
            raise MissingCodeError(f"there is no code for {name!r}: the module has {', '.join(known) or 'nothing'}")
        statement = matches[-1]
        if depth < len(parts) - 1:
            body = getattr(statement, "body", [])
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    lines = source.split("\n")[first - 1 : statement.end_lineno]
    return textwrap.dedent("\n".join(lines))


@lru_cache(maxsize=32)
def parsed(source: str) -> ast.Module:
    """The tree of a module: a page shows many parts of the same one."""
    return ast.parse(source)


def names(statement: ast.stmt) -> list[str]:
    """What a top-level statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
