"""What is asked of two models: how much better the second is than the first, on the rows of the holdout.

The difference is the metric of one question (`metrics.metric.Difference`), about two models as one
(`models.Pair`). So it is framed, answered, sealed and published like any certify.

*Without a guess* nothing is foreseen, and the answer would be exact at once. If both models were asked about
by the same metric, their guesses stand in the ledger; their difference is then the guess. It is worth as many
rows as the lesser of the two, and a row's difference is taken to vary as if the two scores had nothing to do
with each other, which is more than it does of models that mostly agree.

*One model twice* has a difference of 0, whatever the rows are: nothing is asked, recorded or paid for. That
both are one is certain of one object, of predictions that are equal, and of models with one digest that have
no code but that of installed libraries. Others are asked about.

*The kept model* is the one that others have to beat. A ledger holds its digest and the number of the record
in which it was asked about, and no model: that is remembered by the process that kept it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from sklearn_ada._notices import warn_user
from sklearn_ada._validation import bad_parameter
from sklearn_ada.accounting.events import KEEPS
from sklearn_ada.answer import OF_TWO, Answer, Certificate, Cost
from sklearn_ada.digest.code import has_own_code
from sklearn_ada.holdout.framing import DRAWN, Ask, is_pair, tuned_by_rows
from sklearn_ada.holdout.records import KeepRecord, Key, read_value
from sklearn_ada.holdout.session import Session
from sklearn_ada.metrics.metric import Difference, Metric
from sklearn_ada.questions.question import Guess, as_guess
from sklearn_ada.terms.models import (
    Pair,
    Subject,
    discarded_copy,
    is_lasting,
    lasting_identity,
    model_digest,
    name_of_model,
    subject_key,
)
from sklearn_ada.terms.predictions import check_predictions, on_these_rows

_OWNER = "Holdout.compare"
_models: dict[str, tuple[str, Any]] = {}  # that were kept, with their digests, by the holdout's fingerprint


def comparison(
    session: Session, subject: Subject, metric: Metric, guess: float | Guess | None, rows: Any, drawn: bool
) -> Ask:
    """Return what is asked of two models: the certify of a difference; see `Holdout.compare`."""
    policy = session.policy
    if not policy.is_described:
        fix = "A difference is released without noise, which privacy alone cannot certify."
        raise bad_parameter("route", _OWNER, "one that description length certifies", policy.route, fix)
    of_both = not metric.suggests_range  # else it is that of a search's winner
    pair = (subject.estimator.a, subject.estimator.b)
    if subject.is_given:
        check_predictions(metric, _OWNER)
    if metric.lacks_range and metric.measure.has_differences and is_pair(rows):  # else `guess_from` refuses
        found = [tuned_by_rows(session, discarded_copy(one, _OWNER), metric, rows, _OWNER) for one in pair]
        ranges = [each.range for each in found if each.range is not None]
        metric = metric.with_range((min(low for low, _ in ranges), max(high for _, high in ranges)))
        metric.most_beyond = found[0].most_beyond
    difference = Difference(metric, of_both)
    session.data.measure_of(difference.base)  # what has no interval here has no difference either
    if guess is None and rows is None:
        guess = _guess_on_record(session, pair, metric, difference)
    if policy.seals_all and (policy.format < 3 or (guess is None and rows is None)):
        warn_user(
            "Without guess_from= the difference of two models is released at once, for some ten nats or "
            "more: all later intervals of this ledger become wider. Give rows that neither was trained on, "
            "or guess=0.0.",
            once=("compare", session.fingerprint),
        )
    asked = Ask(subject, difference, "certify", guess, rows, drawn=drawn)
    return _mirrored(session, asked) if is_lasting(policy) and of_both else asked


def difference_of_one(session: Session, subject: Subject, metric: Metric) -> Answer | None:
    """Return the answer about one model twice, of which nothing is recorded; None of two models."""
    a, b = subject.estimator.a, subject.estimator.b
    if not (metric.measure.has_differences and session.policy.is_described):
        return None  # `comparison` says why
    if a is not b:
        digests = {model_digest(each, session.data, session.policy) for each in (a, b)}
        if len(digests) > 1 or (not subject.is_given and any(map(has_own_code, (a, b)))):
            return None
    genesis, name = session.genesis, f"{metric.name}{OF_TWO}"
    target = on_these_rows(name) if subject.is_given else f"population {name}"
    theorem, reason = "none is needed", "both models are one, so nothing was asked"
    certificate = Certificate(theorem, genesis.confidence_level, -math.inf, target, (), False)
    return Answer(0.0, (0.0, 0.0), "exact", Cost(0.0), certificate, 0, reason=reason)


def keep_model(session: Session, model: Any, digest: str, number: int | None) -> None:
    """Record that a model is kept from now on, unless it is already, and remember it in this process."""
    if session.policy.format < KEEPS:
        fix = "Pass the model itself to compare(), or as compare_with=; or keep it on a new ledger."
        expected = f"one of format {KEEPS}, as this release begins it"
        raise bad_parameter("ledger", "Holdout.keep", expected, session.policy.format, fix)
    _models[session.genesis.fingerprint] = digest, discarded_copy(model, "Holdout.keep")
    times, kept = session.ledger.read(lambda state: state.kept)
    if kept != digest:
        name, stamp = name_of_model(model), session.asker.stamp()
        record = KeepRecord(digest=digest, model=name, number=number, **stamp)
        session.charge(Key.kept(times, digest), lambda state: record)


def kept_model(session: Session) -> Any:
    """Return the model that is kept; None if none is. LookupError if another process kept it."""
    _, digest = session.ledger.read(lambda state: state.kept)
    if digest is None:
        return None
    mine, model = _models.get(session.genesis.fingerprint, (None, None))
    if mine != digest:
        raise LookupError("The ledger holds its digest alone, and another process kept it")
    return model


def is_kept(session: Session, model: Any) -> bool:
    """Return whether a model is the one that is kept."""
    _, digest = session.ledger.read(lambda state: state.kept)
    return digest is not None and digest == model_digest(model, session.data, session.policy)


def number_on_record(session: Session, digest: str, metric: Metric) -> int | None:
    """Return the number of the record in which a model was asked about; None if it was not."""
    found = _found(session, digest, metric)
    return None if found is None else int(found.seq)


def _guess_on_record(
    session: Session, pair: tuple[Any, Any], metric: Metric, difference: Difference
) -> Guess | None:
    """Return the difference of the guesses with which both models were asked; None if one was not."""
    if not (session.policy.seals and is_lasting(session.policy)):
        return None
    a, b = (_guess_of(session, model_digest(each, session.data, session.policy), metric) for each in pair)
    if a is None or b is None:
        return None
    sizes = [each.size for each in (a, b) if each.size is not None]
    spreads = [each.deviation for each in (a, b) if each.deviation is not None]
    deviation = math.hypot(*spreads) if len(spreads) == 2 and not metric.measure.counts else None
    low, high = difference.bounds  # which the errors of one of them may exceed
    return Guess(min(max(b.value - a.value, low), high), min(sizes, default=None), deviation)


def _guess_of(session: Session, digest: str, metric: Metric) -> Guess | None:
    """Return the guess with which a certify of a model is on record; None if none is."""
    found = _found(session, digest, metric)
    guess = {} if found is None else read_value(found).guess
    return Guess(**guess) if guess else None


def _found(session: Session, digest: str, metric: Metric) -> Any:
    """Return a record of a certify of what has this digest, with a value or sealed; None if there is none."""
    data, identity = session.data, lasting_identity(metric, session.data)
    names = [f"{name}{end}" for name in ("certify", "sealed") for end in ("", DRAWN)]
    keys = (subject_key(digest, identity, name, data.first_like) for name in names)
    return next((found for key in keys if (found := session.ledger.find_subject(key)) is not None), None)


def _mirrored(session: Session, asked: Ask) -> Ask:
    """Return a comparison as it is; if only that of the models the other way round is on record, that.

    A difference and its negation are one number.
    """
    data, metric, pair = session.data, asked.metric, asked.subject.estimator
    if _found(session, asked.subject.digest, metric) is not None:
        return asked
    turned = Pair(pair.b, pair.a)
    digest = model_digest(turned, data, session.policy)
    other = replace(asked.subject, estimator=turned, digest=digest, name=name_of_model(turned))
    if _found(session, other.digest, metric) is None:
        return asked
    guess = as_guess(asked.guess, metric, asked.subject.owner)
    negated = None if guess is None else replace(guess, value=-guess.value)
    rows = asked.guess_from
    if asked.subject.is_given and is_pair(rows) and is_pair(rows[0]):  # of both models
        rows = rows[0][::-1], rows[1]
    return replace(asked, subject=other, guess=negated, guess_from=rows, is_mirrored=True)
