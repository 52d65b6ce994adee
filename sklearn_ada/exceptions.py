"""Errors of the package. Each takes one argument, so it survives pickling between processes.

None is a ``ValueError``: search classes swallow those.
"""

from __future__ import annotations


class BudgetExhaustedError(RuntimeError):
    """The holdout can answer no further question of this kind within its tolerance.

    Raised by searches (`ReusableHoldoutCV`, ``select_best``, scorers with ``on_exhausted="raise"``) and by
    whatever chooses among models, as a search cannot go on with part of its scores. A single question to a
    `Holdout` raises nothing: it returns an `Answer` with the verdict "refused", and its reason. What failed
    on the holdout is no exhaustion, and a ValueError in searches.
    """


class HoldoutLeakError(RuntimeError):
    """Rows of the holdout were found in the training data; the message says what that cost."""


class LedgerError(RuntimeError):
    """The ledger cannot be used; nothing was charged and nothing was answered."""


class LedgerUnavailableError(LedgerError):
    """The ledger cannot be reached or written: missing, locked, read-only, replaced."""


class LedgerDamagedError(LedgerError):
    """The ledger's records do not agree with its hash chain or its head."""


class LedgerMismatchError(LedgerError):
    """The ledger belongs to another holdout, another split or another policy."""


class UnsupportedEventError(RuntimeError):
    """An event has no price, so a question that would release it is refused."""
