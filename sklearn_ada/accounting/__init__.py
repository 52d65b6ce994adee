"""Prices of events: what the answers given so far have cost, in each of two currencies.

*Nats* of description length, for answers that are symbols of a code; and *privacy loss*, for answers with
noise: pure and approximate differential privacy (epsilon, delta), zero-concentrated differential privacy
(rho, "zCDP") and Gaussian differential privacy (mu, "GDP"). Composition theorems and filters say what many
answers cost together.
"""

import inspect

from sklearn_ada.accounting.codes import *
from sklearn_ada.accounting.composition import *
from sklearn_ada.accounting.differential_privacy import *
from sklearn_ada.accounting.events import *
from sklearn_ada.accounting.filters import *

__all__ = [name for name, value in globals().items() if name[0] != "_" and not inspect.ismodule(value)]
