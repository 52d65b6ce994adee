"""The genesis: the first record of a ledger, which fixes everything that may not change later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn_ada.accounting.events import SCHEMA_VERSION
from sklearn_ada.guarantees.description_length import ASSUMPTIONS
from sklearn_ada.ledger.hash_chain import secret_digest
from sklearn_ada.terms.holdout_data import HoldoutData
from sklearn_ada.terms.policy import Policy

_SEED_IS_SECRET = "nobody who asks knows the random_state of the holdout"
_BOUNDED_WEIGHTS = (
    "no unit of the population weighs more than weight_bound, and of the holdout's weights only their mean "
    "is known to anybody"
)
# Of class_mix="priced": the class counts are paid for, but not which classes there are.
_NO_UNSEEN_CLASS = "the population has no class of which the holdout has no record"
_OF_ROWS = ("fingerprint", "rows", "units", "class_counts")


@dataclass(frozen=True)
class Genesis:
    """Rows and policy of a holdout, as they were when its ledger was begun.

    Parameters
    ----------
    body : dict
        What the ledger holds, ready for JSON.
    """

    body: dict[str, Any]

    @classmethod
    def of(
        cls,
        data: HoldoutData,
        policy: Policy,
        split: dict[str, Any],
        secret: bytes,
        seed: bytes | None,
        found: dict[str, Any] | None = None,
    ) -> Genesis:
        """Return the genesis of a ledger; an existing ledger is opened only if its genesis is the same.

        Parameters
        ----------
        data : HoldoutData
        policy : Policy
        split : dict
            How the rows were chosen.
        secret : bytes
            The ledger's, from which noise and subsamples are drawn.
        seed : bytes or None
            The secret that ``random_state`` asks for, if it is given.
        found : dict or None
            The genesis of a ledger that is there. One without "identity" was begun when rows were known by
            their content, and goes on so. With ids, what it says of the rows is what they were when it was
            begun; its later records say what became of them, with which they are compared.
        """
        identity = "ids" if data.ids is not None else "labels"
        if found is not None and data.ids is None and "identity" not in found:
            identity = "content"
        made = cls(
            {
                "schema": SCHEMA_VERSION,
                **({} if identity == "content" else {"identity": identity}),
                "fingerprint": data.fingerprint(secret, identity),
                "rows": len(data),
                "split": split,
                "secret_digest": secret_digest(seed or secret),
                "seeded": seed is not None,
                **policy.to_dict(),
                **data.describe_units(secret),
                **data.describe_classes(policy),
            }
        )
        if found is None or not identity == found.get("identity") == "ids":
            return made
        of_rows = {name: found[name] for name in _OF_ROWS if name in found}
        return cls({name: value for name, value in made.body.items() if name not in _OF_ROWS} | of_rows)

    def to_dict(self) -> dict[str, Any]:
        """Return what the ledger keeps."""
        return self.body

    @property
    def policy(self) -> Policy:
        """The policy, checked."""
        return Policy.from_dict(self.body)

    @property
    def confidence_level(self) -> float:
        """Probability that all intervals hold together."""
        return float(self.body["confidence_level"])

    @property
    def tolerance(self) -> float | None:
        """The largest half-width of an answer at which questions are admitted, as a share of the range."""
        tolerance: float | None = self.body["tolerance"]
        return tolerance

    @property
    def fingerprint(self) -> str:
        """Keyed digest of the rows that the ledger began with."""
        return str(self.body["fingerprint"])

    @property
    def identity(self) -> str:
        """What rows are known by: "ids", "labels", or "content" in ledgers begun before there were others."""
        return str(self.body.get("identity", "content"))

    @property
    def units(self) -> dict[str, Any] | None:
        """What it says of groups and weights; None without."""
        return self.body.get("units")

    @property
    def rows(self) -> int:
        """How many there were."""
        return int(self.body["rows"])

    @property
    def n_units(self) -> int:
        """Number of independent units: of groups if there are any, else of rows."""
        return int((self.units or {}).get("number", self.rows))

    @property
    def n_classes(self) -> int | None:
        """Number of classes whose counts are paid for in nats; None with ``class_mix="conditional"``."""
        return len(self.body["class_counts"]) if "class_counts" in self.body else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every certificate of the ledger rests on."""
        independent, *others = ASSUMPTIONS
        units = self.units or {}
        if units.get("groups"):
            independent = independent.replace("records", "groups", 1)
        if units.get("weight_bound") is not None:
            others.append(_BOUNDED_WEIGHTS)
        if self.n_classes is not None:
            others.append(_NO_UNSEEN_CLASS)
        return (independent, *others, _SEED_IS_SECRET) if self.body["seeded"] else (independent, *others)
