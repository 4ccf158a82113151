"""The site as it is built, and the tiny site that several tests break: made and accepted once, copied for each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from tests.tiny_site import TinySite

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `mkdocs build` makes it, once for all processes; SITE_DIR names one that is built already."""
    if ready := os.environ.get("SITE_DIR"):
        return Path(ready)
    workers = "PYTEST_XDIST_WORKER" in os.environ
    folder = tmp_path_factory.getbasetemp().parent if workers else tmp_path_factory.mktemp("built")
    with FileLock(folder / "site.lock"):
        if not (folder / "site").exists():
            command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder / "site")]
            subprocess.run(command, cwd=ROOT, check=True)
    return folder / "site"


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good site, accepted; to be copied, not changed."""
    return TinySite(tmp_path_factory.mktemp("good")).root


@pytest.fixture
def site(good: Path, tmp_path: Path) -> TinySite:
    """A copy of the good site, to be broken."""
    return TinySite(tmp_path / "site", copy_of=good)
