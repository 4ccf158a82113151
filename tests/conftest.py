"""The tiny site that several tests break: made and accepted once, copied for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiny_site import TinySite


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good site, accepted; to be copied, not changed."""
    return TinySite(tmp_path_factory.mktemp("good")).root


@pytest.fixture
def site(good: Path, tmp_path: Path) -> TinySite:
    """A copy of the good site, to be broken."""
    return TinySite(tmp_path / "site", copy_of=good)
