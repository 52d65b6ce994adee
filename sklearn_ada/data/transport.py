"""Bring the rows of a holdout to workers once, not with every task.

joblib writes a large array to a memory-mapped file the first time it sees it, from then on sends only the
file's name, and removes the file in the end. To profit from that, whatever is not an array is pickled once
into arrays of bytes (a `Parcel`), and a process that has unpacked a holdout keeps it for later tasks. A
pickle made outside joblib holds everything, and can be opened anywhere.

Ray pickles the arguments of every task anew. So the first time that it pickles a holdout, the rows are put
into its object store, once for each machine, and from then on tasks hold a reference. Any other pickle holds
the rows themselves, also while ray is running. This module never imports ray: it looks whether ray has been
imported.
"""

from __future__ import annotations

import pickle
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Shipped = TypeVar("Shipped")

in_this_process: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""The objects that this process has, made here or unpacked, by token: a random name that pickles keep."""
_latest: list[Any] = []  # what was unpacked last is kept, as nothing else holds it between tasks
_stored: weakref.WeakKeyDictionary[Any, tuple[object, Any]] = weakref.WeakKeyDictionary()
"""Ray's session and the reference, by parcel; ray drops the rows once the reference is gone from here."""


class Parcel:
    """Named values, packed as arrays of bytes; arrays are left as they are, without a copy.

    Parameters
    ----------
    values : dict

    Examples
    --------
    >>> Parcel({"text": ["a", "b"], "numbers": np.arange(3)}).unpacked()
    {'numbers': array([0, 1, 2]), 'text': ['a', 'b']}
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self._content: NDArray[np.uint8] | None = None
        self._buffers: list[NDArray[np.uint8]] = []
        arrays = {k: v for k, v in values.items() if isinstance(v, np.ndarray) and not v.dtype.hasobject}
        others = {k: v for k, v in values.items() if k not in arrays}
        buffers: list[pickle.PickleBuffer] = []
        try:
            content = pickle.dumps(others, protocol=5, buffer_callback=buffers.append)
        except Exception:  # made of what only joblib's own pickler can pickle
            return
        if b"__main__" not in content:  # workers lack a notebook's classes, which only joblib's pickler sends
            self._values = arrays
            self._content = _as_array(memoryview(content))
            self._buffers = [_as_array(buffer.raw()) for buffer in buffers]

    def unpacked(self) -> dict[str, Any]:
        """Return the values; their arrays share the parcel's memory."""
        if self._content is None:
            return dict(self._values)
        return {**self._values, **pickle.loads(self._content.data, buffers=self._buffers)}


def unpacked_once(token: str, kind: type[Shipped], parcel: Parcel) -> Shipped:
    """Return the object of this token: the one that this process has already, or else one from the parcel."""
    found = in_this_process.get(token)
    if found is None:
        found = object.__new__(kind)
        vars(found).update(parcel.unpacked())
        in_this_process[token] = found
        _latest[:] = [found]
    return found


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
    stored_in, reference = _stored.get(parcel, (None, None))
    if stored_in != session:
        with ThreadPoolExecutor(1) as aside:  # in one thread ray does not pickle one thing within another
            reference = aside.submit(ray.put, parcel).result()
        _stored[parcel] = session, reference
    return _Stored(reference)


class _Stored:
    """A parcel in ray's store: fetched when it is unpacked, once in each process."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference

    def unpacked(self) -> dict[str, Any]:
        """Return the values; their arrays share the store's memory."""
        values: dict[str, Any] = sys.modules["ray"].get(self._reference).unpacked()
        return values


def _as_array(content: memoryview) -> NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8) if content.nbytes else np.empty(0, dtype=np.uint8)
