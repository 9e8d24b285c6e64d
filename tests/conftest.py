"""How the tests are shared out: a file's tests go to one process, the conformance suite's by game.

So a process compiles a game's kernels once, and the longest file does not keep one process busy alone.  The arena's
tests come first: they fork workers, which takes the longer the more kernels a process has compiled before.
"""

import os
from pathlib import Path

import pytest

from tests import samples


@pytest.fixture(scope="session", params=["sample", "published"])
def data_folder(request, tmp_path_factory):
    """A folder with test sets: small ones made here, and the published ones where a person has them."""
    if request.param == "sample":
        return samples.write(tmp_path_factory.mktemp("samples"))
    folder = os.environ.get("ARENA_TEST_DATA")
    if not folder:
        pytest.skip("ARENA_TEST_DATA does not name a folder with published test sets")
    return Path(folder)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: "arena" not in item.path.parts)
    for item in items:
        spec = item.callspec.params.get("spec") if hasattr(item, "callspec") else None
        group = f"game {spec}" if "test_conformance" in item.nodeid else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
