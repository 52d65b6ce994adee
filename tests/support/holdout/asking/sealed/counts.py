"""Models that are right on so many rows of a holdout, which nobody but the holdout is told."""

import numpy as np

from sklearn_ada import Guess, Holdout

__all__ = [
    "BALANCED", "Failing", "RightOn", "ask", "held_by_frames", "holdout_of", "holdout_of_two_classes", "rows",
]  # fmt: skip


class RightOn:
    """Right on the first rows and wrong on the rest, where every label is 0."""

    def __init__(self, right, name=""):
        self.right, self.name = right, name

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] >= self.right).astype(np.int8)


def rows(n):
    """X and y of a holdout of n rows."""
    return np.arange(n, dtype=float)[:, None], np.zeros(n, dtype=np.int8)


def holdout_of(n, ledger, answers="coarse", **policy):
    """A holdout of n rows that answers in cells."""
    return Holdout(*rows(n), ledger=ledger, answers=answers, **policy)


def ask(holdout, right, guess, guess_rows=1500, name="", publish=False, **how):
    """Certify, or publish, a model that is right on so many rows."""
    model = RightOn(right, name)
    put = holdout.publish if publish else holdout.certify
    return put(model, scoring="accuracy", guess=Guess(guess, guess_rows), **how)


def held_by_frames(error):
    """Return the values that frames of the package hold in the traceback of an error.

    With what is in their closures, in lists, and in the attributes of the package's own objects.
    """
    trace, held = error.__traceback__, []
    while trace is not None:
        if "sklearn_ada" in trace.tb_frame.f_code.co_filename:
            for value in trace.tb_frame.f_locals.values():
                held += [value, *(c.cell_contents for c in getattr(value, "__closure__", None) or ())]
                if type(value).__module__.startswith("sklearn_ada"):  # a model of the test knows its count
                    held += getattr(value, "__dict__", {}).values()
                held += value if isinstance(value, list) else ()
        trace = trace.tb_next
    return held


BALANCED = {"scoring": "balanced_accuracy", "guess": Guess(0.5, 400)}


def holdout_of_two_classes(ledger, **policy):
    """A holdout whose balanced accuracy has no cells."""
    X, y = rows(400)
    y[:200] = 1
    return Holdout(X, y, ledger=ledger, **policy)


class Failing(RightOn):
    """Fails on the holdout."""

    def predict(self, X):
        raise ValueError("no")
