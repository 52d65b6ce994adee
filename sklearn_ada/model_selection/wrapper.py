"""What the rooms of model selection read of the `ReusableHoldoutCV` that is fitted."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["Wrapper"]


class Wrapper:
    """The parameters of a `ReusableHoldoutCV`, as its users set them; checked by `setting_up.parameters`."""

    search: Any
    scoring: Any
    holdout: Any
    ids: str | None
    mechanism: Any
    ask: str | int
    reveal: str
    validation: float
    one_standard_error: Any
    confidence_level: float
    tolerance: float | None
    expected_questions: int | None
    ledger: str | os.PathLike[str] | None
    missing: str
    answers: str
    seal_key: Any
    random_state: int | None
    who: str | None
    verbose: int
    holdout_: Any
