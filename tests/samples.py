"""Small files in the formats of published test sets, computed by plain Python that shares no code with the project.

The tests that read published sets (the environment variable ARENA_TEST_DATA names their folder) read these as well, so
that they run everywhere.
"""

import random
from itertools import permutations
from pathlib import Path

CONNECT4, SAMEGAME, SAMEGAME_MEANS = "connect4_end_easy.txt", "samegame_standard20.txt", "samegame_means.txt"
TOURS = Path("tsptw", "best_known.txt")


def write(folder: Path) -> Path:
    """Write all samples into `folder`; returns it."""
    chance = random.Random(1)
    (folder / CONNECT4).write_text("".join(f"{moves} {score}\n" for moves, score in connect4_positions(60, chance)))
    boards = [[[chance.randrange(3) for _ in range(6)] for _ in range(6)] for _ in range(4)]
    (folder / SAMEGAME).write_text("".join(f"# Board\n{_rows(board)}\n" for board in boards))
    (folder / SAMEGAME_MEANS).write_text(" ".join(str(samegame_mean(board, 1000, chance)) for board in boards))
    (folder / "tsptw" / "instances").mkdir(parents=True)
    tours = [tour_line(f"sample.{k}.txt", folder, chance) for k in range(30)]
    (folder / TOURS).write_text("Instance Cost CV Permutation\n" + "".join(tours))
    return folder


def _rows(board) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in board)


# -- Connect 4: columns of "XO" texts; the score is (stones left to the winner) + 1, for the player to move ------------


def connect4_positions(count, chance):
    """(columns played, score) of positions with at most nine free cells."""
    found = []
    while len(found) < count:
        columns, line = [""] * 7, ""
        for ply in range(33):
            free = [c for c in range(7) if len(columns[c]) < 6]
            column = chance.choice(free)
            columns[column] += "XO"[ply % 2]
            line += str(column + 1)
            if has_four(columns, column):
                break
        else:
            found.append((line, connect4_score(tuple(columns), len(line), {})))
    return found


def has_four(columns, last) -> bool:
    """Whether the top stone of a column is part of four in a row."""
    row, stone = len(columns[last]) - 1, columns[last][-1]

    def is_own(c, r):
        return 0 <= c < 7 and 0 <= r < len(columns[c]) and columns[c][r] == stone

    for dc, dr in ((1, 0), (0, 1), (1, 1), (1, -1)):
        run = 1
        for sign in (1, -1):
            step = 1
            while is_own(last + sign * step * dc, row + sign * step * dr):
                run, step = run + 1, step + 1
        if run >= 4:
            return True
    return False


def connect4_score(columns, stones, known) -> int:
    """Plain minimax to the end."""
    if stones == 42:
        return 0
    if columns not in known:
        best = -99
        for c in range(7):
            if len(columns[c]) < 6:
                after = (*columns[:c], columns[c] + "XO"[stones % 2], *columns[c + 1 :])
                value = (43 - stones) // 2 if has_four(after, c) else -connect4_score(after, stones + 1, known)
                best = max(best, value)
        known[columns] = best
    return known[columns]


# -- SameGame: a board is a list of columns, the lowest cell first; n cells taken at once score (n - 2) squared --------


def samegame_mean(board, playouts, chance) -> float:
    """The mean score of random games, each move drawn uniformly from the groups."""
    columns = [[row[c] for row in reversed(board)] for c in range(len(board[0]))]
    return sum(samegame_playout(columns, chance) for _ in range(playouts)) / playouts


def samegame_playout(columns, chance) -> int:
    """The score of one random game."""
    score = 0
    while groups := samegame_groups(columns):
        group = chance.choice(groups)
        score += (len(group) - 2) ** 2
        columns = [[cell for r, cell in enumerate(column) if (c, r) not in group] for c, column in enumerate(columns)]
        columns = [column for column in columns if column]
    return score if columns else score + 1000


def samegame_groups(columns) -> list[set]:
    """All sets of two or more connected cells of one colour."""
    left, groups = {(c, r): cell for c, column in enumerate(columns) for r, cell in enumerate(column)}, []
    while left:
        start, colour = left.popitem()
        group, waiting = {start}, [start]
        while waiting:
            c, r = waiting.pop()
            for cell in ((c + 1, r), (c - 1, r), (c, r + 1), (c, r - 1)):
                if left.get(cell) == colour:
                    del left[cell]
                    group.add(cell)
                    waiting.append(cell)
        if len(group) > 1:
            groups.append(group)
    return groups


# -- The travelling salesman with time windows: the best tour of six cities, by trying all -----------------------------


def tour_line(name, folder, chance) -> str:
    """Write a random instance, and return its name, cost, violations and best tour."""
    cities = 6
    distances = [[0 if a == b else chance.randrange(1, 40) for b in range(cities)] for a in range(cities)]
    windows = [(0, 400)] + [(opening := chance.randrange(60), opening + chance.randrange(20, 90)) for _ in range(5)]
    (folder / "tsptw" / "instances" / name).write_text(f"{cities}\n{_rows(distances)}{_rows(windows)}")
    tours = [(*tour_cost(distances, windows, tour), tour) for tour in permutations(range(1, cities))]
    violations, cost, tour = min(tours)
    return f"{name} {cost} {violations} {' '.join(map(str, tour))}\n"


def tour_cost(distances, windows, tour) -> tuple[int, int]:
    """(windows violated, travel cost) of a tour from the depot and back."""
    time, cost, violations, here = windows[0][0], 0, 0, 0
    for city in (*tour, 0):
        cost += distances[here][city]
        time = max(time + distances[here][city], windows[city][0])
        violations += time > windows[city][1]
        here = city
    return violations, cost
