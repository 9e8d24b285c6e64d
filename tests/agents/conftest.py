"""What several tests of agents need."""

import pytest

from arena import games
from arena.games.core.evaluations.network_file import POLICY, network_bytes
from arena.games.core.jit import kernels
from tests.agents.test_learning import random_network


@pytest.fixture
def policies(tmp_path, monkeypatch):
    """Files with policies for tic-tac-toe, one of them damaged, and an evaluation, in the current folder; returns the
    network of a.policy."""
    monkeypatch.chdir(tmp_path)
    game = games.make("tictactoe")
    network = random_network(game, "2x2 1x3")
    data = network_bytes(game, network, POLICY)
    (tmp_path / "a.policy").write_bytes(data)
    (tmp_path / "b.policy").write_bytes(network_bytes(game, random_network(game, "2x2", seed=2), POLICY))
    (tmp_path / "cut.policy").write_bytes(data[:-5])
    (tmp_path / "a.eval").write_bytes(network_bytes(game, network))
    return network


@pytest.fixture
def unusable():
    """(file, game, what is told): files of `policies` that cannot be used, each for its reason."""
    return [
        ("none.policy", "tictactoe", "cannot be read: No such file"),
        ("cut.policy", "tictactoe", "is damaged: its checksum is wrong; make it again"),
        ("a.eval", "tictactoe", "holds something else: learned evaluation"),
        ("a.policy", "connect4", "is for tictactoe, not for connect4"),
        ("a.policy", "hex", "does not say what its cells hold"),
    ]


@pytest.fixture(autouse=True, scope="module")
def _tables():
    """No kernel of ours asks its game for what tables lack: each process would compile it in vain."""
    yield
    ours = (kernel for kernel in kernels if kernel.py_func.__module__.startswith("arena."))
    assert not [kernel.py_func.__qualname__ for kernel in ours if getattr(kernel, "_refused", None)]
