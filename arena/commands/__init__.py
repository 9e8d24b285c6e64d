"""The commands of `arena`: one file for each, under its name, and beside them what several share.

To add a command, add a file with a function under `@command(Panel...)`: its docstring and options are its help.
Shared are `application` (the decorator, panels of the help, errors told in a line), `options`, `output`, `playing`
(tournaments with their display), `progress` (of solvers) and `counts` (results given as numbers).
"""
