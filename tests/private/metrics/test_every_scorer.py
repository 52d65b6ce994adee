"""Every scorer of scikit-learn, at four kinds of holdouts: certified on its own value, or refused by name.

No answer is a median over subsamples, which is another quantity, unless the user has written that it may be.
"""

import warnings

import numpy as np
import pytest
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import GridSearchCV

from sklearn_ada import Holdout, Metric, ReusableHoldoutCV
from sklearn_ada.metrics.base import SCORERS

REFUSED = {name for name, each in SCORERS.items() if each.is_refused}
NO_INTERVAL = {
    name: each.reason
    for name, each in SCORERS.items()
    if not (each.value_is_enough or each.of_all_rows or each.is_refused)
}
THREE_CLASSES = {"top_k_accuracy", "f1_macro", "f1_weighted", "jaccard_macro", "roc_auc_ovr", "roc_auc_ovo"}
N = 600
KINDS = {
    "independent rows": {"class_mix": "priced"},
    "at the class mix": {},
    "weighted": {"sample_weight": np.tile([1.0, 2.0, 0.5], N)[:N]},
    "grouped": {"groups": np.arange(N) // 2},
}
KINDS_OF_ROWS = [pytest.param(k, marks=[pytest.mark.thorough] * (k != "at the class mix")) for k in KINDS]
ALIKE, COUNTS = "records that count alike", "known class counts"


def task_of(name):
    if name in SCORERS and SCORERS[name].response.target == "numbers":
        return "numbers"
    return "three" if name in THREE_CLASSES else "two"


def on_rows(name, model, X, y, kind):
    """Return scikit-learn's value on the holdout's rows, with their weights if they have any."""
    weight = KINDS[kind].get("sample_weight")
    return get_scorer(name)(model, X, y, **({} if weight is None else {"sample_weight": weight}))


@pytest.mark.parametrize("kind", KINDS_OF_ROWS)
@pytest.mark.parametrize("name", [name for name in get_scorer_names() if name not in REFUSED])
def test_a_scorer_is_certified_on_its_own_value_or_refused_with_the_reason(name, kind, tasks, tmp_path):
    model, guess_rows, (X, y) = tasks[task_of(name)]
    if kind == "independent rows" and task_of(name) == "numbers":
        kind = "at the class mix"  # of numbers it is the same
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db", **KINDS[kind])
    answer, refusal = None, ""
    try:
        answer = holdout.certify(model, scoring=name, guess_from=guess_rows)
    except ValueError as error:
        refusal = str(error)
    if answer is None:
        assert any(why in refusal for why in (NO_INTERVAL.get(name, ALIKE), ALIKE, COUNTS, "a mean"))
        assert not holdout.report().answers
        if kind == "at the class mix":
            assert f"Got '{name}' instead. It {NO_INTERVAL[name]}" in refusal
            assert "answers the median over subsamples instead" in refusal
        return
    assert name not in NO_INTERVAL
    assert "median" not in answer.certificate.theorem
    target = answer.certificate.target
    assert target.startswith((f"population {name}", f"expected {name}", f"{name} expected")), target
    plain = on_rows(name, model, X, y, kind)
    slack = 0.1 * (answer.interval[1] - answer.interval[0])
    if "clipped" in target:  # some rows may be: the others' errors are the smaller ones
        assert plain - slack <= answer.value <= plain + 0.15 * abs(plain) + slack
        return
    assert answer.interval[0] <= plain <= answer.interval[1]
    assert answer.value == pytest.approx(plain, abs=slack)


@pytest.mark.thorough
@pytest.mark.parametrize("ask", ["winner", "candidates"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in get_scorer_names() if name not in REFUSED])
def test_a_search_certifies_it_or_says_why_not(name, kind, ask, tasks, tmp_path):
    model, _, (X, y) = tasks[task_of(name)]
    if kind == "independent rows" and task_of(name) == "numbers":
        kind = "at the class mix"
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db", **KINDS[kind])
    _, (X_fit, y_fit), _ = tasks[task_of(name)]
    search = GridSearchCV(model, {"tol": [1e-3, 1e-4]}, scoring=name)
    found, refusal = None, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = ReusableHoldoutCV(search, holdout=holdout, ask=ask).fit(X_fit, y_fit)
        except ValueError as error:
            refusal = str(error)
    if found is None:
        reasons = (NO_INTERVAL.get(name, ALIKE), ALIKE, COUNTS, "no finite range", "ask='winner'")
        assert any(why in refusal for why in reasons), refusal
        assert not holdout.report().answers
        return
    assert "median of" not in found.best_score_target_
    assert name in found.best_score_target_


@pytest.mark.thorough
def test_the_median_answers_where_it_is_written(tasks, tmp_path):
    model, guess_rows, (X, y) = tasks["two"]
    holdout = Holdout(X, y, ledger=tmp_path / "ledger.db")
    written = Metric("rand_score", kind="general")
    answer = holdout.certify(model, scoring=written, guess_from=guess_rows)
    assert answer.certificate.target.startswith("median of rand_score")
