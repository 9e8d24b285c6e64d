"""Tables of a run that show themselves in a notebook; else they are data frames."""

import functools
from collections.abc import Callable
from typing import ParamSpec

import pandas as pd

P = ParamSpec("P")
MOST_ROWS = 200  # laid out for readers; of longer tables, pandas shows both ends


def shown_as(kind: str) -> Callable[[Callable[P, pd.DataFrame]], Callable[P, pd.DataFrame]]:
    """Lets a method of a tournament return its table of that kind so that a notebook shows it rounded, with notes below
    it.

    It stays a plain data frame, as is what is computed from it.
    """

    def decorate(method: Callable[P, pd.DataFrame]) -> Callable[P, pd.DataFrame]:
        @functools.wraps(method)
        def wrapped(*arguments: P.args, **options: P.kwargs) -> pd.DataFrame:
            frame = method(*arguments, **options)
            if "_repr_html_" not in vars(frame):  # else it is of a part of the tournament
                frame.attrs = frame.attrs | {"kind": kind}
                # IPython asks the object, and pandas carries it to no other
                vars(frame)["_repr_html_"] = functools.partial(_page, frame, arguments[0])
            return frame

        return wrapped

    return decorate


def _page(frame: pd.DataFrame, tournament) -> str:
    from arena.results.shown.notebook import table_page

    return pd.DataFrame._repr_html_(frame) if len(frame) > MOST_ROWS else table_page(frame, tournament)
