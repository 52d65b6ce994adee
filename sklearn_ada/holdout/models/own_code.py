"""Whether a model has code of the user's own: then its digest may miss what its predictions depend on."""

from __future__ import annotations

import pickle
from types import BuiltinFunctionType, FunctionType
from typing import Any

from sklearn_ada.digest.libraries import is_library

__all__ = ["has_own_code"]


def has_own_code(model: Any) -> bool:
    """Return whether any part of a model has a class or function that is no installed library's.

    A model that cannot be read counts as one that has. That code of a library was patched is not seen.

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> import numpy as np
    >>> has_own_code(FunctionTransformer(np.log1p)), has_own_code(FunctionTransformer(lambda X: X))
    (False, True)
    """
    try:
        # Large arrays are handed to the callback, which drops them: their content has no code.
        _Reader(_Nowhere(), protocol=5, buffer_callback=lambda buffer: False).dump(model)
    except Exception:  # whatever the parts of a model raise
        return True
    return False


class _OwnCodeError(Exception):
    pass


class _Nowhere:
    def write(self, content: bytes) -> int:
        return len(content)


class _Reader(pickle.Pickler):
    """Walks over all parts of an object as pickle does."""

    def reducer_override(self, obj: Any) -> Any:
        """Raise at the first class or function of the user's."""
        named = obj if isinstance(obj, type | FunctionType | BuiltinFunctionType) else type(obj)
        if not is_library(named.__module__):
            raise _OwnCodeError
        # A function in a library's wrapper, such as functools.lru_cache, says where it is from itself.
        module = getattr(obj, "__module__", None)
        if isinstance(module, str) and not is_library(module):
            raise _OwnCodeError
        return NotImplemented
