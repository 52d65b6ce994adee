"""Find what is on record of a question: a digest proposes, the holdout confirms, at a price.

A question that is asked again has the key of the first time. That is only a proposal: a model's digest cannot
see weights in a file, names that ``eval`` looks up or a patched library, and another model with the same
digest must not get the first one's answer. So the model predicts the holdout once more, and what it says is
compared with what the record keeps of it (`OutputSummary`). The outcome is a symbol with a price, for it
would tell an asker who makes models that differ on one chosen row whether that row is in the holdout:

- "the same" is nearly free if few differed before, .001 nats the first time and less than .05 nats for a
  thousand times; after one that differed, .1 nats and then less. The answer is the recorded one.
- "different" costs 7 nats the first time, and more if there were many that were the same. It is a new
  question then, recorded as another version of the key and admitted as any other. If that is refused,
  "different" is paid for nevertheless.

Whoever asks a third time is compared with all versions that there were before the look at once (with those
that somebody else has recorded since, in a further comparison), and learns which of them it is, if any: "the
same or different" is one symbol, and which of k versions it is, another: of ``ln k`` nats the first time,
less for a version that comes again and again. "The same or different" is learnt apart from that of proposals
with one version: a model which predicts at random, a new version each time, counts there as one that was
different, however often it is asked. The comparison is never refused: earlier records alone decide that it is
made, and its price is the same whatever the tolerance.

The proof is that of every symbol: which records there are to compare with, and so what may come of it, is
fixed by the transcript before the look, and the code gives all outcomes together a mass of at most 1.

**What a confirmation shows** is that the model says on the holdout's rows what is recorded. A model that
says the same on all of them and something else elsewhere in the population gets the first one's certificate,
which is about the first one.

**Where privacy certifies** a comparison without noise would end the route. There a key that is found is
answered as it stands: the outputs on the rows of the guess are part of it, so a match is confirmed on rows
that are public. If there are none (a bare number as the guess, or a choice among models) a model with code
that is no installed library's is a new question each time, with one warning.

**Where description length certifies** a model of the user's own class with a bare number as its guess is
proposed and confirmed like any other. A question that is new each time would make a notebook that is run
again pay for all of them, while the urn makes repeated mismatches cheap.

Records of older releases keep nothing to compare with. Their questions are asked again, as a new version.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_ada._notices import warn_user
from sklearn_ada.digest.code import has_own_code
from sklearn_ada.holdout.records import ConfirmationRecord, kept_outputs
from sklearn_ada.holdout.session import Session
from sklearn_ada.holdout.state import LedgerRecord, State
from sklearn_ada.ledger.hash_chain import Record
from sklearn_ada.terms.outputs import OutputSummary

Fix = Callable[[State], object]
Decide = Callable[[str, str, State], LedgerRecord]
"""From the key of a version, the summary that its record keeps, and the state, to that record."""


@dataclass(frozen=True)
class Proposal:
    """What is on record under the key that digests make of a question.

    Parameters
    ----------
    session : Session
    key : str
    versions : list of Record
        Of the question, that were found before the look.
    is_anew : bool
        Whether it is a new question each time, as privacy certifies and nothing public confirms it.
    """

    session: Session
    key: str
    versions: list[Record]
    is_anew: bool

    @classmethod
    def find(
        cls, session: Session, keys: Sequence[str], or_fix: Fix, models: Sequence[Any], outputs: str = ""
    ) -> Proposal:
        """Return all versions of the first of these keys that has any.

        With a question that is new each time and was asked before comes a warning.

        Parameters
        ----------
        session : Session
        keys : sequence of str
        or_fix : callable
            Is called with the state if none has any.
        models : sequence of fitted estimators
            That are asked about.
        outputs : str, default=""
            Digest of their outputs on the rows of the guess; empty if there are none.
        """
        is_anew = session.policy.is_private and not outputs and any(map(has_own_code, models))
        found = session.ledger.find_each([version_key(key, n) for key in keys for n in (1, 2)], or_fix)
        key = str(found[0].key) if found else keys[0]
        versions = [record for record in found if record.key in (key, version_key(key, 2))]
        proposal = cls(session, key, versions, is_anew)
        if len(versions) > 1:
            proposal._add_versions(versions)
        if found and is_anew:
            warn_user(
                "A question is asked, and paid for, again: its model has code of its own, so only public "
                "rows can show whether it is the same. Give validation rows: guess_from=(X_val, y_val).",
                once=("asked anew", session.fingerprint),
            )
        return proposal

    @property
    def is_answered(self) -> bool:
        """Whether the answer on record is returned without a look."""
        return bool(self.versions) and self.session.policy.is_private and not self.is_anew

    def charge(self, outputs: OutputSummary, decide: Decide, entry: dict[str, Any], secret: bytes) -> Record:
        """Return the record with these outputs; if there is none, record what ``decide`` returns.

        Where privacy certifies nothing is compared.

        Parameters
        ----------
        outputs : OutputSummary
            What the model says on the holdout.
        decide : callable
        entry : dict
            Purpose, metric and asker, for the record of a comparison.
        secret : bytes
            The ledger's.
        """
        session, compared, versions = self.session, 0, [*self.versions]
        while True:  # until nobody else has recorded a version since the comparison
            if session.policy.is_private:
                same = versions[0] if versions and not self.is_anew else None
            else:
                same = self._confirmed(outputs, versions[compared:], entry, secret)
            if same is not None:
                return same
            compared = len(versions)
            name = version_key(self.key, compared + 1)
            summary = outputs.sealed(session.sealing_key(name, secret))
            record = session.charge(name, functools.partial(decide, name, summary))
            if record.fresh:
                return record
            self._add_versions(versions)

    def _confirmed(
        self, outputs: OutputSummary, versions: list[Record], entry: dict[str, Any], secret: bytes
    ) -> Record | None:
        """Return the version with these outputs, or None; recorded and paid for either way.

        Where no version keeps outputs, nothing is compared, and nothing revealed.
        """
        kept = [(record, kept_outputs(record.body)) for record in versions]
        comparable = [(record, before) for record, before in kept if before is not None]
        if not comparable:
            return None
        agree = (
            number
            for number, (record, before) in enumerate(comparable)
            if outputs.agrees_with(before, self.session.sealing_key(str(record.key), secret))
        )
        same, numbers = next(agree, None), [record.seq for record, _ in comparable]
        asked = {name: entry[name] for name in ("purpose", "metric", "who", "label", "time")}
        self.session.charge(None, lambda state: ConfirmationRecord.of(state, numbers, same, asked))
        return None if same is None else comparable[same][0]

    def _add_versions(self, versions: list[Record]) -> None:
        """Append versions that are recorded since; the others never change."""
        while record := self.session.ledger.find(version_key(self.key, len(versions) + 1)):
            versions.append(record)


def version_key(key: str, number: int) -> str:
    """Return the key of the ``number``-th question, counted from 1, that has the same identity.

    Examples
    --------
    >>> version_key("a1", 1), version_key("a1", 2), first_version("a1 version 2")
    ('a1', 'a1 version 2', 'a1')
    """
    return key if number == 1 else f"{key} version {number}"


def first_version(key: str) -> str:
    """Return the key of the first question that has the identity of this one."""
    return key.split(" version ")[0]
