"""One record of a ledger in plain columns: what tables, reports and files of other programs show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.holdout.records.conversation import read_record
from sklearn_ada.ledger import Record

__all__ = ["Entry"]


@dataclass(frozen=True)
class Entry:
    """What one record says; None stands for what it does not say, and for infinite ends.

    Attributes
    ----------
    index : int
        Position in the ledger; 0 is the genesis.
    kind : {"genesis", "answer", "refusal", "round", "overlap", "selection", "confirmation", ...}
    time : str or None
        ISO 8601, in UTC; of the asker's clock.
    who, label : str or None
        Who asked, and from where, if they said so.
    metric, purpose, mechanism : str or None
    guess : float or None
    answer : float or None
        None if the question was refused or failed.
    low, high : float or None
        Ends of the certified interval.
    verdict : str or None
        What came of the question: one of `sklearn_ada.results.VERDICTS`. Of a confirmation, whether a model
        that was found by its digest says on the holdout what is recorded: "the same" or "different".
    nats, epsilon, rho : float or None
        What it cost: description length, and privacy where it was differentially private.
    target : str or None
        The population quantity that the interval contains.
    reason : str or None
        Why it was refused or failed; of a confirmation, the records that the model was compared with.
    model : str or None
        Name of the model's class, in a pipeline that of its last step. Records of older releases have none.
    """

    index: int
    kind: str
    time: str | None = None
    who: str | None = None
    label: str | None = None
    metric: str | None = None
    purpose: str | None = None
    mechanism: str | None = None
    guess: float | None = None
    answer: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str | None = None
    nats: float | None = None
    epsilon: float | None = None
    rho: float | None = None
    target: str | None = None
    reason: str | None = None
    model: str | None = None

    @classmethod
    def of(cls, record: Record) -> Entry:
        """Return the columns of a record."""
        try:
            read = read_record(record.body)
            return (
                cls(record.seq, "genesis") if read is None else cls(record.seq, read.kind, **read.columns())
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise LedgerDamagedError(
                f"Record {record.seq} is of a kind that this release does not know, or lacks a part: it was "
                "edited, or written by a newer release."
            ) from error

    @property
    def score_of(self) -> str | None:
        """The target, if there is a value."""
        return None if self.answer is None else self.target

    def to_dict(self) -> dict[str, Any]:
        """Return the columns, always the same ones in the same order, ready for JSON."""
        return asdict(self)
