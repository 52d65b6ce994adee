"""Mechanisms: procedures that answer a question about the holdout and say what they did.

Each returns a `Release`: the answer, and the event that says what happened. What that costs is not theirs to
say but `sklearn_ada.accounting`'s. Randomness comes from the generator that is passed in.
"""

import inspect

from sklearn_ada.accounting.events import Release
from sklearn_ada.mechanisms.effective_rounds import *
from sklearn_ada.mechanisms.ladder import *
from sklearn_ada.mechanisms.multiplicative_weights import *
from sklearn_ada.mechanisms.noise import *
from sklearn_ada.mechanisms.quantiles import *
from sklearn_ada.mechanisms.rounding import *
from sklearn_ada.mechanisms.selection import *
from sklearn_ada.mechanisms.thresholdout import *

__all__ = ["Release"]
__all__ += [
    name for name, item in vars().items() if not (name[0] == "_" or inspect.ismodule(item) or name in __all__)
]
