"""The planted faults: each can be planted in today's code, and the quick tests find it."""

import pytest

from tests import planted
from tests.planted import FAULTS


def test_every_fault_can_still_be_planted():
    assert {(one.name, planted.times_in(one)) for one in FAULTS} == {(one.name, 1) for one in FAULTS}
    assert len({one.name for one in FAULTS}) == len(FAULTS) and all(one.text != one.other for one in FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_quick_tests_find(fault):
    assert planted.found_by(fault)
