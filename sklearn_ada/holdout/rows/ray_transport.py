"""How the rows of a holdout get to ray's workers: through its object store, once for each machine.

Ray pickles what tasks are given anew for every task. So the first time that it is seen to do that, the rows
are put into its store, and from then on tasks hold a reference. What anybody else pickles holds everything,
also while ray is running. Nothing here imports ray before somebody else has.
"""

from __future__ import annotations

import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["as_ray_sends"]

_stored: weakref.WeakKeyDictionary[Any, tuple[object, Any]] = weakref.WeakKeyDictionary()
"""Session and reference by parcel; the store drops the rows once the parcel is gone from here."""


class _Stored:
    """A parcel in the store: fetched when it is unpacked, which a process does once."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference

    def unpacked(self) -> dict[str, Any]:
        """Return the values; their arrays share the store's memory."""
        values: dict[str, Any] = sys.modules["ray"].get(self._reference).unpacked()
        return values


def as_ray_sends(parcel: Any) -> Any:
    """Return what a task of ray's holds instead of a parcel; the parcel itself for any other pickle.

    Only a private context of ray's says that it pickles a task in this thread. A version without it gets the
    rows with every task, which is slower and not wrong. So does whoever waits for a worker's result, for a
    reference to what a worker has put dies with the worker.
    """
    ray: Any = sys.modules.get("ray")
    try:
        worker = ray._private.worker.global_worker
        is_driver = worker.mode == ray.SCRIPT_MODE
        if not (is_driver and worker.get_serialization_context().is_in_band_serialization()):
            return parcel
    except AttributeError:
        return parcel
    context = ray.get_runtime_context()
    session = context.get_node_id(), context.get_job_id()  # references last as long as both
    known, reference = _stored.get(parcel, (None, None))
    if known != session:
        with ThreadPoolExecutor(1) as aside:  # in one thread ray does not pickle one thing within another
            reference = aside.submit(ray.put, parcel).result()
        _stored[parcel] = session, reference
    return _Stored(reference)
