"""Nested search: searches whose playouts are searches of a lower level."""
