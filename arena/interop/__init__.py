"""Games and positions in the forms of other libraries."""
