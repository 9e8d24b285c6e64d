"""TD-leaf by self-play (Baxter, Tridgell & Weaver 1999): td, but at the leaf that a search's value comes from."""

from typing import ClassVar

from agents.learning.td import TD


class TDLeaf(TD):
    """TD-leaf."""

    name: ClassVar[str] = "tdleaf"
    leaf: ClassVar[bool] = True
