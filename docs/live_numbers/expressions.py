"""Names and normal forms of expressions, read from source alone: no lesson code is ever imported here.

An expression is a figure's name. The same figure is written `tokens_read(10, 50)` on its own page,
`context_window.tokens_read(10, 50)` on another and `tr(10, 50)` in a test; `canonical` makes these one text.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

LESSONS = "lesson_code"

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def parse(expression: str) -> ast.expr:
    """Return the tree of one expression; `ValueError` with a readable message if it is none."""
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"not a Python expression: {expression.strip()!r} ({error.msg})") from None


def parse_file(source: bytes | str, name: str | Path) -> ast.Module:
    """Return the tree of a file's text; `ValueError` that names file and line if it does not parse."""
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise ValueError(f"{name}:{error.lineno}: {error.msg}") from None


def normalise(expression: str) -> str:
    """Return the expression on one line, in Python's own spacing and quotes; `ValueError` if it is none."""
    return ast.unparse(parse(expression))


def literals(code: str) -> set[int | float | str]:
    """Return the numbers and texts written in an expression or a block of code; `-5` is one number.

    Raises:
        ValueError: the code does not parse.
    """
    pending: list[ast.AST] = [parse_file(code.strip(), "code")]
    found: set[int | float | str] = set()
    while pending:
        node = pending.pop()
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _number(node.operand) is not None:
            found.add(-(_number(node.operand) or 0))
        elif isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, int | float | str) and not isinstance(value, bool):
                found.add(value)
        else:
            pending += ast.iter_child_nodes(node)
    return found


def uses_lesson_code(expression: str) -> bool:
    """Say whether a canonical expression refers to anything in the lessons' package."""
    return LESSONS in free_names(parse(expression))


def _number(node: ast.expr) -> int | float | None:
    """Return the number a constant holds, None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None


# What a piece of code binds, and what it needs from outside.


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run in one scope: blocks are entered, functions and classes are not."""
    pending: list[Any] = [*body][::-1]
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.stmt):
            yield statement
        if not isinstance(statement, _NESTED):
            for block in reversed(_BLOCKS):
                pending += reversed(getattr(statement, block, ()))


def header(statement: ast.stmt) -> list[ast.AST]:
    """Return what a statement itself evaluates or binds: not its block, and no annotation."""
    if isinstance(statement, Function):
        arguments = statement.args
        return [*statement.decorator_list, *arguments.defaults, *(d for d in arguments.kw_defaults if d)]
    if isinstance(statement, ast.ClassDef):
        return [*statement.decorator_list, *statement.bases, *(k.value for k in statement.keywords)]
    if isinstance(statement, ast.AnnAssign):
        return [statement.target, *([statement.value] if statement.value else [])]
    if isinstance(statement, ast.Match):
        guards = [case.guard for case in statement.cases if case.guard]
        return [statement.subject, *(case.pattern for case in statement.cases), *guards]
    if isinstance(statement, ast.Try | ast.TryStar):
        return [handler.type for handler in statement.handlers if handler.type]
    return [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]


def bindings(statement: ast.stmt) -> list[tuple[str, ast.AST]]:
    """Return the names a statement binds, each with the node it gets its value from (walrus aside)."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [(statement.name, statement)]
        case ast.Import():
            return [(a.asname or a.name.partition(".")[0], statement) for a in statement.names]
        case ast.ImportFrom():
            return [(a.asname or a.name, statement) for a in statement.names]
        case ast.Assign():
            return [(name, statement.value) for target in statement.targets for name in stored(target)]
        case ast.AugAssign() | ast.AnnAssign():
            return [(name, statement.value or statement) for name in stored(statement.target)]
        case ast.For() | ast.AsyncFor():
            return [(name, statement.iter) for name in stored(statement.target)]
        case ast.With() | ast.AsyncWith():
            items = [item for item in statement.items if item.optional_vars]
            return [(name, i.context_expr) for i in items for name in stored(i.optional_vars or i.context_expr)]
        case ast.Try() | ast.TryStar():
            return [(handler.name, handler) for handler in statement.handlers if handler.name]
        case ast.Match():
            return [(name, statement.subject) for case in statement.cases for name in _captured(case.pattern)]
        case ast.Delete():
            return [(name, statement) for target in statement.targets for name in stored(target)]
    return []


def stored(target: ast.AST) -> list[str]:
    """Return the names a target binds: none for `a[0]` or `a.b`."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Starred):
        return stored(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in stored(element)]
    return []


def walruses(node: ast.AST) -> list[tuple[str, ast.AST]]:
    """Return the names bound by `:=` anywhere in a node, each with its value."""
    return [(n.target.id, n.value) for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]


def _captured(pattern: ast.pattern) -> list[str]:
    """Return the names a `case` pattern binds."""
    found = []
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            found.append(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.append(node.rest)
    return found


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """Return every parameter of a function, starred ones included."""
    a = function.args
    starred = [arg for arg in (a.vararg, a.kwarg) if arg]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *starred]


def free_names(node: ast.AST) -> set[str]:
    """Return the names a node reads from outside itself; annotations are no part of it.

    Comprehensions, lambdas and functions keep their own names to themselves; a walrus at the node's own level
    does not hide its name, because the name belongs to the scope around it.
    """
    found: set[str] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.Name):
            if not isinstance(current.ctx, ast.Store):
                found.add(current.id)
        elif isinstance(current, ast.Lambda):
            inner = free_names(current.body) - {name for name, _ in walruses(current.body)}
            found |= inner - {arg.arg for arg in parameters(current)}
            pending += [*current.args.defaults, *(d for d in current.args.kw_defaults if d)]
        elif isinstance(current, Comprehension):
            found |= _free_in_comprehension(current)
        elif isinstance(current, Function):
            found |= _free_in_body(current)
            pending += header(current)
        elif isinstance(current, ast.ClassDef | ast.AnnAssign):
            pending += [*header(current), *getattr(current, "body", [])]
        else:
            pending += ast.iter_child_nodes(current)
    return found


def _free_in_comprehension(node: Comprehension) -> set[str]:
    """Return the names a comprehension reads from outside; only its first iterable sees no target."""
    targets = _targets(node)
    first = node.generators[0].iter
    inner = set().union(*(free_names(part) for part in _inner_parts(node)))
    return free_names(first) | (inner - targets)


def _targets(node: Comprehension) -> set[str]:
    """Return the names a comprehension binds."""
    return {name for generator in node.generators for name in stored(generator.target)}


def _inner_parts(node: Comprehension) -> list[ast.AST]:
    """Return the parts of a comprehension that see its targets."""
    element = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    tests = [test for generator in node.generators for test in generator.ifs]
    targets = [generator.target for generator in node.generators]
    return [*element, *tests, *targets, *(generator.iter for generator in node.generators[1:])]


def _free_in_body(function: Function) -> set[str]:
    """Return the names a function's body reads from outside the function."""
    read: set[str] = set().union(*(free_names(statement) for statement in function.body))
    bound = {arg.arg for arg in parameters(function)}
    outer: set[str] = set()
    for statement in statements(function.body):
        bound |= {name for name, _ in bindings(statement)}
        bound |= {name for part in header(statement) for name, _ in walruses(part)}
        if isinstance(statement, ast.Global | ast.Nonlocal):
            outer |= set(statement.names)
    return (read - bound) | outer


# Where names come from.


def imported(node: ast.Import | ast.ImportFrom, package: str, lesson_root: Path | None) -> dict[str, str]:
    """Return the names one import statement binds, each with its dotted origin.

    A star stands for the public names of a module of the lessons; of any other module nothing is known.

    Args:
        node: the statement.
        package: the dotted package that relative imports start from.
        lesson_root: the folder of the lessons' package, needed for a star only.
    """
    if isinstance(node, ast.Import):
        return {
            a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0] for a in node.names
        }
    base = import_base(node, package)
    if node.names[0].name != "*":
        return {a.asname or a.name: f"{base}.{a.name}" for a in node.names}
    if lesson_root is None or base.partition(".")[0] != LESSONS:
        return {}
    return {n: f"{base}.{n}" for n in _module_names(base, lesson_root, ()) if not n.startswith("_")}


def import_base(node: ast.ImportFrom, package: str) -> str:
    """Return the dotted module that `from … import` reads, relative ones resolved within `package`."""
    if not node.level:
        return node.module or ""
    parents = package.split(".")
    parts = parents[: len(parents) - node.level + 1] + ([node.module] if node.module else [])
    return ".".join(parts)


def origins(source: str | Path, lesson_root: Path | None = None) -> dict[str, str]:
    """Return every name that a file's imports bind, at its top or within functions, with its dotted origin.

    Args:
        source: the file, or its text. Relative imports need a file within `lesson_root`.
        lesson_root: the folder of the lessons' package, needed for relative and star imports.

    Raises:
        ValueError: the file does not parse; the message names file and line.
    """
    text = source.read_bytes() if isinstance(source, Path) else source.encode()
    package = ""
    if isinstance(source, Path) and lesson_root and source.is_relative_to(lesson_root):
        package = ".".join([LESSONS, *source.parent.relative_to(lesson_root).parts])
    tree = parse_file(text, source if isinstance(source, Path) else "source")
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= imported(node, package, lesson_root)
    return found


def page_names(lesson_root: Path, topic: str) -> dict[str, str]:
    """Return the namespace of a page's expressions: each name with its dotted origin.

    These are the top-level names of the topic's module, and the names of all topic modules unless shadowed.

    Raises:
        ValueError: there is no such topic, or its file does not parse (the message names file and line).
    """
    module = f"{LESSONS}.{topic}"
    if _module_path(module, lesson_root) is None:
        raise ValueError(f"no lesson module {topic!r} in {lesson_root}")
    topics = {path.stem for path in lesson_root.glob("[!_]*.py")}
    topics |= {path.parent.name for path in lesson_root.glob("[!_]*/__init__.py")}
    names = _module_names(module, lesson_root, ())
    return {name: f"{LESSONS}.{name}" for name in sorted(topics)} | {
        name: follow(origin, lesson_root) for name, origin in names.items()
    }


def follow(origin: str, lesson_root: Path) -> str:
    """Return where a dotted name of the lessons is really defined, through all re-exports."""
    seen = {origin}
    while (further := _follow_once(origin, lesson_root)) not in seen:
        seen.add(origin := further)
    return origin


def _follow_once(origin: str, lesson_root: Path) -> str:
    """Return the origin one import further on, or the same text where no module re-exports it."""
    parts = origin.split(".")
    for end in range(1, len(parts)):
        module, name = ".".join(parts[:end]), parts[end]
        if parts[0] != LESSONS or _module_path(module, lesson_root) is None:
            break
        source = _module_names(module, lesson_root, ()).get(name, f"{module}.{name}")
        if source != f"{module}.{name}":
            return ".".join([source, *parts[end + 1 :]])
    return origin


def _module_path(module: str, lesson_root: Path) -> str | None:
    """Return the file of a module of the lessons, None if there is none."""
    base = os.path.join(lesson_root, *module.split(".")[1:])
    package = os.path.join(base, "__init__.py")
    candidates = [f"{base}.py", package] if "." in module else [package]
    return next((path for path in candidates if os.path.isfile(path)), None)


def _module_names(module: str, lesson_root: Path, busy: tuple[str, ...]) -> dict[str, str]:
    """Return a module's top-level names with their origins; `busy` breaks circles of star imports."""
    path = _module_path(module, lesson_root)
    if path is None or module in busy:
        return {}
    names, stars = _own_names(Path(path).read_bytes(), path, module)
    for star in stars:
        public = (n for n in _module_names(star, lesson_root, (*busy, module)) if not n.startswith("_"))
        names = {n: f"{star}.{n}" for n in public} | names
    return names


@lru_cache(maxsize=256)
def _own_names(source: bytes, path: str, module: str) -> tuple[dict[str, str], list[str]]:
    """Return a module's own top-level names with their origins, and the lesson modules it imports by star.

    A name that is an import and something else besides belongs to the module itself.
    """
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    names: dict[str, str] = {}
    stars: list[str] = []
    for statement in statements(parse_file(source, path).body):
        found = {name: f"{module}.{name}" for name, _ in bindings(statement)}
        found |= {name: f"{module}.{name}" for part in header(statement) for name, _ in walruses(part)}
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found = imported(statement, package, None)
            if not found and isinstance(statement, ast.ImportFrom):
                stars.append(import_base(statement, package))
        for name, origin in found.items():
            names[name] = origin if names.get(name, origin) == origin else f"{module}.{name}"
    return names, [star for star in stars if star.partition(".")[0] == LESSONS]


# The one text of an expression.


def canonical(expression: str, names: Mapping[str, str], lesson_root: Path | None = None) -> str:
    """Return the expression with every free name replaced by where it comes from.

    Args:
        expression: its text.
        names: dotted origins, as `page_names` or `origins` give them; other names stay as they stand.
        lesson_root: the folder of the lessons' package; with it, re-exports are followed to the definition.

    Raises:
        ValueError: the text is no expression.
    """
    return renamed(parse(expression), names, partial(follow, lesson_root=lesson_root) if lesson_root else str)


def renamed(tree: ast.expr, names: Mapping[str, str], resolve: Callable[[str], str]) -> str:
    """Return the text of an expression with its free names replaced; `resolve` makes an origin final."""
    bound = {name for name, _ in walruses(tree)}
    return ast.unparse(_rewritten(tree, _without(names, bound), resolve))


def _rewritten(node: ast.AST, names: Mapping[str, str], resolve: Callable[[str], str]) -> Any:
    """Return a copy of a tree whose free names are dotted origins."""
    head, _, rest = _dotted(node).partition(".")
    if head in names:
        origin = f"{names[head]}.{rest}" if rest else names[head]
        return parse(resolve(origin))
    copy = {field: _copied(value, names, resolve) for field, value in ast.iter_fields(node)}
    if isinstance(node, ast.Lambda):
        inner = _without(names, {arg.arg for arg in parameters(node)})
        copy["body"] = _rewritten(node.body, inner, resolve)
    elif isinstance(node, Comprehension):
        inner = _without(names, _targets(node))
        copy = {field: _copied(value, inner, resolve) for field, value in ast.iter_fields(node)}
        copy["generators"][0].iter = _rewritten(node.generators[0].iter, names, resolve)
    return type(node)(**copy)


def _copied(value: Any, names: Mapping[str, str], resolve: Callable[[str], str]) -> Any:
    """Return a rewritten copy of a field of a node: a node, a list or a plain value."""
    if isinstance(value, list):
        return [_copied(element, names, resolve) for element in value]
    return _rewritten(value, names, resolve) if isinstance(value, ast.AST) else value


def _dotted(node: ast.AST) -> str:
    """Return `a.b.c` for a name or a chain of attributes on one, else an empty text."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(attributes)]) if isinstance(node, ast.Name) else ""


def _without(names: Mapping[str, str], hidden: set[str]) -> dict[str, str]:
    """Return the names that stay visible where others are bound."""
    return {name: origin for name, origin in names.items() if name not in hidden}
