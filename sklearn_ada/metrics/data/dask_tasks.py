"""Work on the chunks of a Dask array, done where Dask computes them.

On a cluster a chunk never comes to the client, only what was found in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from sklearn_ada.metrics.data.elsewhere import UnreadableRowsError

__all__ = ["carried_on", "of_each_chunk"]

_WINDOW = 2**23  # rows of Dask that are read at a time to be hashed, so that they do not pile up before it
_PATIENCE = 2.0  # seconds, after which it is looked whether a worker is still there


def of_each_chunk(function: Callable[[int, Any], Any], sizes: Iterable[int], chunks: Iterable[Any]) -> Any:
    """Return what a function makes of the number of rows of each chunk, and of the chunk."""
    import dask

    delayed = dask.delayed(function)
    return dask.compute(*(delayed(size, chunk) for size, chunk in zip(sizes, chunks, strict=True)))


def carried_on(
    begin: Callable[[], Any],
    step: Callable[[Any, int, Any], Any],
    end: Callable[[Any], Any],
    sizes: Iterable[int],
    chunks: Iterable[Any],
) -> Any:
    """Return the end of a state that is carried on from chunk to chunk, such as a hash.

    It is a chain of tasks, all on one worker: the state need not be one that can be pickled.

    Parameters
    ----------
    begin : callable
        Returns the first state.
    step : callable
        Takes a state, the number of rows of a chunk, and the chunk; returns the next state.
    end : callable
        Takes the last state.
    sizes : iterable of int
        The number of rows of each chunk.
    chunks : iterable
    """
    import dask

    where, wait = _one_worker()
    state = dask.delayed(begin)()
    waiting = 0
    for rows, chunk in zip(sizes, chunks, strict=True):
        if waiting + rows > _WINDOW:
            (state,) = dask.persist(state, **where)
            wait(state)
            waiting = 0
        state = dask.delayed(step)(state, rows, chunk)
        waiting += rows
    (made,) = dask.persist(dask.delayed(end)(state), **where)
    wait(made)
    (ends,) = dask.compute(made, **where)
    return ends


def _one_worker() -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Return where tasks run that must run together, and what waits for them."""
    distributed = sys.modules.get("distributed")
    try:
        client = None if distributed is None else distributed.default_client()
    except ValueError:
        client = None
    if distributed is None or client is None:
        return {}, lambda state: None
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        raise UnreadableRowsError("The cluster has no workers to read the rows.")
    return {"workers": [min(workers)]}, partial(_wait_for, client, min(workers))


def _wait_for(client: Any, worker: str, state: Any) -> None:
    """Wait for what one worker computes; raise if it is gone, as nobody else can go on with a hash."""
    while True:
        try:
            sys.modules["distributed"].wait(state, timeout=_PATIENCE)
            return
        except TimeoutError:
            if worker not in client.scheduler_info(n_workers=-1)["workers"]:
                raise UnreadableRowsError("The worker that hashed the rows is gone: ask again.") from None
