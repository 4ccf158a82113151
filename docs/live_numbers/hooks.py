"""What mkdocs-macros calls: at the beginning of a build and its end, and before and after each page's macros."""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import jinja2
import jinja2.meta
import markdown_exec
from markupsafe import Markup
from mkdocs.exceptions import BuildError
from mkdocs.utils import CountHandler, clean_directory

from live_numbers import docstrings, gate, machine_pages, macros, provenance, stylesheets
from live_numbers.build import Build, highlighted
from live_numbers.dependencies import Code
from live_numbers.evaluate import SECONDS, Evaluator
from live_numbers.faults import report
from live_numbers.macros import current
from live_numbers.project import Project
from live_numbers.tokens import TOKEN, tokens

PAGE_DONE = "live_numbers_page_is_done"


_collected: list[Build] | None = None


_evaluator: Evaluator | None = None


_warnings: list[str] = []


class KeepWarnings(logging.Handler):
    """Keeps what the builder warns of: each warning is a fault, in a plain build too."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        """Remember a warning."""
        self.kept.append(record.getMessage())


_keeper = KeepWarnings(_warnings)


@contextmanager
def collecting() -> Iterator[list[Build]]:
    """Builds within end without a verdict and are put into the list: for the command, which judges them itself."""
    global _collected
    builds: list[Build] = []
    _collected = builds
    try:
        yield builds
    finally:
        _collected = None


def serving() -> bool:
    """Whether `mkdocs serve` is running: then faults are shown, and nothing is ended."""
    context = click.get_current_context(silent=True)
    return context is not None and context.info_name == "serve"


def _is_dirty() -> bool:
    """Whether the builder was told to build only what changed."""
    context = click.get_current_context(silent=True)
    options = context.params if context is not None else {}
    return options.get("clean") is False or options.get("build_type") == "dirty"


def define_env(env: Any) -> None:
    """Begin a build: called by mkdocs-macros before the first page.

    Raises:
        BuildError: the build cannot begin; what an earlier one left is gone too.
    """
    try:
        _begin(env)
    except Exception as error:
        if not serving():
            clean_directory(env.conf["site_dir"])
        raise BuildError(f"the figures cannot be checked: {error}") from error


def _begin(env: Any) -> None:
    global _evaluator
    project = Project(Path(env.conf["config_file_path"]).resolve().parent)
    if _is_dirty():
        raise BuildError("--dirty builds only some pages, so their figures cannot be checked: build without it")
    fresh = Evaluator(project, Code(project), _seconds(env.conf["extra"].get("live_numbers", {})))
    if _evaluator is None or not _evaluator.answers_for(fresh):
        if _evaluator is not None:
            _evaluator.close()
            fresh.take_over(_evaluator)
        _evaluator = fresh
        _evaluator.start()
    tokens.pieces.clear()
    build = Build(project, _evaluator)
    if not build.takeaway.complete:
        said = "examples get no Run button: `npm ci --prefix .ci` fetches the Python that runs them in a browser"
        logging.getLogger("mkdocs.live_numbers").info(said)
    macros.begin(build)
    for name, macro in macros.MACROS.items():
        env.macro(macro, name)
    env.macro(_finished, PAGE_DONE)
    markdown_exec.formatters["python"] = _run_block
    docstrings.prepare(env.conf, _evaluator.code.key, _warnings)
    _listen()


def _seconds(settings: object) -> float:
    """The time limit that `extra.live_numbers.seconds` of mkdocs.yml sets."""
    seconds = settings.get("seconds", SECONDS) if isinstance(settings, dict) else None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        raise ValueError("extra.live_numbers in mkdocs.yml must be like `live_numbers: {seconds: 60}`")
    return float(seconds)


def on_pre_page_macros(env: Any) -> None:
    """Begin a page: run the calls that are written out plainly, and leave the others to Jinja."""
    build, page = current(), env.page
    if not build.urls:
        build.urls = {file.src_uri: file.url for file in env.variables["files"].documentation_pages()}
        build.navigation = [listed.file.src_uri for listed in env.variables["navigation"].pages]
    uri = page.file.src_uri
    folder, _, name = uri.rpartition("/")
    topic = page.meta.get("topic", name.removesuffix(".md") if folder == "lessons" else "")
    build.begin(uri, page.file.content_string, env.markdown, topic)
    if not isinstance(page.meta.get("title", ""), str):
        line = build.page.line_of("title:")
        build.fault(line, "faulty title", f"{page.meta['title']!r} is no text", "put it in quotation marks")
        page.meta["title"] = str(page.meta["title"])
    marks = env.env.variable_start_string, env.env.variable_end_string
    if page.meta.get("render_macros") is not False:
        env.markdown = macros.expand_plain_calls(env.markdown)
    env.markdown += f"\n\n{marks[0]} {PAGE_DONE}() {marks[1]}\n"


def on_post_page_macros(env: Any) -> None:
    """End a page: nothing may have gone wrong unseen; its sources and numbers follow the text."""
    build = current()
    if env.page.meta.get("render_macros") is False:
        env.markdown, build.page.finished = build.page.body, True
    elif not build.page.finished:
        _explain_failure(build, env)
    if TOKEN.search(str(env.page.title)):
        env.page.title = build.page.shown.title = tokens.plain(str(env.page.title))
    build.page.title = str(env.page.title)
    env.markdown += provenance.sections(build, build.page)


def on_post_build(env: Any) -> None:
    """End a build: publish it, or say all that is wrong with it and leave nothing to publish.

    Raises:
        BuildError: there are faults, or the check itself failed; the site is gone then.
    """
    try:
        _judge(env)
    except Exception as error:
        if serving():
            logging.getLogger("mkdocs.live_numbers").error("the check failed: %r", error)
            return
        clean_directory(env.conf["site_dir"])
        raise error if isinstance(error, BuildError) else BuildError(f"the check failed: {error!r}") from error


def _judge(env: Any) -> None:
    build = current()
    logging.getLogger("mkdocs").removeHandler(_keeper)
    site = Path(env.conf["site_dir"])
    files = env.variables["files"]
    pages = {file.src_uri: file.dest_uri for file in files.documentation_pages()}
    assets = {f.src_uri: Path(f.abs_src_path) for f in files if f.src_uri not in pages and f.inclusion.is_included()}
    own = {uri: path for uri, path in assets.items() if path.is_relative_to(build.project.docs)}
    build.takeaway.write(site)
    build.faults += gate.check_files(build, own) + gate.check_settings(build, _settings(env))
    build.faults += machine_pages.write(build.project, site, pages, *_entries(env))
    build.faults += gate.judge(build, site, pages, list(dict.fromkeys(_warnings)))
    build.write_files(site)
    if _collected is not None:
        _collected.append(build)
    elif build.faults and serving():
        gate.show_faults(build, site, pages)
        logging.getLogger("mkdocs.live_numbers").error("\n%s", report(build.faults))
    elif build.faults:
        raise BuildError("\n" + report(build.faults))
    if not serving():
        stylesheets.lighten(site)
        build.evaluator.close()


def _entries(env: Any) -> tuple[list[machine_pages.Entry], machine_pages.Entry]:
    """The pages of the menu, and the site itself, as `llms.txt` lists them."""
    entries = []
    for page in env.variables["navigation"].pages:
        section = str(page.ancestors[-1].title) if page.ancestors else ""
        description = str(page.meta.get("description", ""))
        entries.append(machine_pages.Entry(section, str(page.title), description, page.file.dest_uri))
    conf = env.conf
    return entries, machine_pages.Entry("", conf["site_name"], conf["site_description"] or "", conf["site_url"] or "")


def _settings(env: Any) -> dict[str, str]:
    """What `mkdocs.yml` puts on every page."""
    names = ("site_name", "site_description", "site_author", "copyright")
    texts = {name: re.sub(r"<[^>]*>", " ", env.conf[name]) for name in names if env.conf[name]}
    waiting = list(env.variables["navigation"].items)
    while waiting:
        item = waiting.pop()
        if not item.is_page:
            texts[f"nav, {item.title}"] = str(item.title)
        waiting += item.children or []
    return texts


def _finished() -> str:
    """The last call of every page: a page without it did not render."""
    current().page.finished = True
    return ""


def _explain_failure(build: Build, env: Any) -> None:
    """A page whose macros stopped half-way: name everything that is wrong with them, in place of the page."""
    page, offset = build.page, build.page.offset
    before = len(build.faults)
    try:
        tree = env.env.parse(build.page.body)
    except jinja2.TemplateSyntaxError as error:
        build.fault(error.lineno + offset, "broken macro", error.message or str(error), "mend the call")
    else:
        known = set(env.variables) | set(env.page.meta) | set(env.env.globals)
        for name in jinja2.meta.find_undeclared_variables(tree) - known:
            for line in {node.lineno for node in tree.find_all(jinja2.nodes.Name) if node.name == name}:
                build.fault(line + offset, "undefined name", name, "correct the name of the macro or the variable")
    if len(build.faults) == before:  # neither: some call raised
        what = " ".join(env.markdown.split("```")[0].replace("#", "").split())
        build.fault(0, "failing macro", what, "correct the call")
    env.markdown = f"# {page.uri}\n\nThe macros of this page cannot be run.\n"


SUPPORTED = {
    "source": ("", "above"),
    "result": ("", "text"),
    "html": (False,),
    "session": ("",),
    "workdir": (None,),
    "returncode": (0,),
    "width": (0,),
    "extra": ({},),
}
"""The options that an executed block may have besides its id, and their values."""


def _run_block(code: str, md: Any, **options: Any) -> str:
    """An executed block, in place of markdown-exec's own runner: run apart, bounded in time, its output kept."""
    build, block_id = current(), options.get("id") or "unnamed"
    for name, values in SUPPORTED.items():
        if options.get(name, values[0]) not in values:
            what = f"{block_id}: {name}={options[name]!r}: an example shows its source and below it what it prints"
            build.fault(build.page.line_of(block_id), "unsupported example", what, f"take {name} away")
    outcome = build.block(block_id, code)
    printed = html.escape(outcome.error or str(outcome.value or ""))
    shown = f'<div class="highlight"><pre><code>{printed}</code></pre></div>' if printed else ""
    kind = "ln-block ln-failed" if outcome.error else "ln-block"
    offer = build.takeaway.attributes(outcome.needs)
    return Markup(
        f'<div class="{kind}" data-block="{html.escape(block_id)}"{offer}>'
        f'{highlighted(code)}<div class="ln-bar"></div>{shown}</div>'
    )


def _listen() -> None:
    """Keep every warning of the builder, with -q too; under serve a warning must not end the server."""
    _warnings.clear()
    logger = logging.getLogger("mkdocs")
    logger.removeHandler(_keeper)
    logger.addHandler(_keeper)
    for name, child in logging.root.manager.loggerDict.items():
        if name.startswith("mkdocs.") and isinstance(child, logging.Logger) and not child.isEnabledFor(logging.WARNING):
            child.setLevel(logging.WARNING)
    pages = logging.getLogger("mkdocs.structure.pages")
    if pages.isEnabledFor(logging.DEBUG):
        pages.setLevel(logging.INFO)  # with -v mkdocs leaves anchors unchecked
    if serving():
        for handler in [handler for handler in logger.handlers if isinstance(handler, CountHandler)]:
            logger.removeHandler(handler)  # it would turn `strict: true` into the end of the server
