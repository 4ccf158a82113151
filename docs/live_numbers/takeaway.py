"""What a reader's browser gets to run examples: Python itself, the lessons, and how an example is run.

Python for the browser is the npm package `pyodide`, which `npm ci --prefix .ci` puts where it is found. Without it
the examples have no Run button, and nothing of this is on the site.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from functools import cache, cached_property
from hashlib import sha256
from html import escape
from pathlib import Path

from live_numbers import run_example
from live_numbers.dependencies import Code
from live_numbers.project import Project

COPIED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
PACKAGES = "pyodide-lock.json"
"""Names the interpreter, and packages that could be fetched from elsewhere: on the site it names none."""

SITE = "assets/pyodide"
"""Where it lies on the site."""

EPOCH = (1980, 1, 1, 0, 0, 0)


class Takeaway:
    """What can be given to browsers in one build."""

    def __init__(self, project: Project, code: Code) -> None:
        """Look for Python for the browser; nothing is read before it is needed.

        Args:
            project: whose site it is for.
            code: the lessons to hand out.
        """
        self.python = project.browser_python
        self.code = code
        self.complete = all((self.python / name).is_file() for name in (*COPIED, PACKAGES))

    @cached_property
    def archive(self) -> bytes:
        """The lessons, and the module that runs an example, as a zip file; the same for the same sources."""
        runner = Path(run_example.__file__)
        files = {**self.code.files, runner.name: runner.read_bytes()}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(files):
                archive.writestr(zipfile.ZipInfo(name, EPOCH), files[name], zipfile.ZIP_DEFLATED)
        return packed.getvalue()

    @cached_property
    def archive_name(self) -> str:
        """Its name, which changes with its content: no browser keeps an old one."""
        return f"lessons-{sha256(self.archive).hexdigest()[:16]}.zip"

    @cached_property
    def megabytes(self) -> str:
        """What the first click loads, in megabytes, as hosts send it."""
        files = [self.python / name for name in COPIED]
        size = sum(compressed(file, file.stat().st_mtime_ns) for file in files)
        return f"{(size + len(self._packages) + len(self.archive)) / 1e6:.1f}"

    def attributes(self, needs: tuple[str, ...]) -> str:
        """What a block says of itself to the script that puts a Run button there; nothing where it cannot.

        Args:
            needs: what the block uses that Python in a browser does not have.
        """
        if not self.complete:
            return ""
        if needs:
            return f' data-needs="{escape(", ".join(needs))}"'
        return f' data-run="{self.archive_name}" data-megabytes="{self.megabytes}"'

    def write(self, site: Path) -> None:
        """Put all of it on the site."""
        if not self.complete:
            return
        folder = site / SITE
        folder.mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            shutil.copyfile(self.python / name, folder / name)
        (folder / PACKAGES).write_bytes(self._packages)
        (folder / self.archive_name).write_bytes(self.archive)

    @cached_property
    def _packages(self) -> bytes:
        known = json.loads((self.python / PACKAGES).read_bytes())
        return json.dumps({"info": known["info"], "packages": {}}).encode()


@cache
def compressed(file: Path, _changed: int) -> int:
    """The size of a file as it is sent: compressed, unless it is so already."""
    content = file.read_bytes()
    return len(content) if file.suffix == ".zip" else len(gzip.compress(content, mtime=0))
