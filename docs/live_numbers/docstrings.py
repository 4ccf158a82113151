"""How mkdocstrings shows `lesson_code`: read from the source alone, nothing is run.

`Pieces` is an extension of griffe, which reads the code for mkdocstrings; the templates beside this file show what it
adds.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocstrings import BaseHandler, MkdocstringsPlugin

from live_numbers import listing

KEY = "live_numbers"
EXAMPLE = re.compile(r"(?:^[ \t]*>>> .*\n?)(?:^[ \t]*\S.*\n?)*", re.M)


class Pieces(griffe.Extension):
    """Adds to each object its code as it stands in the file, and makes blocks of code of the examples."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Mark the examples of a docstring: Markdown would take `>>>` for a quotation."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_fenced, obj.docstring.value)

    def on_function_instance(self, *, node: ast.AST | griffe.ObjectNode, func: griffe.Function, **_: Any) -> None:
        """A function: its first lines as they are written, and all of it."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            head = func.lines[: node.body[0].lineno - (func.lineno or 1)]
            func.extra[KEY] = {"head": listing.block(_dedented(head)), "source": listing.block(_dedented(func.lines))}

    def on_class_instance(self, *, node: ast.AST | griffe.ObjectNode, cls: griffe.Class, **_: Any) -> None:
        """A class: all of it where it has no methods, which show their own code."""
        if isinstance(node, ast.ClassDef) and not any(
            isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) for statement in node.body
        ):
            cls.extra[KEY] = {"source": listing.block(_dedented(cls.lines))}

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """A name: the statement that gives it its value."""
        attr.extra[KEY] = {"head": listing.block(_dedented(attr.lines))}

    def on_alias_instance(self, *, alias: griffe.Alias, **_: Any) -> None:
        """What a package only passes on is shown where it is defined."""
        alias.public = False


def _dedented(lines: list[str]) -> str:
    return textwrap.dedent("\n".join(lines))


def _fenced(example: re.Match[str]) -> str:
    return f"```pycon\n{example[0].rstrip()}\n```\n"


# mkdocstrings itself.

_collected: dict[tuple[str, str], griffe.Object] = {}
_rendered: dict[tuple[str, str, str], tuple[str, list[Any]]] = {}


def prepare(config: MkDocsConfig, key: str, warnings: list[str]) -> None:
    """Have mkdocstrings do its work once for the same code, and keep its style sheet off every page.

    Args:
        config: the builder's.
        key: a digest of the code: the same key means the same code.
        warnings: what the builder warned of so far; what it warns of is not kept, and so said again.
    """
    plugin = config.plugins.get("mkdocstrings")
    if isinstance(plugin, MkdocstringsPlugin):
        _keep(plugin.handlers.get_handler("python"), key, warnings)
        if plugin.css_filename in config.extra_css:
            config.extra_css.remove(plugin.css_filename)  # `site.css` has what is needed of it


def _keep(handler: BaseHandler, key: str, warnings: list[str]) -> None:
    """Have a handler read the code once and render each module once: a server builds again and again."""
    collect, render, headings = handler.collect, handler.render, handler.get_headings
    waiting: list[Any] = []

    def kept_object(identifier: str, options: Any) -> griffe.Object:
        if (key, identifier) not in _collected:
            _collected[key, identifier] = collect(identifier, options)
        return _collected[key, identifier]

    def kept_html(data: griffe.Object, options: Any, locale: str | None = None) -> str:
        whole, before = (data.path, "\n".join(data.lines), str(options)), len(warnings)
        html, waiting[:] = _rendered.get(whole) or (render(data, options, locale=locale), list(headings()))
        if len(warnings) == before:
            _rendered[whole] = html, list(waiting)
        else:
            _collected.clear()
        return html

    def kept_headings() -> list[Any]:
        found, waiting[:] = [copy.deepcopy(heading) for heading in waiting], []
        return found

    if _collected and key not in {kept for kept, _ in _collected}:
        _collected.clear()
    vars(handler).update(collect=kept_object, render=kept_html, get_headings=kept_headings)
