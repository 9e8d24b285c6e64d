"""Non-deterministic problems for AND-OR search, each a module; games/core/problem.py is their base."""
