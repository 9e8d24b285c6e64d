"""Tests that need the same kernels are given to the same process: two would compile them twice."""

import pytest


def test_tests_are_shared_out_by_their_groups(request):
    """What conftest.py says of groups reaches pytest-xdist, which adds the group to a test's name."""
    if not hasattr(request.config, "workerinput") or not request.config.getvalue("loadgroup"):
        pytest.skip("one process runs all tests, or they are not shared out by groups")
    assert request.node.nodeid.endswith(f"@{request.node.path}")
