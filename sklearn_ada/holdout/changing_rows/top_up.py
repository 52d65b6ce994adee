"""Adding fresh rows to a holdout: the sample grows, and what was revealed about it goes on counting.

Theorem. Let the records of a holdout be the first n of an endless sequence of independent draws, and let a
conversation, whenever it likes, raise n: when and by how much may depend on every answer so far, which
records come next may not. Let each question speak of the first n records, n as it is when the question is
asked. If no top-up resets the nats L and the weights pi, then with probability at least ``1 - beta``, for all
questions before and after every top-up at once, the fixed-question interval at
``delta = beta * pi * exp(-L)`` holds.

Proof. Condition on all randomness other than the records. As in `guarantees.description_length.theorem`
the conversation is a tree whose nodes are transcripts. A top-up reveals nothing about the records, so it is a
part of the transcript with one continuation, and each node still fixes, before any record is seen, both its
question and its n; a fixed-question interval about the first n records holds at any fixed n. The union bound
over all nodes is the same sum, at most ``beta * E_code[sum pi] <= beta``.

So every old interval stays valid, and all old and new ones hold together. L must not start again from 0: what
was asked depends on the old rows, which are still among the rows. A round that was open is closed, because
its questions were fixed for the old rows.

*Rows known by ids.* Other changes are nodes of the same tree, under assumptions that later certificates name.
Let each record be drawn with everything that will ever be said of it: whether it is left out, and the label
that it is given in the end. Records are still independent draws.

- *Missing* rows. If the rule that leaves a record out looks at nothing but the record's own id and features
  (not at its label, and at no prediction), the records that stay are independent draws of those that such a
  rule leaves, and how many there are is fixed once it is known which. A question after that is one about
  them, fixed before any of their labels is seen but through the transcript, whose nats count.
- *Relabelled* rows. If labels are corrected by a rule that looks at no prediction, the corrected label is a
  part of the record from the start; when it is corrected must not depend on the records, or each opening
  before would tell that it was not yet. A question before is a function of the old labels, one after of the
  new. That labels differ is itself told about the records, and is paid for:
  ``-ln d`` nats each time (d = .01). That they do not is told as often as somebody tries, so ``-ln(1 - d)``
  is paid in advance, with the record of each set of rows: whoever tries labels of these until they are the
  right ones ends after some j of them, and ``(1 - d) sum_j d^(j-1) = 1``. Where M labellings of the same ids
  are recorded, any of them may be the right one, so the M-th pays ``ln M`` more: with S_M the sum over all
  ends of trying until M are found, ``S_M = M S_(M-1) + d S_M``, thus ``M! / (1 - d)^M``, and what was paid
  in advance is ``-ln((1 - d)^M / M!)``. Nothing is told for nothing: whether labels are compared, recorded or
  refused depends on ids alone.
- *Back* to the rows and labels of an earlier edition: one more change, which costs and assumes nothing more.
  The function is that of the edition, which was fixed before, and the nats of all that was revealed in
  between count. Which edition a question is about is a part of the transcript.

In each case old and new intervals hold together by the same union bound: it is over questions, each of them a
fixed function of independent records, whichever function that is. Where one opening finds rows missing,
others relabelled and others new, these are three changes in this order, with no question between them.
Changes of rows are refused, as top-ups are, where the guarantee is for one set of rows: with a privacy
budget, or with class counts that were paid for; and rows are neither added nor missing with groups or
weights.

A question after a change is a new one. It has a weight of its own, 1 / (j (j + 1)) for the j-th where no
number of questions is expected, and pays for all that was revealed before.

With fresh rows alone one can make a new holdout instead, with a ledger of its own and L = 0. Its intervals
hold at its own confidence level; those of both holdouts together fail with the sum of the failure
probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_ada._checks import bad_parameter
from sklearn_ada.exceptions import BudgetExhaustedError, LedgerMismatchError
from sklearn_ada.holdout.changing_rows.changed_rows import as_edition, editions_of, has_ids_of
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.records.labels import LabelsRecord
from sklearn_ada.holdout.records.top_up import TopUpRecord
from sklearn_ada.holdout.rows.data import HoldoutData
from sklearn_ada.holdout.session.session import Session
from sklearn_ada.holdout.terms.policy import Policy
from sklearn_ada.metrics.data.rows import stack_rows

__all__ = ["is_known", "pooled", "with_top_up"]

_OWNER = "Holdout.top_up"


def pooled(
    data: HoldoutData, policy: Policy, X: Any, y: Any, ids: NDArray[np.bytes_] | None = None
) -> HoldoutData:
    """Return the data of a holdout with more rows below them.

    Raises
    ------
    ValueError
        If the rows cannot be part of one table with the holdout's, or its guarantee is for one size only.
    """
    if (ids is None) != (data.ids is None):
        known = "the ids of the rows to be added" if ids is None else "None for a holdout without ids"
        raise bad_parameter("ids", _OWNER, known, None if ids is None else "ids")
    fix = "Make a holdout of the new rows alone, with a ledger of its own."
    if policy.route != "description_length":  # a privacy budget is chosen for one number of records
        raise bad_parameter(
            "route", "Holdout", "'description_length' for rows to be added", policy.route, fix
        )
    if policy.class_mix == "priced":  # the counts of the new rows have not been paid for
        raise bad_parameter(
            "class_mix", "Holdout", "'conditional' for rows to be added", policy.class_mix, fix
        )
    if data.units is not None:  # a group must not lie in both parts, and a mean weight is released once
        raise bad_parameter(
            "sample_weight",
            "Holdout",
            "None, as groups and weight_bound, for rows to be added",
            "one of them",
            fix,
        )
    more = HoldoutData(X, y)
    every = None
    if ids is not None and data.ids is not None:
        every = np.concatenate([data.ids, ids])
        if len(np.unique(every)) < len(data) + len(more):
            raise bad_parameter("ids", _OWNER, "of new rows, and each of one row", "ids that occur before")
    try:
        rows = stack_rows(data.X, more.X)
    except ValueError as error:
        raise bad_parameter("X", _OWNER, "like the holdout's X", type(X).__name__, f"{error}.") from error
    if (data.y.dtype.kind in "biuf") != (more.y.dtype.kind in "biuf"):
        raise bad_parameter("y", _OWNER, "of the same type as the holdout's y", f"dtype {more.y.dtype}")
    whole = HoldoutData(rows, np.concatenate([data.y, more.y]), ids=every)
    if whole.is_classification != data.is_classification:
        kinds = {True: "classes", False: "numbers"}
        raise bad_parameter(
            "y",
            _OWNER,
            f"{kinds[data.is_classification]}, as the holdout's y",
            kinds[whole.is_classification],
        )
    whole.top_ups = whole.first_like = data.top_ups + 1
    return whole


def is_known(session: Session, more: Session) -> bool:
    """Return whether rows of these ids were added to the holdout of a session before; nothing is recorded.

    By ids alone: if their labels are others, `with_top_up` records it, at its price.

    Raises
    ------
    LedgerMismatchError
        If other rows were added to it in their place.
    """
    if session.data.ids is None:
        return False
    if has_ids_of(more.data.table(more.secret), editions_of(more.ledger)):
        return True
    if session.read(lambda state: state.fingerprint) != session.fingerprint:
        raise LedgerMismatchError(
            "Other rows were added to this holdout, or its rows were changed, since it was opened. Add the "
            "former rows again, which is free, and these to what that returns; or open a Holdout of all rows "
            "together. Nothing was recorded."
        )
    return False


def with_top_up(session: Session) -> Session:
    """Record that the rows of this session are the holdout from now on, and return its session.

    Recording the same rows once more is free and changes nothing. As many rows with other labels are refused
    at the price of other labels: without ids a row is its label.

    Raises
    ------
    LedgerMismatchError
        If other rows were added in this place.
    """
    if session.data.ids is not None:
        return as_edition(session, "raise")  # back to these rows, if a script runs again from its start
    data, fingerprint = session.data, session.fingerprint
    stamp = session.asker.stamp()

    def decide(state: Conversation) -> TopUpRecord:
        if state.closed:
            raise BudgetExhaustedError("The holdout was closed: it takes no more rows.")
        return TopUpRecord.of(state, len(data), fingerprint, stamp)

    recorded = TopUpRecord(session.charge(f"top up {data.top_ups}", decide).body)
    known = recorded.fingerprint
    if known != fingerprint:
        paid = ""
        if recorded.rows == len(data):  # else their number alone tells that they are others
            session.charge(None, lambda state: LabelsRecord.of(state, stamp))
            paid = " That labels are not those is information about the holdout: it cost 4.6 nats."
        raise LedgerMismatchError(
            f"Other rows were added to this holdout before (fingerprint {known[:12]} with them, "
            f"{fingerprint[:12]} with these). Add those again, which is free, and these to what that "
            f"returns.{paid}"
        )
    return session
