"""What a holdout is before it is asked: rows, policy and ledger, the same ones in every copy."""

from __future__ import annotations

import hashlib
import os
from numbers import Integral
from typing import Any, Self

from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter, check_option
from sklearn_ada.digest import content_digest
from sklearn_ada.exceptions import LedgerError
from sklearn_ada.guarantees.description_length.weights import CHECK_SHARE, PURPOSES
from sklearn_ada.holdout.questions.guess import Guess
from sklearn_ada.holdout.questions.median_settings import MedianSettings
from sklearn_ada.holdout.report.report import HoldoutReport, report_of
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.admission import Probe, admitted_one_by_one
from sklearn_ada.holdout.session.mean_weight import release_mean_weight
from sklearn_ada.holdout.session.plan import worst_question
from sklearn_ada.holdout.session.state import Conversation
from sklearn_ada.holdout.terms.asker import Asker
from sklearn_ada.holdout.terms.outcome import answer_from_record
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.ledger import Ledger, ledger_address, open_ledger
from sklearn_ada.metrics import Metric, UndefinedMetricError, as_metric, undefined_metric
from sklearn_ada.results import Answer

__all__ = ["OpenedHoldout"]


class OpenedHoldout:
    """Opens the ledger of some rows under a policy, and says what is there; see `Holdout`."""

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        confidence_level: float = 0.95,
        tolerance: float | None = None,
        expected_questions: int | None = None,
        check_share: float = CHECK_SHARE,
        route: str = "description_length",
        ledger: str | os.PathLike[str] | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        weight_bound: float | None = None,
        class_mix: str = "conditional",
        random_state: int | None = None,
        split: dict[str, Any] | None = None,
        who: str | None = None,
        label: str | None = None,
    ) -> None:
        self._asker = Asker(who, label)
        self._policy = Policy(confidence_level, tolerance, expected_questions, check_share, route, class_mix)
        self._data = HoldoutData(
            X, y, sample_weight, groups, weight_bound, priced_classes=class_mix == "priced"
        )
        self._data.check_policy(self._policy)
        seed = _seed(random_state)
        data, policy = self._data, self._policy

        def genesis(secret: bytes) -> dict[str, Any]:
            fixed = policy.genesis(data.fingerprint(secret), len(data), split or {}, secret, seed)
            return {**fixed, **data.describe_units(secret), **data.describe_classes(policy)}

        address = ledger_address(ledger, lambda: content_digest(X, y))
        self._ledger: Ledger[Conversation] = open_ledger(address, genesis, Conversation, secret=seed)
        self._fingerprint = str(self._ledger.genesis["fingerprint"])
        if weight_bound is not None:
            release_mean_weight(self._data, self._ledger, self._asker)

    def remaining(
        self, scoring: Any = "accuracy", *, mechanism: str = "check", guess_rows: int | None = None
    ) -> int | None:
        """Return how many more questions are admitted if every guess holds, or None if all.

        The tolerance limits them and, where it alone certifies, the privacy budget.

        Parameters
        ----------
        scoring : str, callable or Metric, default="accuracy"
        mechanism : {"check", "certify"}, default="check"
        guess_rows : int or None, default=None
            How many rows the guesses come from; None takes as many as the holdout has.
        """
        if self._policy.limits is None:
            return None
        check_option(mechanism, "mechanism", "Holdout.remaining", PURPOSES)
        probe = self._worst(as_metric(scoring), mechanism, guess_rows)
        return int(self._ledger.read(lambda state: admitted_one_by_one(state, probe)))

    def guess_behind(self, answer: Answer) -> Guess:
        """Return the guess that an answer of this holdout was asked with."""
        recorded = self._ledger.record(answer.index)
        if recorded is None:
            raise LedgerError(f"The ledger has no record {answer.index}; ask the holdout that answered.")
        return Guess(**recorded.body["guess"])

    def recorded_answer(self, number: int) -> Answer | None:
        """Return the answer or refusal that a record holds, or None if there is none of that number."""
        recorded = self._ledger.record(number)
        if recorded is None or recorded.body.get("kind") not in ("answer", "refusal"):
            return None
        return answer_from_record(recorded, self._ledger.genesis)

    def report(self) -> HoldoutReport:
        """Return what was asked, answered and spent so far, read back from the ledger and verified."""
        return report_of(self._ledger)

    @property
    def fingerprint(self) -> str:
        """Keyed digest of the content; it tells nobody whether a row is in the holdout."""
        return self._fingerprint

    @property
    def route(self) -> str:
        """The theory behind the intervals."""
        return self._policy.route

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._data)

    @property
    def n_columns(self) -> int | None:
        """Number of columns of X, or None where it is no table."""
        return self._data.n_columns

    @property
    def classes(self) -> NDArray[Any] | None:
        """Class labels that occur in y, or None where it holds numbers."""
        return self._data.classes

    @property
    def ledger(self) -> Ledger[Conversation]:
        """The ledger that is charged."""
        return self._ledger

    def n_subsamples(self, median: MedianSettings) -> int:
        """Return how many subsamples the stable median has."""
        return median.subsamples(self._data)

    def subsample_size(self, median: MedianSettings) -> int:
        """Return how many records a subsample of the stable median has."""
        count = median.subsamples(self._data)
        size = self._data.subsample_size(count, stratify=median.stratify)
        return len(self._data) // count if self._data.has_groups else size

    def has_interval(self, metric: Metric) -> bool:
        """Return whether a metric has an interval of its own on this holdout, without the stable median."""
        return self._data.has_interval(metric)

    def _worst(self, metric: Metric, mechanism: str, guess_rows: int | None) -> Probe:
        secret = self._ledger.secret()
        try:
            return worst_question(metric, mechanism, self._data, self._policy, secret, guess_rows)
        except UndefinedMetricError as error:
            raise undefined_metric(metric, self._data.y, error) from error

    def __repr__(self) -> str:
        return f"Holdout({len(self._data)} rows, fingerprint {self.fingerprint[:12]}, {self._ledger!r})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # one holdout, one ledger: a copy would only be another name for it

    def __sklearn_clone__(self) -> Self:
        return self


def _seed(random_state: object) -> bytes | None:
    if random_state is None:
        return None
    if not isinstance(random_state, Integral) or isinstance(random_state, bool):
        raise bad_parameter("random_state", "Holdout", "an integer or None", random_state)
    return hashlib.sha256(f"sklearn_ada random_state {int(random_state)}".encode()).digest()
