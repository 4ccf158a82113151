"""Lighthouse on every page, against tests/browser/budget.toml.

    python -m tests.browser.lighthouse [SITE]

SITE is the built site; without it, it is built. It needs Node and the packages of `.ci/package.json`, and a Chromium
(Debian's, or the one that CHROMIUM names). Accessibility, best practices and SEO are measured once, as they do not
vary. Performance is the median of three runs; two that agree about the limit settle it, and then there is no third.
Nothing else should run meanwhile: on a busy machine a page seems slower than it is.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.browser.conftest import BUDGET, ROOT, SUB_PATH, Compressing, pages

LIMITS = {name: limit for name, limit in BUDGET["lighthouse"].items() if name != "runs"}
RUNS = BUDGET["lighthouse"]["runs"]
VARIES = "performance"


class KeptAlive(Compressing):
    """As hosts do, one connection for many files: a new one for each costs a slow telephone a lot."""

    protocol_version = "HTTP/1.1"


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of the site, while it is served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(KeptAlive, directory=str(site)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{SUB_PATH}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def program() -> list[str]:
    """How Lighthouse is called; LIGHTHOUSE names another place than `.ci/node_modules`."""
    script = Path(os.environ.get("LIGHTHOUSE", ROOT / ".ci" / "node_modules" / "lighthouse")) / "cli" / "index.js"
    if not script.exists() or not shutil.which("node"):
        raise SystemExit("Lighthouse is not installed: see Browser tests on the page Contributing")
    return ["node", str(script)]


def chromium() -> str:
    """The browser that Lighthouse drives."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        raise SystemExit("there is no Chromium: see Browser tests on the page Contributing")
    return found


def measured(address: str, categories: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """The scores of one run by category, and what cost points."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            *program(),
            address,
            "--quiet",
            "--output=json",
            f"--output-path={report}",
            f"--only-categories={','.join(categories)}",
            "--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-background-networking",
        ]
        done = subprocess.run(
            command, env={**os.environ, "CHROME_PATH": chromium()}, capture_output=True, text=True, check=False
        )
        if done.returncode or not report.exists():
            raise SystemExit(f"Lighthouse failed on {address}:\n{done.stderr[-2000:]}")
        found = json.loads(report.read_text(encoding="utf-8"))
    scores = {name: round(100 * found["categories"][name]["score"]) for name in categories}
    return scores, [line for name in categories if scores[name] < LIMITS[name] for line in costs(found, name)]


def costs(report: dict[str, Any], category: str) -> list[str]:
    """The audits of a category that are not perfect, each with what it says."""
    lines = []
    for reference in report["categories"][category]["auditRefs"]:
        audit = report["audits"][reference["id"]]
        if reference["weight"] and audit["score"] is not None and audit["score"] < 1:
            lines.append(f"{category}: {audit['title']} {audit.get('displayValue', '')}".rstrip())
            items = (audit.get("details") or {}).get("items") or []
            lines += [f"    {(item.get('node') or {}).get('snippet') or item.get('url') or ''}" for item in items[:5]]
    return lines


def settled(values: Sequence[int], limit: int) -> bool:
    """Whether the median of all runs is known to be on one side of the limit, whatever the others would give."""
    reached = sum(value >= limit for value in values)
    return max(reached, len(values) - reached) > RUNS // 2


def main(site: Path) -> int:
    """Measure every page, print a table, and give the exit status."""
    print(f"{'page':<34}" + "".join(f"{name:>16}" for name in LIMITS))
    failed = []
    with served(site) as address:
        for path in pages():
            scores, reasons = measured(address + path, list(LIMITS))
            values = [scores[VARIES]]
            while not settled(values, LIMITS[VARIES]):
                again, more = measured(address + path, [VARIES])
                values.append(again[VARIES])
                reasons += more
            reached = sum(value >= LIMITS[VARIES] for value in values) > len(values) // 2
            bad = [name for name, limit in LIMITS.items() if name != VARIES and scores[name] < limit]
            shown = {**scores, VARIES: " ".join(map(str, values))}
            print(f"{path or 'home':<34}" + "".join(f"{shown[name]:>16}" for name in LIMITS), flush=True)
            if bad or not reached:
                failed += [f"\n{path or 'home'}: below the budget", *dict.fromkeys(reasons)]
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-d", folder], cwd=ROOT, check=True)
        sys.exit(main(Path(folder)))
