"""Names and normal forms of expressions, read from source alone: no lesson code is ever imported here.

An expression is a figure's name. The same figure is written `tokens_read(10, 50)` on its own page,
`context_window.tokens_read(10, 50)` on another and `tr(10, 50)` in a test; `canonical` makes these one text.
"""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

LESSONS = "lesson_code"

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Source = ast.AST | str  # what a name gets its value from: a node, or the dotted origin of an import
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
    found: set[int | float | str] = set()
    pending: list[ast.AST] = [parse_file(code.strip(), "code")]
    for node in pending:
        match node:
            case ast.Constant(value=bool()) | ast.UnaryOp(operand=ast.Constant(value=bool())):
                pass
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                found.add(-number)
            case ast.Constant(value=int() | float() | str() as value):
                found.add(value)
            case _:
                pending += ast.iter_child_nodes(node)
    return found


def substituted(expression: str, values: Mapping[str, int | float | str]) -> str:
    """Return the expression, in normal form, with free names replaced by the values they have.

    Raises:
        ValueError: the text is no expression.

    >>> substituted("f(n, [n for n in range(k)])", {"n": 2, "k": 3})
    'f(2, [n for n in range(3)])'
    """
    tree = parse(expression)
    return ast.unparse(_Filled({node: values[node.id] for node in _free(tree) if node.id in values}).visit(tree))


class _Filled(ast.NodeTransformer):
    """Replaces names by constants."""

    def __init__(self, constants: Mapping[ast.AST, int | float | str]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Return what stands for the name."""
        return parse(repr(self.constants[node])) if node in self.constants else node


def uses_lesson_code(expression: str) -> bool:
    """Say whether a canonical expression refers to anything in the lessons' package."""
    return LESSONS in free_names(parse(expression))


# What a piece of code binds.


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run in one scope: blocks are entered, functions and classes are not."""
    pending: list[Any] = [*body][::-1]
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.stmt):
            yield statement
        if not isinstance(statement, Function | ast.ClassDef):
            for block in reversed(_BLOCKS):
                pending += reversed(getattr(statement, block, ()))


def names_bound(body: Iterable[ast.stmt], package: str = "") -> dict[str, list[Source]]:
    """Return the names that a scope binds (not by `:=`), each with all it gets its value from."""
    found: dict[str, list[Source]] = {}
    for statement in statements(body):
        for name, source in bindings(statement, package):
            found.setdefault(name, []).append(source)
    return found


def bindings(statement: ast.stmt, package: str = "") -> list[tuple[str, Source]]:
    """Return the names one statement binds, each with its source: the statement itself if there is none better.

    Relative imports start from the dotted package.
    """
    targets: list[ast.expr] = []
    value: ast.AST = statement
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [(statement.name, statement)]
        case ast.Import() | ast.ImportFrom():
            return list(imported(statement, package).items())
        case ast.Assign():
            targets, value = statement.targets, statement.value
        case ast.AugAssign() | ast.AnnAssign():
            targets, value = [statement.target], statement.value or statement
        case ast.For():
            targets, value = [statement.target], statement.iter
        case ast.With():
            targets = [item.optional_vars for item in statement.items if item.optional_vars]
        case ast.Delete():
            targets = statement.targets
        case ast.Try() | ast.TryStar():
            return [(handler.name, statement) for handler in statement.handlers if handler.name]
        case ast.Match():
            return [(name, statement) for case in statement.cases for name in _captured(case.pattern)]
    return [(name, value) for target in targets for name in stored(target)]


def stored(target: ast.AST) -> list[str]:
    """Return the names a target binds: none for `a[0]` or `a.b`."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Starred):
        return stored(target.value)
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in stored(element)]
    return []


def _captured(pattern: ast.pattern) -> list[str]:
    """Return the names a `case` pattern binds."""
    names = [getattr(node, "name", None) or getattr(node, "rest", None) for node in ast.walk(pattern)]
    return [name for name in names if name]


def imported(node: ast.Import | ast.ImportFrom, package: str) -> dict[str, str]:
    """Return the names one import statement binds, each with its dotted origin; of a star nothing is known."""
    if isinstance(node, ast.Import):
        heads = {alias: alias.name.partition(".")[0] for alias in node.names}
        return {a.asname or head: a.name if a.asname else head for a, head in heads.items()}
    base = [node.module] if node.module else []
    if node.level:
        parents = package.split(".")
        base = [*parents[: len(parents) - node.level + 1], *base]
    return {a.asname or a.name: ".".join([*base, a.name]) for a in node.names if a.name != "*"}


def parameters(function: Function | ast.Lambda) -> set[str]:
    """Return the names of a function's parameters, starred ones included."""
    a = function.args
    starred = [arg for arg in (a.vararg, a.kwarg) if arg]
    return {arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, *starred)}


def defaults(function: Function | ast.Lambda) -> list[ast.expr]:
    """Return the default values of a function's parameters."""
    return [*function.args.defaults, *(value for value in function.args.kw_defaults if value)]


# What it needs from outside.


def free_names(node: ast.AST) -> set[str]:
    """Return the names a node reads from outside itself; annotations are no part of it."""
    return {name.id for name in _free(node)}


def _free(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the places at which a node reads names from outside itself.

    Comprehensions, lambdas and functions keep their own names to themselves. A name bound by `:=` counts as
    read from outside where it is used, for it belongs to the scope around the node.
    """
    pending: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while pending:
        current, hidden = pending.pop()
        if isinstance(current, ast.Name):
            if current.id not in hidden and not isinstance(current.ctx, ast.Store):
                yield current
        elif not isinstance(current, ast.Constant):
            outside, inside, bound = _parts(current)
            pending += [(part, hidden) for part in outside]
            pending += [(part, hidden | bound) for part in inside]


def _parts(node: ast.AST) -> tuple[Iterable[ast.AST], Iterable[ast.AST], set[str]]:
    """Return the parts of a node that see the names around it, those that see names of its own, and these names."""
    match node:
        case ast.Lambda():
            return defaults(node), [node.body], parameters(node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            outer = {n for s in statements(node.body) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
            own = (parameters(node) | names_bound(node.body).keys()) - outer
            return [*node.decorator_list, *defaults(node)], node.body, own
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first = node.generators[0].iter  # the only part that sees none of the targets
            children = [c for g in node.generators for c in ast.iter_child_nodes(g) if c is not first]
            children += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.comprehension)]
            return [first], children, {name for g in node.generators for name in stored(g.target)}
        case ast.AnnAssign():
            return [node.target, *([node.value] if node.value else [])], [], set()
    return ast.iter_child_nodes(node), [], set()


# Where names come from.


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
    names = _module_names(module, lesson_root)
    return {name: f"{LESSONS}.{name}" for name in sorted(topics)} | {
        name: follow(origin, lesson_root) for name, origin in names.items()
    }


def follow(origin: str, lesson_root: Path) -> str:
    """Return where a dotted name of the lessons is really defined, through all re-exports."""
    seen: set[str] = set()
    while origin not in seen:
        seen.add(origin)
        origin = _follow_once(origin, lesson_root)
    return origin


def _follow_once(origin: str, lesson_root: Path) -> str:
    """Return the origin one import further on, or the same text where no module re-exports it."""
    parts = origin.split(".")
    for end in range(1, len(parts)):
        module, name = ".".join(parts[:end]), parts[end]
        if parts[0] != LESSONS or _module_path(module, lesson_root) is None:
            break
        source = _module_names(module, lesson_root).get(name, f"{module}.{name}")
        if source != f"{module}.{name}":
            return ".".join([source, *parts[end + 1 :]])
    return origin


def _module_path(module: str, lesson_root: Path) -> str | None:
    """Return the file of a module of the lessons, None if there is none."""
    base = os.path.join(lesson_root, *module.split(".")[1:])
    package = os.path.join(base, "__init__.py")
    candidates = [f"{base}.py", package] if "." in module else [package]
    return next((path for path in candidates if os.path.isfile(path)), None)


def _module_names(module: str, lesson_root: Path) -> dict[str, str]:
    """Return the top-level names of a module of the lessons with their origins; none if there is no such module."""
    path = _module_path(module, lesson_root)
    return _names_in(Path(path).read_bytes(), path, module) if path else {}


@lru_cache(maxsize=256)
def _names_in(source: bytes, path: str, module: str) -> dict[str, str]:
    """Return the top-level names of a module's source with their origins.

    A name that is an import and something else besides belongs to the module itself.
    """
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    found = {}
    for name, sources in names_bound(parse_file(source, path).body, package).items():
        origin, *others = set(sources)
        found[name] = origin if isinstance(origin, str) and not others else f"{module}.{name}"
    return found


# The one text of an expression.


def canonical(expression: str, names: Mapping[str, str], lesson_root: Path | None = None) -> str:
    """Return the expression with every free name replaced by where it comes from.

    Args:
        expression: its text.
        names: dotted origins, as `page_names` gives them; other names stay as they stand.
        lesson_root: the folder of the lessons' package; with it, re-exports are followed to the definition.

    Raises:
        ValueError: the text is no expression.
    """
    return renamed(expression, names, partial(follow, lesson_root=lesson_root) if lesson_root else str)


def runs_over(expression: str) -> str:
    """What a list comprehension runs over, in normal form; an empty text for anything else."""
    tree = parse(expression)
    if isinstance(tree, ast.ListComp) and len(tree.generators) == 1 and not tree.generators[0].ifs:
        return ast.unparse(tree.generators[0].iter)
    return ""


class Resolved(NamedTuple):
    """An expression, looked up.

    Attributes:
        normal: its text in normal form.
        canonical: the same with every known name written out.
        unknown: names that it reads and that nobody knows.
        origins: where the known ones come from.
    """

    normal: str
    canonical: str
    unknown: frozenset[str]
    origins: frozenset[str]

    @property
    def uses_lessons(self) -> bool:
        """Whether it uses anything of the lessons."""
        return any(origin.partition(".")[0] == LESSONS for origin in self.origins)


def resolved(expression: str, names: Mapping[str, str], resolve: Callable[[str], str]) -> Resolved:
    """Look up the names of an expression; `resolve` makes an origin final.

    Raises:
        ValueError: the text is no expression.
    """
    tree = parse(expression)
    free, origins = _looked_up(tree, expression, names)
    unknown = frozenset(node.id for node in free if node not in origins and not hasattr(builtins, node.id))
    normal = ast.unparse(tree)
    canonical = ast.unparse(_Renamer(origins, resolve).visit(tree)) if origins else normal
    return Resolved(normal, canonical, unknown, frozenset(origins.values()))


def renamed(expression: str, names: Mapping[str, str], resolve: Callable[[str], str]) -> str:
    """Return the text of an expression with its free names replaced; `resolve` makes an origin final."""
    tree = parse(expression)
    return ast.unparse(_Renamer(_looked_up(tree, expression, names)[1], resolve).visit(tree))


def _looked_up(tree: ast.AST, text: str, names: Mapping[str, str]) -> tuple[list[ast.Name], dict[ast.AST, str]]:
    """Return the free names of an expression, and the origins of those that are known."""
    own = {node.target.id for node in ast.walk(tree) if isinstance(node, ast.NamedExpr)} if ":=" in text else ()
    free = [node for node in _free(tree) if node.id not in own]
    return free, {node: names[node.id] for node in free if node.id in names}


class _Renamer(ast.NodeTransformer):
    """Replaces names, with the attributes they are followed by, by what `resolve` says of their origin."""

    def __init__(self, origins: Mapping[ast.AST, str], resolve: Callable[[str], str]) -> None:
        self.origins = origins
        self.resolve = resolve

    def visit(self, node: ast.AST) -> Any:
        """Return the node with its names replaced."""
        root, attributes = dotted(node)
        if root in self.origins:
            return ast.Name(self.resolve(".".join([self.origins[root], *attributes])), ast.Load())
        return self.generic_visit(node)


def dotted(node: ast.AST) -> tuple[ast.AST, list[str]]:
    """Return what `a.b.c` starts with, and the attributes that follow; of anything else, itself and none."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.insert(0, node.attr)
        node = node.value
    return node, attributes
