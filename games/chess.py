"""Chess by the laws of FIDE, from any position, and from the 960 starting positions of Chess960.

Draws need no claim: a third occurrence, 50 moves of each side without a capture or a pawn's move, or too few men to
mate (a knight, or bishops on one colour).  Rules: `games/core/families/chessboard.py`; notation:
`games/core/boards/fen.py`.

    squares  8  56 57 ... 63     a move is origin + 64 * target + 4096 * promotion; its name is that of standard
             :                   algebraic notation (Nf3, exd5, O-O, e8=Q+); names as of engines are read too (g1f3,
             2   8  9 ... 15     e8e1, e7e8q)
             1   0  1 ...  7
                 a  b      h
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from arena.games.core.boards.board import draw, point_name
from arena.games.core.boards.drawing import Look, board_drawing, read_board
from arena.games.core.boards.fen import Position, first_rank, read_fen, write_fen
from arena.games.core.families.chessboard import (
    ALL,
    ALLOWED,
    CASTLING,
    CLOCK,
    DANGER,
    DEAD,
    EIGHT,
    END,
    FIFTY,
    FILE_A,
    HIGH,
    KING,
    LOW,
    MATE,
    MIDDLE,
    MOST_CLOCK,
    NONE,
    NOT_A,
    NOT_H,
    OWN,
    PASSANT,
    PAWN,
    PINNED,
    PLY,
    RANK_1,
    REPETITION,
    UPSIDE_DOWN,
    ChessRules,
)
from arena.games.core.game import IllegalMove
from arena.games.core.numbers.bits import ONE, WORD, popcount, reversed_bytes

LETTERS = ".PN?KBRQ"  # by the numbers of men
PROMOTIONS = ("", "N", "B", "R", "Q")
STANDARD = 518  # the number of chess's own start in Chess960
CENTRE, HEART, RIM = WORD(0x00003C3C3C3C0000), WORD(0x0000001818000000), WORD(0xFF818181818181FF)
CASTLED = WORD(0xC7)
# counts of Shannon's function, and their weights
SHANNON = ("kings", "queens", "rooks", "bishops and knights", "pawns", "doubled", "blocked", "isolated", "mobility")
SHANNON_WEIGHTS = (200.0, 9.0, 5.0, 3.0, 1.0, -0.5, -0.5, -0.5, 0.1)

MEN = {
    letter: f"{colour} {shape}"
    for letters, colour in (("KQRBNP", "white"), ("kqrbnp", "black"))
    for letter, shape in zip(letters, ("king", "queen", "rook", "bishop", "knight", "pawn"))
}


@dataclass(frozen=True)
class Chess(ChessRules):
    """state: uint64[115], the words of games/core/families/chessboard.py.

    fen: the position to start from, in Forsyth-Edwards notation; empty for a starting position
    setup: the number of a starting position of Chess960; 518 is chess's own
    """

    fen: str = ""
    setup: int = STANDARD

    name = "chess"
    rules = (
        "Checkmate the enemy king. White has the capital letters and moves up. A move is written as in books, such as "
        "`Nf3` or `e4`, or by its two squares, g1f3."
    )
    sides = ("the capital letters", "the small letters")
    sizes = "any legal position; setup 0 to 959"
    board_look = Look("checkered", MEN, notes=False)
    data_fields = ("fen", "setup")
    term_weights = dict(zip(SHANNON, SHANNON_WEIGHTS))
    summed = "shannon"
    ranges = {"setup": (0, 959)}

    def __post_init__(self):
        super().__post_init__()
        if self.fen:
            if self.setup != STANDARD:
                raise ValueError("fen and setup are both given, and each says where the game starts")
            state = self.initial()
            self.turn(state)
            if self.attacks(state, self.occupied(state) & ~state[OWN], self.occupied(state)) & self.king(state) != NONE:
                raise ValueError(f"fen = {self.fen!r}: the side that is not to move is in check")

    def start(self, state):
        put_position(state, read_fen(self.fen or first_rank(self.setup)))
        self.set_up(state)

    def move_name(self, state, move):
        """The move in standard algebraic notation, with + for check and # for mate."""
        after = state.copy()
        self.play(after, move)
        sign = "#" if after[END] == MATE else ("+" if after[ALLOWED] != ALL else "")
        return algebraic(*_before(self, state.tobytes()), move) + sign

    def render(self, state):
        """White's men in capitals; below the board, the position as FEN."""
        men = position_of(state).men
        board = draw(reversed(range(8)), 8, lambda row, column: men[8 * row + column])
        return f"{board}\n{self.fen_of(state)}"

    def fen_of(self, state) -> str:
        """Names a square en passant only where a pawn can be taken."""
        return write_fen(position_of(state))

    # -- For strength ------------------------------------------------------------------------------------------

    def mover(self, state, move):
        return np.int64(self.man_at(state, WORD(move & 63) ^ (state[PLY] & ONE) * UPSIDE_DOWN))

    def victim(self, state, move):
        square = WORD(move >> 6 & 63) ^ (state[PLY] & ONE) * UPSIDE_DOWN
        man = np.int64(self.man_at(state, square))
        if state[OWN] >> square & ONE:  # the rook of castling
            man = 0
        elif man == 0 and (move ^ move >> 6) & 7 != 0 and self.mover(state, move) == PAWN:
            man = PAWN
        return man

    def is_unstable(self, state, move):
        return move >> 12 != 0 or state[ALLOWED] != ALL or self.victim(state, move) != 0

    def move_order(self, state, move):
        """Promotions to a queen, and captures: most valuable victim, then least valuable man."""
        victim, rank = self.victim(state, move), 0
        if victim != 0:
            attacker = self.mover(state, move)
            rank = 8 * victim + 7 - (8 if attacker == KING else attacker)
        return rank + (64 if move >> 12 == 4 else 0)

    def feature_code(self, state, move):
        return (self.move_code(state, move) << 3 | self.mover(state, move)) << 3 | self.victim(state, move)

    def worth(self, state, men):
        """Pawns 1, knights and bishops 3, rooks 5, queens 9."""
        low, middle, high = men & state[LOW], men & state[MIDDLE], men & state[HIGH]
        light = popcount(low & ~high) + 3 * popcount(middle & ~high)
        return light + 3 * popcount(low & high) + 5 * popcount(middle & high) + popcount(low & middle)

    def evaluate_material(self, state):
        """Material (pawn 1, knight and bishop 3, rook 5, queen 9): the difference over the sum and 1."""
        own, other = self.worth(state, state[OWN]), self.worth(state, ~state[OWN])
        value = (own - other) / (own + other + 1.0)
        return -value if state[PLY] & ONE else value

    def evaluate(self, state):
        """Material and places: knights and bishops in the centre, pawns there and ahead, rooks on the seventh rank, the
        king in a corner, or in the centre without queens."""
        own, other = state[OWN], self.occupied(state) & ~state[OWN]
        first = self.worth(state, own) + self.placement(own, state[LOW], state[MIDDLE], state[HIGH])
        low, middle, high = reversed_bytes(state[LOW]), reversed_bytes(state[MIDDLE]), reversed_bytes(state[HIGH])
        second = self.worth(state, other) + self.placement(reversed_bytes(other), low, middle, high)
        value = (first - second) / (first + second + 1.0)
        return -value if state[PLY] & ONE else value

    def placement(self, men, low, middle, high):
        """The value in pawns of the places of a side that moves up."""
        pawns, knights, bishops = men & low & ~high, men & middle & ~high, men & high & low & ~middle
        value = 0.2 * popcount(pawns & HEART) + 0.1 * popcount(pawns & CENTRE)
        value += 0.3 * popcount(pawns >> WORD(40)) + 0.5 * popcount(pawns >> WORD(48))
        value += 0.3 * popcount(knights & CENTRE) - 0.2 * popcount(knights & RIM)
        value += 0.1 * popcount(bishops & CENTRE) - 0.2 * popcount(bishops & RANK_1)
        rooks, king = men & high & middle & ~low, men & high & ~(low | middle)
        value += 0.2 * popcount(rooks >> WORD(48) & RANK_1)
        return value + 0.3 * popcount(king & (CENTRE if low & middle == NONE else CASTLED))

    def evaluate_shannon(self, state):
        """Claude Shannon's f ("Programming a computer for playing chess", Philosophical Magazine 41, 1950), as f / (8 +
        |f|): 200 for the king, 9, 5, 3 and 1 for others; -1/2 for each doubled, blocked or isolated pawn; 1/10 for each
        move of either side."""
        own, other, total = self.shannon_counts(state, True), self.shannon_counts(state, False), 0.0
        for i in range(len(SHANNON_WEIGHTS)):
            total += SHANNON_WEIGHTS[i] * (own[i] - other[i])
        value = total / (8.0 + abs(total))
        return -value if state[PLY] & ONE else value

    def shannon_counts(self, state, mover):
        low, middle, high = state[LOW], state[MIDDLE], state[HIGH]
        men = state[OWN] if mover else self.occupied(state) ^ state[OWN]
        pawns = men & low & ~high
        blocked = popcount((pawns << EIGHT if mover else pawns >> EIGHT) & self.occupied(state))
        doubled = isolated = 0
        for i in range(8):
            file = FILE_A << WORD(i)
            count = popcount(pawns & file)
            doubled += count if count > 1 else 0
            isolated += count if pawns & ((file & NOT_A) >> ONE | (file & NOT_H) << ONE) == NONE else 0
        return (
            popcount(men & high & ~(low | middle)),
            popcount(men & low & middle),
            popcount(men & high & middle & ~low),
            popcount(men & (middle & ~high | high & low & ~middle)),
            popcount(pawns),
            doubled,
            blocked,
            isolated,
            self.count_moves(state)[2] if mover else self.others_moves(state),
        )

    def others_moves(self, state):
        """The moves of the player not to move; turns `state` for a moment."""
        passant, danger, pinned, allowed = state[PASSANT], state[DANGER], state[PINNED], state[ALLOWED]
        state[PASSANT] = NONE
        self.turn(state)
        self.look(state)
        count = self.count_moves(state)[2]
        self.turn(state)
        state[PLY] -= WORD(2)
        state[PASSANT], state[DANGER], state[PINNED], state[ALLOWED] = passant, danger, pinned, allowed
        return count

    def counts(self, state, side):
        return self.shannon_counts(state, side == np.int64(state[PLY] & ONE))

    # -- For people --------------------------------------------------------------------------------------------

    def uci_name(self, state, move):
        """The move as engines write it: e2e4, e7e8q, e1g1; in Chess960, castling is onto the own rook."""
        return engine_name(position_of(state), move, self.is_chess960)

    @cached_property
    def is_chess960(self) -> bool:
        """Whether the start, or its rights of castling, may be of Chess960 alone."""
        return self.setup != STANDARD or (bool(self.fen) and not has_standard_castling(read_fen(self.fen)))

    def parse_move(self, state, text):
        """The legal move of that name, signs of check and mate optional, or as engines write it in chess or Chess960.

        Other spellings are read where one legal move fits: `Ng1-f3`, `e2-e4`, `a8Q`, `a8=q`, `Nge2` beside a pinned
        knight.
        """
        word, position = re.sub(r"[+#!?]+$", "", text.strip()).replace("0", "O"), position_of(state)
        legal = self.moves(state)
        for move in legal:
            names = engine_name(position, move, True), engine_name(position, move, False)
            if word in names or word == algebraic(position, legal, move):
                return move
        fitting = [move for move in legal if fits(position, move, word)]
        if len(fitting) == 1:
            return fitting[0]
        if word in NULL_MOVES:
            raise IllegalMove(f"{text}: a null move is no move of chess")
        return super().parse_move(state, text)

    def from_line(self, line):
        """A position in FEN or EPD, with blanks or, as a word, with `_`."""
        words = line.split()
        if not words or words[0].count("/") != 7:
            return self, words
        fields = words[0].split("_")
        rest = words[1:]
        if len(fields) == 1:
            count = 6 if len(words) > 5 and words[4].isdecimal() and words[5].isdecimal() else 4
            fields, rest = words[:count], words[count:]
        try:
            return replace(self, fen=" ".join(fields), setup=STANDARD), rest
        except ValueError as error:
            raise IllegalMove(str(error)) from None

    def position_word(self):
        return self.pgn_tags().get("FEN", "").replace(" ", "_")

    def play_on(self, state):
        """A third occurrence, 50 moves without a capture or a pawn's move, and too few men to mate need a claim."""
        if state[END] not in (REPETITION, FIFTY, DEAD):
            return False
        if state[CLOCK] >= MOST_CLOCK:
            self.forget(state, np.int64(MOST_CLOCK - 1))
        state[END] = NONE
        return True

    @property
    def uci_start(self):
        start = self.pgn_tags().get("FEN")
        return f"fen {start}" if start else "startpos"

    @property
    def uci_options(self):
        return {"UCI_Chess960": str(self.is_chess960).lower()}

    def pgn_tags(self):
        """The starting position, unless it is that of chess."""
        if not self.fen and self.setup == STANDARD:
            return {}
        position = position_of(self.initial())
        variant = {"Variant": "Chess960"} if self.is_chess960 else {}
        return {**variant, "SetUp": "1", "FEN": write_fen(position)}

    def from_pgn_tags(self, tags):
        variant = tags.get("Variant", "")
        if variant and re.sub(r"[^a-z0-9]", "", variant.lower()) not in VARIANTS:
            raise ValueError(f"is of another game: Variant is {variant!r}, and not one of Standard, Chess960")
        return replace(self, fen=tags["FEN"], setup=STANDARD) if "FEN" in tags else self

    def drawing(self, state, moves):
        """Marks the last move by its target, or by king and rook after castling."""
        name = moves[-1] if moves else ""
        marked = "".join(re.findall("[a-h][1-8]", name)[-1:])
        if name.startswith("O-O"):
            files, rank = "cd" if name.startswith("O-O-O") else "fg", "81"[position_of(state).side]
            marked = "".join(file + rank for file in files)
        return board_drawing(read_board(self.render(state)), [marked], self.board_look)


SPELLED = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)[-x:]?([a-h][1-8])(?:=?\(?([QRBNqrbn])\)?)?")
VARIANTS = (  # of PGN that are chess, without signs
    *("standard", "normal", "chess", "classic", "classical", "orthodox", "fromposition"),
    *("chess960", "fischerandom", "fischerrandom", "fischerandomchess", "fischerrandomchess", "frc"),
)
NULL_MOVES = ("--", "Z0", "ZO", "OOOO", "@@@@", "null", "pass")


def fits(position: Position, move: int, word: str) -> bool:
    """Whether a move's man, origin, target and promotion are what a word says of them."""
    if not (found := SPELLED.fullmatch(word)) or castles(position.men, move):
        return False
    man, file, rank, target, promotion = found.groups()
    origin, promoted = point_name(move & 63, 8), PROMOTIONS[move >> 12]
    right = file in ("", origin[0]) and rank in ("", origin[1]) and target == point_name(move >> 6 & 63, 8)
    return right and position.men[move & 63].upper() == (man or "P") and promoted == (promotion or "").upper()


def has_standard_castling(position: Position) -> bool:
    """Whether all who may castle have the king on file e and the rook in a corner."""
    return all(rook % 8 in (0, 7) and position.men[rook // 56 * 56 + 4] in "Kk" for rook in position.rooks)


@lru_cache(maxsize=1)
def _before(game: "Chess", state: bytes) -> tuple[Position, list[int]]:
    """The position and its legal moves, kept as often several moves of it are named in turn."""
    words = np.frombuffer(state, np.uint64).copy()
    return position_of(words), game.moves(words)


def algebraic(position: Position, legal: list[int], move: int) -> str:
    """The move's name without the sign of check or mate; `legal` lists all legal moves."""
    men, origin, target = position.men, move & 63, move >> 6 & 63
    man = men[origin].upper()
    if castles(men, move):
        return "O-O" if target > origin else "O-O-O"
    if man == "P":
        taken = point_name(origin, 8)[0] + "x" if origin % 8 != target % 8 else ""
        promotion = "=" + PROMOTIONS[move >> 12] if move >> 12 else ""
        return taken + point_name(target, 8) + promotion
    others = [m & 63 for m in legal if m >> 6 == target and m & 63 != origin and men[m & 63] == men[origin]]
    start = point_name(origin, 8) if others else ""
    if others and all(other % 8 != origin % 8 for other in others):
        start = start[0]
    elif others and all(other // 8 != origin // 8 for other in others):
        start = start[1]
    return man + start + ("x" if men[target] != "." else "") + point_name(target, 8)


def engine_name(position: Position, move: int, onto_rook: bool) -> str:
    """The move as in the Universal Chess Interface; castling is a king's move by two squares, or onto its rook."""
    origin, target = move & 63, move >> 6 & 63
    if castles(position.men, move) and origin % 8 == 4 and not onto_rook:
        target = origin + (2 if target > origin else -2)
    return point_name(origin, 8) + point_name(target, 8) + PROMOTIONS[move >> 12].lower()


def castles(men: str, move: int) -> bool:
    """Whether a move is the king's onto its own rook."""
    return men[move & 63] + men[move >> 6 & 63] in ("KR", "kr")


def put_position(state, position: Position) -> None:
    """Write a position into a state, for `ChessRules.set_up`."""
    state[:] = 0
    seen = 56 * position.side
    words = dict.fromkeys((OWN, LOW, MIDDLE, HIGH), 0)
    for square, letter in enumerate(position.men):
        if letter != ".":
            bit, man = 1 << (square ^ seen), LETTERS.index(letter.upper())
            words[OWN] |= bit if letter.isupper() == (position.side == 0) else 0
            for i, plane in enumerate((LOW, MIDDLE, HIGH)):
                words[plane] |= bit if man >> i & 1 else 0
    words[CASTLING] = sum(1 << (rook ^ seen) for rook in position.rooks)
    words[PASSANT] = 0 if position.passant is None else 1 << (position.passant ^ seen) - 8
    words[PLY], words[CLOCK] = 2 * (position.number - 1) + position.side, position.clock
    for word, value in words.items():
        state[word] = value


def position_of(state) -> Position:
    """The position of a state, as FEN describes it."""
    own, low, middle, high, castling, passant, ply, clock = (
        int(state[i]) for i in (OWN, LOW, MIDDLE, HIGH, CASTLING, PASSANT, PLY, CLOCK)
    )
    side, men = ply & 1, []
    for square in (square ^ 56 * side for square in range(64)):
        letter = LETTERS[(low >> square & 1) + 2 * (middle >> square & 1) + 4 * (high >> square & 1)]
        men.append(letter if (own >> square & 1) != side else letter.lower())
    rooks = frozenset(square for square in range(64) if castling >> (square ^ 56 * side) & 1)
    passed = passant & ~own
    where = passed.bit_length() - 1 ^ 56 * side if passed else None
    return Position("".join(men), side, rooks, where, clock, ply // 2 + 1)
