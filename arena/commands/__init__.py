"""The commands of `arena`, one file each, and what several of them share.

To add a command, add a file with a function under `@command(Panel...)`: its docstring and options are its help.
Shared: `application` (the decorator, the panels of the help, one-line errors), `completion`, `counts`, `dialogue`,
`hints` (what to type instead), `options`, `output`, `playing`, `progress`.
"""
