"""A holdout that models are asked about, the ledger that keeps count, and what is between the two.

Where to go, from the top down:

- `holdout` has the class that users call.
- `report` is what people see: what was asked and answered, certificates to hand over, the outlook.
- `asking` takes a question from asking to answer. All but the answer is fixed before the holdout is looked
  at; the ledger's records so far decide whether it is admitted; the model predicts the holdout's rows; what
  came of it is recorded and paid for, and only then returned.
- `changing_rows` is about rows that are shuffled, appended, dropped or relabelled under one ledger.
- `session` holds the rows, the policy, the ledger and the asker together.
- `questions` has a module for each mechanism that answers, `models` what is asked about, and how it is known
  again.
- `records` has a class for each kind of record, and the state that they add up to.
- `rows` are the holdout's rows themselves, `terms` what is fixed for all questions.

Words used throughout:

question
    A fitted model, a metric and a *guess*, the metric's value as estimated without the holdout, from
    validation rows. Its *purpose* is one of two: a *check* says coarsely whether the guess holds, a *certify*
    gives the value itself, for a model that is kept.
ledger
    An append-only log of everything that was ever asked of one holdout. Its first record, the *genesis*,
    says what may not change later. The *conversation* is the state that the records add up to.
symbol, code, nat
    What leaves the holdout is a *symbol*, one of countably many outcomes, mostly an integer. A *code* fixes
    the probability p of each outcome beforehand; a symbol then costs ``-ln p`` *nats*, the unit of
    information with natural logarithms. Its *stream* says which code it belongs to. L is the sum of all
    nats spent; the larger it is, the wider are later intervals.
cell
    An interval of values, ``2 * half_cell`` wide, that are not told apart. Cell 0 is centred at the guess, so
    "the guess holds" is symbol 0 and costs little. Another cell is a *surprise* and costs several nats.
share
    The part of the failure probability ``1 - confidence_level`` that one question may use
    (`terms.failure_budget`).
confirmation
    A question that is asked again is found by digests, which only propose that it is the same. The model
    predicts the holdout once more, and whether it says what is recorded is a symbol with a price
    (`asking.confirm`).
sealed
    Said of a value of which the cell was told when it was asked, and which is kept, hidden, in its record. To
    *unseal* it is to tell it later, at the failure probability of its asking. The *final* answer is the one
    that is published, with most of what is left in the *purse*, from which all questions take their weights.
round
    Questions that are all fixed before any of them is answered, such as the candidates of one search.
route
    The theory behind an interval: description length, which counts nats, or differential privacy, which adds
    noise to answers and bounds what they reveal with a *transfer theorem*.
unit
    An *independent unit* is what intervals count: a record, or a group of records. A *privacy unit*
    (`sklearn_ada.accounting.zcdp_filter.Unit`) is what one has to replace to get a neighbouring data set: a
    record, or one of several disjoint subsamples.
verdict
    The word that says what came of a question, such as "agrees" or "refused".
vacuous
    Said of an interval that holds everything the metric can be.
"""

from sklearn_ada.holdout.asking.ask import put_question
from sklearn_ada.holdout.asking.own_interval import check_defined, why_no_interval
from sklearn_ada.holdout.asking.plan import plan_question
from sklearn_ada.holdout.asking.publishing import publish
from sklearn_ada.holdout.asking.rounds import open_round
from sklearn_ada.holdout.asking.worst_question import is_told_in_cells, worst_question
from sklearn_ada.holdout.changing_rows.check_overlap import check_hashes
from sklearn_ada.holdout.changing_rows.finding import leave_other, place_of_rows
from sklearn_ada.holdout.changing_rows.sides import check_sides, check_unchanged, held_before
from sklearn_ada.holdout.holdout import Holdout, Scoring, headline_of, session_of
from sklearn_ada.holdout.models.checks import discarded_copy
from sklearn_ada.holdout.models.keys import model_digest, subject_key
from sklearn_ada.holdout.models.predictions import Predictions
from sklearn_ada.holdout.questions.filled import FILL
from sklearn_ada.holdout.questions.guess import (
    Guess,
    guess_from_rows,
    median_guess_from_rows,
    metric_of_all_rows,
    metric_with_range,
)
from sklearn_ada.holdout.questions.ladder import LadderSettings
from sklearn_ada.holdout.questions.medians.median_settings import MedianSettings
from sklearn_ada.holdout.questions.thresholdout import NoiseSettings
from sklearn_ada.holdout.report.notices import (
    certifies_nothing,
    is_chosen,
    median_notice,
    too_few_rows,
    warn_if_vacuous,
    why_vacuous,
)
from sklearn_ada.holdout.report.report import HoldoutReport
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.rows.overlap import row_hashes
from sklearn_ada.holdout.session.closing import close_round
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.asker import check_name
from sklearn_ada.holdout.terms.policy import check_answers, check_promise

__all__ = [
    "FILL",
    "Guess",
    "Holdout",
    "HoldoutData",
    "HoldoutReport",
    "LadderSettings",
    "MedianSettings",
    "NoiseSettings",
    "Predictions",
    "Scoring",
    "Session",
    "certifies_nothing",
    "check_answers",
    "check_defined",
    "check_hashes",
    "check_name",
    "check_promise",
    "check_sides",
    "check_unchanged",
    "close_round",
    "discarded_copy",
    "guess_from_rows",
    "headline_of",
    "held_before",
    "is_chosen",
    "is_told_in_cells",
    "leave_other",
    "median_guess_from_rows",
    "median_notice",
    "metric_of_all_rows",
    "metric_with_range",
    "model_digest",
    "open_round",
    "place_of_rows",
    "plan_question",
    "publish",
    "put_question",
    "row_hashes",
    "session_of",
    "subject_key",
    "too_few_rows",
    "warn_if_vacuous",
    "why_no_interval",
    "why_vacuous",
    "worst_question",
]
