"""Progress of long work: a line a stage, and a bar where there are several things to do.

Nothing is shown unless it is asked for. The bar is tqdm's (``pip install 'sklearn-ada[progress]'``), in a
terminal or a notebook only: in a log it would be noise, so there, and without tqdm, lines are printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

__all__ = ["tell", "with_bar"]

Item = TypeVar("Item")


def tell(text: str, verbose: int) -> None:
    """Print a line about what is done now, if ``verbose`` is at least 1.

    Examples
    --------
    >>> tell("refitting the winner", 1)
    [sklearn_ada] refitting the winner
    >>> tell("refitting the winner", 0)
    """
    if verbose:
        print(f"[sklearn_ada] {text}", flush=True)


def with_bar(items: Iterable[Item], text: str, verbose: int) -> Iterator[Item]:
    """Yield the items, with a bar where somebody can see it, else with a line each.

    Parameters
    ----------
    items : iterable
    text : str
        What is done with each.
    verbose : int
        0 is silent.

    Examples
    --------
    >>> list(with_bar([3, 4], "certifying", 1))
    [sklearn_ada] certifying 1 of 2
    [sklearn_ada] certifying 2 of 2
    [3, 4]
    """
    if not verbose:
        yield from items
        return
    kept = items if isinstance(items, Sized) else list(items)
    if _is_watched():
        try:
            from tqdm.auto import tqdm
        except ImportError:
            pass
        else:
            yield from tqdm(kept, desc=f"[sklearn_ada] {text}")
            return
    for number, item in enumerate(kept, 1):
        tell(f"{text} {number} of {len(kept)}", verbose)
        yield item


def _is_watched() -> bool:
    """Return whether somebody is there to see a bar: in a terminal, or in a notebook."""
    return "ipykernel" in sys.modules or sys.stderr.isatty()
