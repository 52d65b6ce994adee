"""How the rows of a holdout get to workers: once, not with every task.

joblib writes a large array to a memory-mapped file the first time it sees it, from then on sends only the
file's name, and removes the file in the end. To profit from that, whatever is not an array is pickled once
into arrays of bytes (a `Parcel`), and a process that has unpacked a holdout keeps it for later tasks. A
pickle made outside joblib holds everything, and can be opened anywhere.
"""

from __future__ import annotations

import pickle
import weakref
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Parcel", "in_this_process", "unpacked_once"]

Shipped = TypeVar("Shipped")

in_this_process: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""The objects that this process has, made here or unpacked, by token: a random name that pickles keep."""
_latest: list[Any] = []  # what was unpacked last is kept, as nothing else holds it between tasks


class Parcel:
    """Named values, packed as arrays of bytes; values that are arrays are left as they are, without a copy.

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
        others = {name: value for name, value in values.items() if not _is_plain(value)}
        buffers: list[pickle.PickleBuffer] = []
        try:
            content = pickle.dumps(others, protocol=5, buffer_callback=buffers.append)
        except Exception:  # made of what only joblib's own pickler can pickle
            return
        if b"__main__" not in content:  # workers lack a notebook's classes, which only joblib's pickler sends
            self._values = {name: value for name, value in values.items() if name not in others}
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


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.dtype.hasobject


def _as_array(content: memoryview) -> NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8) if content.nbytes else np.empty(0, dtype=np.uint8)
