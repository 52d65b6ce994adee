"""The holdout, its ledger, and what lies between the two.

Where to go, from the top down:

- `holdout` has the class that users call.
- `framing` makes a question of what they ask, in which all but the answer is fixed, and the keys by which it
  is found again.
- `asking` takes a question to its answer. The ledger's records so far decide whether it is admitted; the
  model predicts the holdout's rows; what came of it is recorded and paid for, and only then returned. A
  question that is on record already is confirmed.
- `looking` guards a look at the rows: nothing leaves it that was not paid for. `advice` warns of answers that
  are worth less than they look.
- `rounds` asks many questions at once, `choice` chooses among models, `publishing` releases final values,
  `unsealing` sealed ones.
- `changes` is about rows that are shuffled, appended, dropped or relabelled under one ledger.
- `finding` says which ledger is that of some rows.
- `session` holds the rows, the policy, the ledger and the asker together.
- `records` has a class for each kind of record, `state` what they add up to.
- `report` and `certificate` are what people see: what was asked and answered, the outlook, pages to hand
  over.

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
    An interval of values, ``2 * half_cell`` wide, that have one answer. Cell 0 is centred at the guess, so
    "the guess holds" is symbol 0 and costs little. Another cell is a *surprise* and costs several nats.
stake
    The part pi of the purse that a question takes.
allowance
    What one question may use of the failure probability ``1 - confidence_level``: less than its stake, by
    what was revealed before (`terms.policy.Allowance`).
confirmation
    A question that is asked again is found by digests, which only propose that it is the same. The model
    predicts the holdout once more, and whether its outputs are those recorded is a symbol with a price
    (`asking.Proposal`).
sealed
    A value is sealed if only its cell was released when it was asked. It is kept, hidden, in its record. To
    *unseal* it is to release it later, at the failure probability of its asking. The *final* answer is the
    one that is published, with most of what is left in the *purse*, from which questions take their stakes.
round
    Questions that are all fixed before any of them is answered, such as the candidates of one search.
route
    The theory behind an interval: description length, which counts nats, or differential privacy, which adds
    noise to answers and bounds what they reveal with a *transfer theorem*.
unit
    An *independent unit* is what intervals count: a row, or a group of rows. A *privacy unit*
    (`sklearn_ada.accounting.filters.Unit`) is what one has to replace to get a neighbouring data set: a
    row, or one of several disjoint subsamples.
verdict
    The word that says what came of a question, such as "agrees" or "refused".
vacuous
    An interval is vacuous if it holds everything the metric can be.
"""

from sklearn_ada.answer import Answer, Certificate, Cost
from sklearn_ada.holdout.holdout import Holdout
from sklearn_ada.holdout.report import HoldoutReport
from sklearn_ada.questions.ladder_check import LadderSettings
from sklearn_ada.questions.noisy import NoiseSettings
from sklearn_ada.questions.question import Guess
from sklearn_ada.questions.stable_median import MedianSettings
from sklearn_ada.terms.predictions import Predictions

__all__ = [
    "Answer", "Certificate", "Cost", "Guess", "Holdout", "HoldoutReport", "LadderSettings", "MedianSettings",
    "NoiseSettings", "Predictions",
]  # fmt: skip
