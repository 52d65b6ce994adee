"""How the rows of a holdout get to ray's workers: through its object store, once for each machine.

Ray pickles the arguments of every task anew. So the first time that it pickles a holdout, the rows are put
into its object store, and from then on tasks hold a reference. Any other pickle holds the rows themselves,
also while ray is running. This module never imports ray: it looks whether ray has been imported.
"""

from __future__ import annotations

import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

__all__ = ["as_ray_sends"]

_stored: weakref.WeakKeyDictionary[Any, tuple[object, Any]] = weakref.WeakKeyDictionary()
"""Ray's session and the reference, by parcel; ray drops the rows once the reference is gone from here."""


class _Stored:
    """A parcel in ray's store: fetched when it is unpacked, once in each process."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference

    def unpacked(self) -> dict[str, Any]:
        """Return the values; their arrays share the store's memory."""
        values: dict[str, Any] = sys.modules["ray"].get(self._reference).unpacked()
        return values


def as_ray_sends(parcel: Any) -> Any:
    """Return what is pickled instead of a parcel: a reference in a task of ray's, else the parcel itself.

    That ray is pickling a task in this thread can be read from a private attribute of ray's only. A version
    of ray without it sends the rows with every task, which is slower but not wrong. So do workers, because a
    reference to what a worker has stored is lost when the worker ends.
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
