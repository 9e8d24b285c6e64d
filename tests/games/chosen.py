"""The games that the default tests compile.  New ones are among them."""

from tests.shipped import GAMES

# In most tests these run in plain Python, and compiled with -m slow.  The others have every dtype of states, kind of
# board and number of players, stones that are captured, chance, and random playouts in lanes.
LATER = {
    "atarigo", "ataxx", "checkers", "clobber", "coin", "domineering", "grundy", "knightthrough", "leftmove", "loa",
    "matches", "misere_breakthrough", "misere_domineering", "misere_knightthrough", "misere_nogo", "mnk", "nogo",
    "pentalath", "tree", "weakschur", "y",
}  # fmt: skip
COMPILED = [name for name in GAMES if name not in LATER]
