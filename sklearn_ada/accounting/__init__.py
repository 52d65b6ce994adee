"""The price of an event: what mechanisms have cost, in every currency a guarantee can read."""

from typing import TYPE_CHECKING

from sklearn_ada._lazy import lazy_names

if TYPE_CHECKING:
    from sklearn_ada.accounting._api import *  # noqa: F403

__getattr__, __dir__ = lazy_names(__name__)
