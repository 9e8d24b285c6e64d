"""Non-deterministic problems for AND-OR search, each a module; games/core/interface/problem.py is their base."""
