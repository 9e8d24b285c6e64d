"""Sets of squares as the bits of words, and functions of numbers that are the same on every processor."""
