"""A digest proposes, the holdout confirms, at a price.

A question that is asked again has the key of the first time. That is only a proposal: a model's digest cannot
see weights in a file, names that ``eval`` looks up or a patched library, and another model with the same
digest must not get the first one's answer. So the model predicts the holdout once more, and what it says is
compared with what the record keeps of it (`models.said`). The outcome is a symbol with a price, for it
would tell an asker who makes models that differ on one chosen row whether that row is in the holdout:

- "the same" is nearly free if few differed before, .001 nats the first time and less than .05 nats for a
  thousand times; after one that differed, .1 nats and then less. The answer is the recorded one.
- "different" costs 7 nats the first time, and more if there were many that were the same. It is a new
  question then, recorded as another version of the key and admitted as any other. If that is refused,
  "different" is paid for nevertheless.

Whoever asks a third time is compared with all versions that there were before the look at once (with those
that somebody else has recorded since, in a further comparison), and told which of them, if any: "the same
or different" is one symbol, and which of k versions it is, another: of ``ln k`` nats the first time, less for
a version that comes again and again. "The same or different" is learnt apart from that of proposals with one
version: a model which predicts at random, a new version each time, counts there as one that was different,
however often it is asked. The comparison is never refused: earlier records alone decide that it is made, and
its price is the same whatever the tolerance.

The proof is that of every symbol: which records there are to compare with, and so what may be said, is fixed
by the transcript before the look, and the code gives all outcomes together a mass of at most 1.

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
from typing import Any

from sklearn_ada._notices import warn_user
from sklearn_ada.holdout.models.keys import version_key
from sklearn_ada.holdout.models.own_code import has_own_code
from sklearn_ada.holdout.models.said import Said
from sklearn_ada.holdout.records.base import LedgerRecord
from sklearn_ada.holdout.records.confirmation import ConfirmationRecord
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.ledger import Record

__all__ = ["charge_or_confirm", "is_asked_anew", "warn_of_asking_anew"]


def charge_or_confirm(
    session: Session,
    key: str,
    said: Said,
    decide: Callable[[str, str, Conversation], LedgerRecord],
    asked: dict[str, Any],
    *,
    found: Sequence[Record],
    anew: bool = False,
) -> Record:
    """Return the record whose model said this; if there is none, record what ``decide`` returns.

    Where privacy certifies nothing is compared.

    Parameters
    ----------
    session : Session
    key : str
        What the digests make of the question.
    said : Said
        What the model says on the holdout.
    decide : callable
        Takes the key of the version that is recorded, the summary to be kept in it, and the state.
    asked : dict
        Purpose, metric and asker, for the record of a comparison.
    found : sequence of Record
        The versions that were found before the look (`find_versions`).
    anew : bool, default=False
        Whether it is a new question in any case (see `is_asked_anew`).
    """
    compared, versions = 0, list(found)
    while True:  # until nobody else has recorded a version since the comparison
        if session.policy.is_private:
            same = versions[0] if versions and not anew else None
        else:
            same = _confirmed(session, said, versions[compared:], asked)
        if same is not None:
            return same
        compared = len(versions)
        name = version_key(key, compared + 1)
        sealed = said.sealed(session.sealing_key(name))
        record = session.charge(name, functools.partial(decide, name, sealed))
        if record.fresh:
            return record
        _add_versions(versions, session, key)


def find_versions(
    session: Session, keys: Sequence[str], otherwise: Callable[[Conversation], object] | None = None
) -> list[Record]:
    """Return all versions of the first of these keys that has any; if none has, call ``otherwise(state)``."""
    names = [version_key(key, number) for key in keys for number in (1, 2)]
    found = session.find_each(names, otherwise)
    if not found:
        return []
    key = str(found[0].key)
    versions = [record for record in found if record.key in (key, version_key(key, 2))]
    if len(versions) > 1:
        _add_versions(versions, session, key)
    return versions


def is_asked_anew(session: Session, models: Sequence[Any], outputs: str = "") -> bool:
    """Return whether a question is a new one each time, as privacy certifies and nothing public confirms it.

    Parameters
    ----------
    session : Session
    models : sequence of estimators
    outputs : str, default=""
        Digest of their outputs on the rows of the guess; empty if there are no such rows.
    """
    return session.policy.is_private and not outputs and any(map(has_own_code, models))


def warn_of_asking_anew(session: Session, what: str) -> None:
    """Warn that a question which was asked before is paid for again."""
    warn_user(
        "A question is asked, and paid for, again: its model has code that is no installed library's, so its "
        "digest does not tell whether it is the same, and where privacy certifies only public rows can. "
        f"{what}",
        once=("asked anew", session.fingerprint),
    )


def _add_versions(versions: list[Record], session: Session, key: str) -> None:
    """Append what else is recorded under a proposal to the versions that are known, which never change."""
    while (record := session.find(version_key(key, len(versions) + 1))) is not None:
        versions.append(record)


def _confirmed(session: Session, said: Said, versions: list[Record], asked: dict[str, Any]) -> Record | None:
    """Return the version whose model said this, or None; recorded and paid for either way.

    Where no version keeps what was said, nothing is compared, and nothing told.
    """
    comparable = [record for record in versions if "said" in record.body]
    if not comparable:
        return None
    agree = (
        number
        for number, record in enumerate(comparable)
        if said.agrees_with(record.body["said"], session.sealing_key(str(record.key)))
    )
    same = next(agree, None)
    numbers = [record.seq for record in comparable]
    session.charge(None, lambda state: ConfirmationRecord.of(state, numbers, same, asked))
    return None if same is None else comparable[same]
