"""How an answer is drawn: each mechanism returns its answer with the event that says what happened.

Every one returns a `Release`; none prices it. Randomness comes from the generator that is passed in.
"""

from typing import TYPE_CHECKING

from sklearn_ada._lazy import lazy_names

if TYPE_CHECKING:
    from sklearn_ada.mechanisms._api import *  # noqa: F403

__getattr__, __dir__ = lazy_names(__name__)
