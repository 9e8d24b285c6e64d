"""The commands of `arena`, a file for each group; `arena.cli` puts them together."""
