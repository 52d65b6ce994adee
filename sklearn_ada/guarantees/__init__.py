"""Guarantees: how far an answer about the holdout can be from the population, after many adaptive questions.

Two routes lead there. By *description length* (route A), what was released about the holdout is priced in
nats, and the interval of each question is widened accordingly. By *differential privacy* (route B), answers
have noise, and a *transfer theorem* says that they fit the population as well as the holdout. Every bound is
a function named after its theorem.
"""

import inspect

from sklearn_ada._solving import smallest_integer
from sklearn_ada.accounting.codes import urn_nats
from sklearn_ada.answer import Certificate
from sklearn_ada.guarantees.baselines import *
from sklearn_ada.guarantees.bets import *
from sklearn_ada.guarantees.cells import *
from sklearn_ada.guarantees.class_tables import *
from sklearn_ada.guarantees.cross_groups import *
from sklearn_ada.guarantees.description_length import *
from sklearn_ada.guarantees.intervals import *
from sklearn_ada.guarantees.matchings import *
from sklearn_ada.guarantees.mechanisms import *
from sklearn_ada.guarantees.medians import *
from sklearn_ada.guarantees.noise import *
from sklearn_ada.guarantees.paired_tables import *
from sklearn_ada.guarantees.scores import *
from sklearn_ada.guarantees.tilted import *
from sklearn_ada.guarantees.transcript import *
from sklearn_ada.guarantees.transfer import *
from sklearn_ada.guarantees.two_class import *
from sklearn_ada.guarantees.units import *
from sklearn_ada.guarantees.unknown_share import *
from sklearn_ada.guarantees.used_before import *
from sklearn_ada.guarantees.windows import *

__all__ = ["Certificate", "smallest_integer", "urn_nats"]
__all__ += [
    name for name, item in vars().items() if not (name[0] == "_" or inspect.ismodule(item) or name in __all__)
]
