"""How large a scorer is, said to dask, so that joblib's dask backend sends the holdout once.

That backend scatters an argument that is large, and sends its key from then on; but dask takes an object of a
class that it does not know for a few bytes, whatever it holds. scikit-learn sends a scorer as an argument,
alone or with others, and from 1.9 on once more within the search that calls. Dask finds `register` by the
entry point ``dask.sizeof``; where there is no dask, nothing loads this module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["register"]


def register(sizeof: Any) -> None:
    """Register sizes with dask: each once something of its package is measured, as imports take time.

    Parameters
    ----------
    sizeof : dask.utils.Dispatch
    """
    sizeof.register_lazy("sklearn_ada", lambda: _register_scorers(sizeof))
    sizeof.register_lazy("sklearn", lambda: _register_holders(sizeof))


def _register_scorers(sizeof: Any) -> None:
    from sklearn_ada.holdout import Holdout, HoldoutData, Session
    from sklearn_ada.model_selection.running.recording import RecordingScorer
    from sklearn_ada.model_selection.scorers.base import HoldoutScorer

    sizeof.register((Holdout, HoldoutData, HoldoutScorer, RecordingScorer, Session), _with_content(sizeof))


def _register_holders(sizeof: Any) -> None:
    from sklearn.base import MetaEstimatorMixin
    from sklearn.metrics import check_scoring

    several = check_scoring(scoring=["accuracy"])
    sizeof.register(type(several), _with_content(sizeof))

    @sizeof.register(MetaEstimatorMixin)
    def size_of_search(search: Any) -> int:  # with another scorer it is as small as it was
        return sys.getsizeof(search) + int(sizeof(getattr(search, "scoring", None)))


def _with_content(sizeof: Any) -> Callable[[Any], int]:
    return lambda thing: sys.getsizeof(thing) + int(sizeof(vars(thing)))
