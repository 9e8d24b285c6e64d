"""Boards as text, pictures and FEN."""
