"""A scorer that asks a holdout is a mechanism of `ReusableHoldoutCV`; anywhere else in it, it is refused."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV, ThresholdoutScorer
from tests.support.searches import grid

ASKS = ["candidates", "winner", 2]


def inner(**params):
    return grid(values=[1, 2, 3], **params)


@pytest.fixture
def other(rows, tmp_path):
    return Holdout(rows[4], rows[5], ledger=tmp_path / "other.db")


MISPLACED = {
    "search": ("search", lambda s, h: {"search": inner(scoring=s)}),
    "one of several": ("search", lambda s, h: {"search": inner(scoring={"a": s, "b": "f1"}, refit="b")}),
    "its cv": ("search", lambda s, h: {"search": inner(cv=s.cv)}),
    "scoring": ("scoring", lambda s, h: {"scoring": s}),
    "another holdout": ("holdout", lambda s, h: {"mechanism": s, "holdout": h}),
    "a share beside it": ("holdout", lambda s, h: {"mechanism": s, "holdout": 0.3}),
    "another metric": ("scoring", lambda s, h: {"mechanism": s, "scoring": "f1"}),
    "another kind": ("scoring", lambda s, h: {"mechanism": s, "scoring": Metric("accuracy", kind="general")}),
}


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("case", MISPLACED)
def test_a_misplaced_scorer_is_refused_and_charges_nothing(
    case, ask, rows, holdout, other, uncharged, sentence
):
    name, params = MISPLACED[case]
    wrapped = ReusableHoldoutCV(inner(), ask=ask).set_params(
        **params(ThresholdoutScorer("accuracy", holdout), other)
    )
    with uncharged(holdout), uncharged(other), pytest.raises(ValueError, match=sentence(name)):
        wrapped.fit(rows[0], rows[1])


def test_the_refusal_names_the_way(rows, holdout, wrap):
    scorer = ThresholdoutScorer("accuracy", holdout)
    with pytest.raises(ValueError, match="scoring='accuracy', and pass mechanism=scorer"):
        wrap(inner(scoring=scorer)).fit(rows[0], rows[1])


@pytest.mark.parametrize("ask", ASKS)
def test_the_holdout_and_the_metric_of_the_scorer_may_be_named_again(ask, rows, holdout, wrap):
    params = {"mechanism": ThresholdoutScorer("accuracy", holdout), "holdout": holdout, "scoring": "accuracy"}
    wrapped = wrap(inner(scoring="f1"), ask=ask, **params).fit(rows[0], rows[1])
    assert wrapped.holdout_ is holdout
    assert "accuracy" in wrapped.best_answer_.certificate.target


@pytest.mark.parametrize("ask", ASKS)
def test_one_function_of_several_scores_cannot_be_certified_by_thresholdout(
    ask, rows, holdout, uncharged, wrap
):
    wrapped = wrap(inner(scoring=several, refit="acc"), ask=ask, holdout=holdout, mechanism="thresholdout")
    with uncharged(holdout), pytest.raises(ValueError, match=r"several.*stable median"):
        wrapped.fit(rows[0], rows[1])


def test_with_a_metric_to_certify_it_ranks_the_candidates(rows, holdout, wrap):
    wrapped = wrap(inner(scoring=several, refit="f1"), holdout=holdout, scoring="accuracy")
    wrapped.fit(rows[0], rows[1])
    assert wrapped.best_index_ == np.argmax(wrapped.cv_results_["mean_test_f1"])
    assert wrapped.best_answer_.answered


def several(model, X, y):
    predicted = model.predict(X)
    return {"acc": accuracy_score(y, predicted), "f1": f1_score(y, predicted)}
