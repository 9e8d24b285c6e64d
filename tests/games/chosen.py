"""The games that the default tests compile.  New ones are among them."""

from tests.shipped import GAMES

# In most tests these run in plain Python, and compiled with -m slow.  The others have states of two dtypes, boards and
# heaps, and random playouts in lanes.
LATER = {
    "amazons", "atarigo", "ataxx", "backgammon", "checkers", "chess", "clobber", "coin", "domineering", "go",
    "grundy", "hex", "kalah", "knightthrough", "leftmove", "loa", "matches", "misere_breakthrough",
    "misere_domineering", "misere_knightthrough", "misere_nogo", "mnk", "morpion", "nogo", "othello", "pentalath",
    "pig", "samegame", "tree", "tsptw", "weakschur", "y",
}  # fmt: skip
COMPILED = [name for name in GAMES if name not in LATER]
