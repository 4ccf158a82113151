"""Could this value have come from the code?

A value that a test states is independent if everything it is made of is known to be: literals, arithmetic,
builtins, pure modules of the standard library, names that the test or its file binds to such things, and
functions of the tests that use nothing else. Whatever is not known is refused, and so is any value that
something may have changed in place. An honest author is meant, whom a shortcut would fool; not a forger.
"""

from __future__ import annotations

import ast
import builtins
import re
from functools import cached_property
from pathlib import Path

from live_numbers.expressions import LESSONS, defaults, dotted, free_names, names_bound, parameters, parse_file

# Modules that can neither read a file nor reach the lessons' code.
_MODULES = """__future__ abc bisect calendar cmath collections copy dataclasses datetime decimal enum fractions
    functools heapq itertools math numbers operator pytest random re statistics string struct textwrap typing
    unicodedata"""
# Names that can: as builtins, and as attributes of whatever object.
_BUILTINS = "__import__ breakpoint compile delattr dir eval exec getattr globals help input locals open setattr vars"
_ATTRIBUTES = "MonkeyPatch approx bltns builtins import_module importorskip io main modules os sys"
_READING = "abs all any bool float int len list max min range round set sorted str sum tuple"  # change nothing
PLAIN_MODULES = frozenset(_MODULES.split())
DYNAMIC_BUILTINS = frozenset(_BUILTINS.split())
DYNAMIC_ATTRIBUTES = (DYNAMIC_BUILTINS - {"compile"}) | frozenset(_ATTRIBUTES.split())
PLAIN_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_")) - DYNAMIC_BUILTINS
READING = frozenset(_READING.split())
REACHES_CODE = re.compile(rf"{LESSONS}|live_numbers|numbers\.lock")
REBOUND = re.compile(r"^[ \t]*(?:global|nonlocal)\s+([\w, \t]+)|\b(\w+)\s*:=", re.MULTILINE)
_NOT_FOLLOWED = ast.ClassDef | ast.AsyncFunctionDef | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal
_READERS = ast.BinOp | ast.UnaryOp | ast.Compare | ast.comprehension | ast.FormattedValue | ast.Subscript
Sources = list[tuple[ast.AST, "Scope"]]  # what a value is made from, each part with where its names are seen


def how_stated(node: ast.expr, scope: Scope) -> str | None:
    """Return how a value is stated, "by hand" or "by oracle" (of the tests); None if the code may state it."""
    how = "by hand"
    names: set[tuple[str, Scope]] = set()
    pending: Sources = [(node, scope)]
    for part, place in pending:
        for name in free_names(part):
            sources = [] if (name, place) in names else place.sources(name)
            if sources is None:
                return None
            names.add((name, place))
            pending += sources
        if not _is_plain(part, place.file):
            return None
        if isinstance(part, ast.FunctionDef | ast.Lambda) and part is not node:
            how = "by oracle"
    return None if any(place.is_changeable(name) for name, place in names) else how


def _is_plain(node: ast.AST, file: TestFile) -> bool:
    """Say whether an expression or a function does nothing that these rules cannot follow."""
    if not isinstance(node, ast.expr | ast.FunctionDef):
        return False
    for part in ast.walk(node):
        if isinstance(part, _NOT_FOLLOWED):
            return False
        if getattr(part, "decorator_list", []) or (isinstance(part, ast.Attribute) and file.is_dynamic(part.attr)):
            return False
        if isinstance(part, ast.FunctionDef | ast.Lambda) and not all(
            isinstance(d, ast.Constant) for d in defaults(part)
        ):
            return False  # a list as a default value remembers
    return True


class TestFile:
    """A Python file of the tests."""

    def __init__(self, path: Path, root: Path, is_helper: bool = False) -> None:
        """Read a file; of a helper, which another file imports, further imports from the tests are not followed."""
        self.root = root
        self.is_helper = is_helper
        self.relative = path.relative_to(root).as_posix()
        self.package = ".".join(path.parent.relative_to(root).parts)
        self.text = path.read_text(encoding="utf-8-sig")
        self.lines = self.text.split("\n")
        self.helpers: dict[str, TestFile] = {}

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file."""
        return parse_file(self.text, self.relative)

    @cached_property
    def scope(self) -> Scope:
        """The file's own names."""
        return Scope(self, self.tree)

    @cached_property
    def rebound(self) -> set[str]:
        """Names that are bound in ways that are not followed: by `global`, by `nonlocal`, by `:=`."""
        return {name.strip() for found in REBOUND.findall(self.text) for name in ",".join(found).split(",")}

    @cached_property
    def set_attributes(self) -> set[str]:
        """The attributes that some statement sets, of whatever object."""
        attributes = [node for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)]
        return {node.attr for node in attributes if not isinstance(node.ctx, ast.Load)}

    def is_dynamic(self, attribute: str) -> bool:
        """Say whether an attribute of that name may lead anywhere."""
        return attribute.startswith("_") or attribute in DYNAMIC_ATTRIBUTES or attribute in self.set_attributes

    def helper(self, module: str) -> TestFile | None:
        """Return the tests' own module of that name, unless it could reach the code."""
        path = self.root.joinpath(*module.split(".")).with_suffix(".py")
        if self.is_helper or module.partition(".")[0] != self.package.partition(".")[0] or not path.is_file():
            return None
        if module not in self.helpers:
            self.helpers[module] = TestFile(path, self.root, is_helper=True)
        return None if REACHES_CODE.search(self.helpers[module].text) else self.helpers[module]

    def source(self, node: ast.expr) -> str:
        """Return the text of an expression, on one line."""
        if node.end_lineno != node.lineno:
            return ast.unparse(node)
        return self.lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()


class Scope:
    """The names of a test file or a test function, each with what it gets its value from."""

    def __init__(self, file: TestFile, node: ast.Module | ast.FunctionDef, outer: Scope | None = None) -> None:
        """Read the names of a file or a function; of a function's parameters nothing is known."""
        self.file = file
        self.node = node
        self.outer = outer
        self.bound = names_bound(node.body, file.package)
        if isinstance(node, ast.FunctionDef):
            self.bound |= {name: [ast.arg(name)] for name in parameters(node)}

    def find(self, name: str) -> Scope | None:
        """Return the scope that binds a name as seen from here, None for builtins and unknown names."""
        if name in self.bound:
            return self
        return self.outer.find(name) if self.outer else None

    def origin(self, name: str) -> str | None:
        """Return the dotted origin of a name that is one import and nothing else, otherwise None."""
        home = self.find(name)
        source, *others = set(home.bound[name]) if home else {None}
        return source if isinstance(source, str) and not others and name not in self.file.rebound else None

    def full_name(self, node: ast.expr) -> str | None:
        """Return the dotted origin of a name with the attributes that follow it, None if it is not imported."""
        root, attributes = dotted(node)
        origin = self.origin(root.id) if isinstance(root, ast.Name) else None
        return ".".join([origin, *attributes]) if origin else None

    def sources(self, name: str) -> Sources | None:
        """Return all that a name gets its value from, none for a builtin; None if the code may be among it."""
        home = self.find(name)
        if home is None:
            return [] if name in PLAIN_BUILTINS else None
        found: Sources = []
        for source in home.bound[name]:
            behind = self._behind(source) if isinstance(source, str) else [(source, home)]
            if behind is None or name in self.file.rebound:
                return None
            found += behind
        return found

    def _behind(self, origin: str) -> Sources | None:
        """Return the same for a dotted origin: none for pure modules, for the tests' own only what is fixed."""
        base, _, name = origin.rpartition(".")
        if name in DYNAMIC_ATTRIBUTES:
            return None
        whole = self.file.helper(origin)
        module = whole or self.file.helper(base)
        if module is None:
            return [] if origin.partition(".")[0] in PLAIN_MODULES else None
        found = [module.scope.sources(inner) for inner in (module.scope.bound if whole else [name])]
        nodes = [each for sources in found if sources for each in sources]
        return nodes if None not in found and all(_is_fixed(node, place) for node, place in nodes) else None

    def is_changeable(self, name: str) -> bool:
        """Say whether a name's value may have been changed in place."""
        home = self.find(name)
        return home is not None and not _is_fixed(ast.Name(name), home) and name in home.exposed

    @cached_property
    def exposed(self) -> set[str]:
        """The names whose value is somewhere more than read, so that it could be changed in place."""
        pending = [part for n in ast.walk(self.node) if not self._only_reads(n) for part in ast.iter_child_nodes(n)]
        for part in pending:
            if isinstance(part, ast.Subscript):
                pending.append(part.value)  # the `a` of `a[0][1]`
        return {part.id for part in pending if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}

    def _only_reads(self, node: ast.AST) -> bool:
        """Say whether a node leaves the values of the names in it as they are, and gives them no other name."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id in READING and not self.find(node.func.id)
        return isinstance(node, _READERS) or (isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name))


def _is_fixed(node: ast.AST, scope: Scope, busy: frozenset[str] = frozenset()) -> bool:
    """Say whether a node's value cannot be changed in place: a number, a text, a tuple of such, a function."""
    match node:
        case ast.Constant() | ast.JoinedStr() | ast.Compare() | ast.FunctionDef() | ast.Lambda():
            return True
        case ast.UnaryOp() | ast.BinOp() | ast.Tuple():
            parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            return all(_is_fixed(part, scope, busy) for part in parts)
        case ast.Name() if node.id not in busy and (home := scope.find(node.id)):
            inner = busy | {node.id}
            return all(isinstance(source, str) or _is_fixed(source, home, inner) for source in home.bound[node.id])
    return False
