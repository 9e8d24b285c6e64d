"""The tournament that `arena demo` plays: agents of different kinds and strengths, in under a minute."""

CONFIG = {
    "game": "breakthrough(rows=6, columns=6)",
    "games": 300,
    "opening_plies": 2,
    "seed": 1,
    "agents": [
        {"agent": "random"},
        {"agent": "flat(playouts=30)"},
        {"agent": "flat(playouts=100)"},
        {"agent": "uct(playouts=200)"},
        {"agent": "alphabeta(depth=1)"},
        {"agent": "uct(playouts=1000)"},
    ],
}
