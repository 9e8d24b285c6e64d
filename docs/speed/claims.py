"""How often what a game foresees is right: `python docs/speed/claims.py`.

A row for each board: positions of random games, how many of them `Game.foreseen` claims something of, how many of these
claims exhaustive search settled within the limit, and how many of those were wrong.

    python docs/speed/claims.py hex othello --positions 2000     # boards with such a word in their names
"""

import argparse

from arena import games
from arena.games.core.checks.conformance import contradicted
from arena.games.core.play.observed import foreseen_kernel, random_line
from arena.games.core.shared.seeds import derive_seed

BOARDS = (
    "connect4(rows=4, columns=5)",
    "connect4",
    "breakthrough(rows=5, columns=4)",
    "breakthrough(rows=6, columns=5)",
    "breakthrough(rows=7, columns=3)",
    "knightthrough(rows=5, columns=4)",
    "knightthrough(rows=7, columns=4)",
    "domineering(rows=4, columns=5)",
    "domineering(rows=6, columns=6)",
    "hex(size=4)",
    "hex(size=5)",
    "atarigo(size=4)",
    "atarigo(size=5)",
    "othello(size=4)",
    "othello(size=6)",
    "clobber(rows=4, columns=4)",
    "clobber(rows=6, columns=6)",
)


def claims_of(spec: str, positions: int, limit: int, seed: int) -> tuple[int, int, int, int]:
    """(positions, claims, settled ones, wrong ones), over whole random games."""
    game, met, claims, settled, wrong, number = games.make(spec), 0, 0, 0, 0, 0
    while met < positions:
        for state in random_line(game, derive_seed(seed, number)).states[:-1]:
            met += 1
            plies, exact, _ = foreseen_kernel(game, state)
            if plies != 0:
                found = contradicted(game, state, plies, exact, limit)
                claims, settled, wrong = claims + 1, settled + (found is not None), wrong + bool(found)
        number += 1
    return met, claims, settled, wrong


def main() -> None:
    """Print the table of the boards that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="of boards to be looked at; all if there are none")
    parser.add_argument("--positions", type=int, default=10_000, help="of each board, at least")
    parser.add_argument("--limit", type=int, default=1_000_000, help="the most positions of an exhaustive search")
    parser.add_argument("--seed", type=int, default=7, help="of the random games")
    arguments = parser.parse_args()
    for word in arguments.words:
        if not any(word in board for board in BOARDS):
            parser.error(f"no board has {word!r} in its name")
    print("| board | positions | claims | settled | wrong |")
    print("|---|---|---|---|---|")
    for board in BOARDS:
        if not arguments.words or any(word in board for word in arguments.words):
            row = claims_of(board, arguments.positions, arguments.limit, arguments.seed)
            print(f"| {board} | " + " | ".join(f"{number:,}" for number in row) + " |", flush=True)


if __name__ == "__main__":
    main()
