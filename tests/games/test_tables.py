"""Games as tables: kernels that are compiled once give what kernels compiled for each game give."""

import os
import pickle
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from arena import games
from arena.games.core import jit
from arena.games.core.jit import game_tables
from arena.games.core.jit.entries import serve
from arena.games.core.play.playout import perft_kernel, playout_kernel
from arena.games.core.random import stream
from arena.games.core.shared import cache
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.specialized import ALWAYS, NEVER, VARIABLE, Setting, set_mode
from arena.games.tictactoe import TicTacToe
from arena.play.probe import game_fault
from tests import heap
from tests.modes import specializing

pytestmark = pytest.mark.skipif(not jit.COMPILED, reason="kernels run as plain Python")


@pytest.fixture(autouse=True)
def by_tables():
    with specializing(NEVER):
        yield


@njit
def doubled(game, number):
    """A plug-in's own function, which Numba compiles by itself with the game's constants."""
    return 2 * number + game.heap


@dataclass(frozen=True)
class Heap(heap.Heap):
    """Small numbers; a move from `fails_at` stones raises, and so does the evaluation of three."""

    fails_at: int = -1

    dtype = np.int32

    def play(self, state, move):
        if state[0] == self.fails_at:
            raise ValueError("the heap has fallen over")
        state[0], state[1] = state[0] - move, 1 - state[1]

    def evaluate(self, state):
        return 1.0 / (state[0] - 3)

    def move_order(self, state, move):
        return doubled(self, move)


@jit.kernel
def ask_kernel(game, state):
    return game.evaluate(state), game.move_order(state, 2)


@jit.kernel
def player_kernel(game, state):
    return np.int64(game.player(state))


@jit.kernel
def own_kernel(game, state):
    return game.heap + game.max_moves


def test_a_kernel_from_disk_brings_its_methods_to_a_kernel_that_calls_it():
    """Else the table has nothing in their places, and the process ends."""
    assert player_kernel(Heap(5), Heap(5).initial()) == 0
    kept = jit.Kernel(player_kernel.py_func, tables=True)  # as another process finds it
    game = Heap(7)

    @jit.kernel
    def calling_kernel(game, state):
        return kept(game, state) + 1

    calling_kernel.compile((game_tables.table_of(game).type, calling_kernel.typeof_pyval(game.initial())))
    assert calling_kernel.methods == {"player"}
    assert calling_kernel(game, game.initial()) == 1


@pytest.mark.parametrize("spec, methods", [
    ("domineering(rows=4, columns=4)", {"network_units"}), ("grundy", {"play_shares_8", "side_by_side_8"}),
])  # fmt: skip
def test_a_game_is_not_asked_for_methods_that_it_cannot_have(spec, methods):
    """The same kernel calls them where it is given a network, or lanes."""
    game = games.make(spec)
    serve(game_tables.table_of(game), player_kernel, {"player", *methods})
    assert player_kernel(game, game.initial()) == 0


@pytest.mark.parametrize(
    "specs",
    [
        ("connect4", "connect4(rows=4, columns=5)", "nim"),
        pytest.param(
            ("connect4", "connect4(rows=4, columns=5)", "tictactoe", "nim", "amazons(size=6)"), marks=pytest.mark.slow
        ),
    ],
    ids=["some", "more"],
)
def test_a_kernel_serves_games_of_every_size_and_dtype(specs):
    sizes = [games.make(spec) for spec in specs]
    compiled = len(playout_kernel.signatures)
    found = [playout_kernel(game, game.initial(), 20, stream(1)) for game in sizes]
    assert len(playout_kernel.signatures) - compiled <= len({game.dtype for game in sizes})
    with specializing(ALWAYS):
        assert found == [playout_kernel(game, game.initial(), 20, stream(1)) for game in sizes]
    assert found == [playout_kernel.py_func(game, game.initial(), 20, stream(1)) for game in sizes]


def test_two_sizes_in_one_process_do_not_share_constants():
    small, large = Heap(4), Heap(9)
    asked = [ask_kernel(game, game.initial()) for game in (small, large, small)]
    assert asked == [(1.0, 8), (1 / 6, 13), (1.0, 8)]
    assert small == pickle.loads(pickle.dumps(small)) and "_table" not in pickle.loads(pickle.dumps(small)).__dict__


@pytest.mark.parametrize(
    "game, kernel, error, text",
    [
        (
            Heap(6, fails_at=4),
            lambda game: playout_kernel(game, game.initial(), 50, stream(1)),
            ValueError,
            "fallen over",
        ),
        (Heap(3), lambda game: ask_kernel(game, game.initial()), ZeroDivisionError, "division by zero"),
    ],
)
def test_what_a_method_raises_is_raised_by_the_kernel(game, kernel, error, text):
    for mode in (NEVER, ALWAYS):
        with specializing(mode), pytest.raises(error, match=text) as raised:
            kernel(game)
        assert any(__file__ in str(frame.path) for frame in raised.traceback)  # as Numba names the method's own place
    assert playout_kernel(Heap(6), Heap(6).initial(), 5, stream(1))[0] <= 5


def test_a_kernel_that_asks_for_what_tables_lack_is_compiled_for_each_game():
    assert [own_kernel(Heap(heap), Heap(heap).initial()) for heap in (4, 7, 4)] == [6, 9, 6]


@dataclass(frozen=True)
class Untypable(TicTacToe):
    """A method that Numba cannot compile."""

    def legal_moves(self, state, moves):
        return super().legal_moves(state, {moves})


def test_a_method_that_cannot_be_compiled_says_so():
    game = Untypable()
    with pytest.raises(TypingError, match="legal_moves"):
        perft_kernel(game, np.zeros((2, 2), np.uint64), np.zeros((2, 9), np.int32), 0)
    assert games.perft(games.make("tictactoe"), 2) == 72


# -- What a kernel gives a method, and what it gets back --------------------------------------------------------------


def lists(dtype, words):
    """A kernel that asks for legal moves with an array of its own."""

    @jit.kernel
    def listing_kernel(game, state):
        return game.legal_moves(state, np.empty(words, dtype))

    return listing_kernel


@jit.kernel
def named_kernel(game, state):
    return game.move_order(state=state, move=1)


@jit.kernel
def short_kernel(game, state):
    return game.player(state, 1)


@jit.kernel
def flat_kernel(game, state):
    return game.player(state.reshape(1, 2))


@jit.kernel
def strided_kernel(game, states):
    return game.player(states[::2])


@pytest.mark.parametrize("kernel, state, text", [
    (lists(np.int64, 2), np.zeros(2, np.int32), "argument 2 of legal_moves of a game is .*int64.*int32"),
    (player_kernel, np.zeros(2, np.int64), None), (named_kernel, np.zeros(2, np.int32), "without names"),
    (short_kernel, np.zeros(2, np.int32), "takes 1 arguments, and is given 2"),
    (flat_kernel, np.zeros(2, np.int32), "argument 1 of player .*2d"),
    (strided_kernel, np.zeros(4, np.int32), "argument 1 of player .*1d, A"),
], ids=["dtype", "of the state", "names", "number", "dimensions", "strides"])  # fmt: skip
def test_what_a_method_cannot_take_is_refused_when_the_kernel_compiles(kernel, state, text):
    """Only places are passed, so that words of another size would be read for others."""
    with pytest.raises(TypingError, match=text or "argument 1 of player of a game is array.int64"):
        kernel(Heap(5), state)


@pytest.mark.slow
def test_a_short_array_is_an_index_error_where_indices_are_checked(tmp_path):
    script = """
        import numpy as np
        from arena import games
        from arena.games.core import jit
        @jit.kernel
        def kernel(game, state, moves):
            return game.legal_moves(state, moves)
        game = games.make("tictactoe")
        print(kernel(game, game.initial(), np.empty(9, np.int32)))
        for state, moves in ((game.initial(), np.empty(8, np.int32)), (game.initial()[:1], np.empty(9, np.int32))):
            try:
                kernel(game, state, moves)
            except IndexError as error:
                print(error)
    """
    told = " ".join(run(script, NUMBA_BOUNDSCHECK="1", ARENA_CACHE_DIR=str(tmp_path))[0])
    text = "legal_moves of a game is given an array that is shorter than its"
    assert told == f"9 {text} max_moves {text} state_size"


@dataclass(frozen=True)
class Valueless(TicTacToe):
    """Searches that ask for no value can play it."""

    def evaluate(self, state):
        return len({state})


def test_a_method_that_cannot_be_compiled_concerns_those_who_call_it_alone():
    """Whatever else the same kernel has been compiled for in the process."""

    @jit.kernel
    def asking_kernel(game, state, asks):
        return game.evaluate(state) if asks is not None else 2.5

    whole, broken = TicTacToe(), Valueless()
    assert asking_kernel(broken, broken.initial(), None) == 2.5
    asking_kernel(whole, whole.initial(), 1)
    assert asking_kernel.methods == {"evaluate"}
    for _ in range(2):
        assert asking_kernel(broken, broken.initial(), None) == 2.5
        with pytest.raises(TypingError, match="evaluate"):
            asking_kernel(broken, broken.initial(), 1)


def test_a_method_that_a_game_has_not_raises_where_a_kernel_calls_it():
    @jit.kernel
    def careless_kernel(game, state, moves, rng):
        return game.random_move_tabu(state, moves, rng)

    game = Heap(5)
    assert not game.has_tabu_moves
    with pytest.raises(TypeError, match=r"careless_kernel calls random_move_tabu of a game, which .*Heap\(.*not have"):
        careless_kernel(game, game.initial(), np.zeros(2, np.int32), stream(1))


@jit.kernel
def ask_player(game, state, number, rng):
    return game.player(state)


@dataclass(frozen=True)
class Undecided(heap.Heap):
    def score(self, state):
        if self.heap == 999:
            return None
        return 1.0 if state[1] == 1 else -1.0


@dataclass(frozen=True)
class Nobodys(heap.Heap):
    def player(self, state):
        if self.heap == 999:
            return None
        return np.int64(state[1])


Undecided.name, Nobodys.name = "undecided", "nobodys"  # unregistered


@pytest.mark.parametrize("game, kernel, text", [
    (Undecided(), playout_kernel, "score of .*Undecided returns None or float64, where every branch must return float"),
    (Nobodys(), ask_player, "player of .*Nobodys returns None or int64, where every branch must return int64"),
])  # fmt: skip
def test_a_branch_that_returns_nothing_is_the_games_fault(game, kernel, text):
    with pytest.raises(TypingError, match=text) as raised:
        kernel(game, game.initial(), 5, stream(1))
    with pytest.raises(games.core.checks.conformance.ConformanceError, match=text):
        games.check(game, seed=1)
    assert re.search(text, game_fault(game, None, raised.value))


@dataclass(frozen=True)
class Weighed(TicTacToe):
    """A game with data of its own."""

    arrays = {"weights": np.float64}

    @property
    def weights(self):
        return vars(self).get("kept", np.ones(3))

    def evaluate(self, state):
        return self.weights.sum() / 10.0


def test_arrays_that_are_replaced_are_seen():
    game = Weighed()
    object.__setattr__(game, "kept", np.array([1.0, 2.0]))
    state = game.initial()
    assert ask_kernel(game, state)[0] == 0.3
    object.__setattr__(game, "kept", np.array([1.0, 2.0, 4.0]))
    assert ask_kernel(game, state)[0] == 0.7
    game.kept[0] = 2.0
    assert ask_kernel(game, state)[0] == 0.8


def test_threads_share_tables():
    fresh = [games.make(f"hex(size={size})") for size in (3, 4, 5)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda game: playout_kernel(game, game.initial(), 30, stream(2))[0], fresh * 4))
    assert found == [playout_kernel.py_func(game, game.initial(), 30, stream(2))[0] for game in fresh] * 4


def run(script, **environment):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "ARENA_SPECIALIZE": NEVER, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


MADE = """
    import sys; from arena import games
    from arena.games.core.jit import entries
    made = {"compiled": 0, "linked": 0}
    def counting(name, function):
        def count(*arguments):
            made[name] += 1
            return function(*arguments)
        return count
    entries._compile = counting("compiled", entries._compile)
    entries._link = counting("linked", entries._link)
    print(games.perft(games.make(SPEC), 3), made["compiled"], made["linked"])
"""


FIRST, SECOND = MADE.replace("SPEC", "'connect4'"), MADE.replace("SPEC", "'connect4(rows=4, columns=5)'")


@pytest.mark.slow
def test_methods_are_kept_for_a_class_and_for_a_size(tmp_path):
    """A second process makes nothing; a new size is linked without a compiler."""
    folder = {"ARENA_CACHE_DIR": str(tmp_path)}
    assert run(FIRST, **folder)[0] == ["343", "3", "3"]  # is_over, legal_moves, play
    assert run(FIRST, **folder)[0] == ["343", "0", "0"]
    assert run(SECOND, **folder)[0] == ["125", "0", "3"]


@pytest.mark.slow
def test_methods_are_made_anew_for_another_processor_and_for_damaged_files(tmp_path):
    folder = {"ARENA_CACHE_DIR": str(tmp_path)}
    assert run(FIRST, **folder)[0] == ["343", "3", "3"]
    assert run(SECOND, **folder)[0] == ["125", "0", "3"]
    assert run(FIRST, NUMBA_CPU_NAME="x86-64", NUMBA_CPU_FEATURES="", **folder)[0] == ["343", "3", "3"]
    for path in tmp_path.rglob(f"*{cache.METHOD}"):
        os.truncate(path, 200)
    answer, told = run(FIRST, **folder)
    assert answer == ["343", "3", "3"] and "is damaged and is made anew" in told
    assert run(FIRST, **folder)[0] == ["343", "0", "0"]


@pytest.mark.slow
def test_a_kernel_is_seen_by_other_threads_once_their_games_have_what_it_calls():
    """A thread that has looked what the kernel calls, which was nothing yet, runs what another one has compiled."""
    script = """
        import sys, threading, time
        from arena import games
        from arena.games.core.play.playout import playout_kernel
        from arena.games.core.random import stream
        game, looked, compiled, found = games.make("hex(size=4)"), threading.Event(), threading.Event(), []
        def play():
            found.append(playout_kernel(game, game.initial(), 5, stream(1)))
        module = sys.modules["arena.games.core.jit.kernels"]
        def serve(table, kernel, methods, serve=module.serve):
            if methods:
                compiled.set()
                time.sleep(0.5)
            serve(table, kernel, methods)
            if threading.current_thread() is early and not methods:
                looked.set()
                compiled.wait()
        module.serve = serve
        early, late = threading.Thread(target=play), threading.Thread(target=play)
        early.start()
        looked.wait()
        late.start()
        early.join(), late.join()
        print(len(found), len(set(found)))
    """
    assert run(script)[0] == ["2", "1"]


@pytest.mark.slow
def test_indices_are_checked_where_that_is_asked_for(tmp_path):
    script = """
        from dataclasses import dataclass
        from arena import games
        from arena.games.tictactoe import TicTacToe
        @dataclass(frozen=True)
        class Beyond(TicTacToe):
            def legal_moves(self, state, moves):
                moves[len(moves) + 3] = 1
                return 1
        try:
            games.perft(Beyond(), 2)
        except IndexError as error:
            print("IndexError")
    """
    assert run(script, NUMBA_BOUNDSCHECK="1", ARENA_CACHE_DIR=str(tmp_path))[0] == ["IndexError"]


def test_modes_are_checked():
    with pytest.raises(UserError, match="'often' is not one of always, never"):
        set_mode("often")
    assert os.environ.get(VARIABLE, NEVER) == NEVER == Setting.mode


def test_the_places_of_a_table_are_distinct():
    assert sorted(game_tables.SLOTS.values()) == list(range(game_tables.ARRAYS))
    game = games.make("connect4")
    table = game_tables.table_of(game)
    assert table.words[game_tables.SLOTS["max_moves"]] == 7 and game_tables.table_of(game) is table
