"""The commands of `arena`: one file for each, under its name, and beside them what several share.

Shared: application (the decorator, errors told in a line), options, output, playing, progress, counts.
"""
