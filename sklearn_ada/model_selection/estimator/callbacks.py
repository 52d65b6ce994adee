"""Callbacks of scikit-learn 1.9 and later, such as its progress bar: those of the wrapper are its search's.

A search reports on itself and takes no notice of who runs it. So it gets the callbacks that were set around
it, and where the wrapper itself is fitted by a search that reports, it takes the wrapper's place there. What
callbacks see are training rows: the holdout is not passed to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.utils.metaestimators import available_if

try:
    from sklearn.callback import CallbackSupportMixin, ProgressBar

    _ONLY_ONE = {ProgressBar}  # two of them in one search end in an error of scikit-learn's
except ImportError:  # before 1.9
    _ONLY_ONE = set()

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""


__all__ = ["HandsOnCallbacks"]

# What scikit-learn sets on an estimator: the callbacks themselves, and the task that it is part of.
_CALLBACKS, _TASK = "_skl_callbacks", "_parent_callback_ctx"


def _search_reports(self: Any) -> bool:
    return hasattr(self.search, "set_callbacks")


class HandsOnCallbacks(CallbackSupportMixin):
    """Hands the callbacks that were set on it on to the search that it runs."""

    search: Any

    @available_if(_search_reports)
    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks for the search (scikit-learn 1.9 or later), such as ``ProgressBar()``.

        They are told of what the search does, on training rows, and not of the certificate.

        Parameters
        ----------
        *callbacks : callback instances

        Returns
        -------
        self
        """
        return super().set_callbacks(*callbacks)

    @contextmanager
    def _reporting(self, search: Any) -> Iterator[None]:
        """Let a copy of the search report to the callbacks set on this estimator while it is fitted."""
        before, own = vars(search).get(_CALLBACKS, []), vars(self).get(_CALLBACKS, [])
        kinds = {type(one) for one in before} & _ONLY_ONE
        if own:
            more = (one for one in own if one not in before and type(one) not in kinds)
            search.set_callbacks(*before, *more)
        if _TASK in vars(self):
            setattr(search, _TASK, getattr(self, _TASK))
        try:
            yield
        finally:
            search.__dict__.pop(_TASK, None)
            if own:
                search.set_callbacks(*before)
