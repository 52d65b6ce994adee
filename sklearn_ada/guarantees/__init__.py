"""What answers are worth: intervals, weights, and the theorems behind certificates.

Route A prices what was said (description length); route B bounds what a differentially private answer can
reveal, then transfers. Every bound is a function named after its theorem.
"""

from typing import TYPE_CHECKING

from sklearn_ada._lazy import lazy_names

if TYPE_CHECKING:
    from sklearn_ada.guarantees._api import *  # noqa: F403

__getattr__, __dir__ = lazy_names(__name__)
