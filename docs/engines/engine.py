#!/usr/bin/env python3
"""A program that search-arena can play with: it answers one line of JSON with one line of JSON.

Replace `choose`.  What is printed to the standard error stream goes to a log; `print` elsewhere would be an answer.
"""

import json
import random
import sys


def choose(request: dict) -> dict:
    """The answer to a request for a move: the move, and if you like value, nodes, playouts, depth and line."""
    chance = random.Random(request["seed"])  # the same seed, the same move
    return {"move": chance.choice(request["legal"]), "nodes": 1}


def main() -> None:
    """Answer every line of the standard input, until it ends."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["type"] == "hello":
            answer = {"name": "random moves", "version": "1"}
        elif request["type"] == "move":
            answer = choose(request)
        else:  # new_game and game_over
            answer = {}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
