"""Class counts conditioned on, or paid for."""

import math
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, MedianSettings, ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.guarantees import class_count_nats
from tests.support.ledgers import begun_as


@pytest.mark.parametrize(("n", "n_classes"), [(5, 1), (6, 3), (12, 4)])
def test_the_price_counts_every_way_to_share_out_the_records(n, n_classes):
    def ways(records, classes):
        return 1 if classes == 1 else sum(ways(records - first, classes - 1) for first in range(records + 1))

    assert math.exp(class_count_nats(n, n_classes)) == pytest.approx(ways(n, n_classes))


def test_priced_counts_are_in_the_account_and_the_target_is_the_population(rows, model, tmp_path):
    unseen, answers = "the population has no class of which the holdout has no record", {}
    for class_mix, suffix in (("conditional", " at the holdout's class mix"), ("priced", "")):
        opened = partial(Holdout, *rows[2:], class_mix=class_mix, ledger=tmp_path / class_mix)
        holdout = opened()
        answer = answers[class_mix] = holdout.certify(model, scoring="accuracy", guess=0.8)
        assert opened().report().nats == holdout.report().nats
        assert answer.certificate.target == f"population accuracy{suffix}"
        assert (unseen in answer.certificate.assumptions) == (class_mix == "priced")
    spent = answers["conditional"].certificate.ln_delta - answers["priced"].certificate.ln_delta
    assert spent == pytest.approx(math.log(len(rows[3]) + 1))
    assert answers["priced"].half_width > answers["conditional"].half_width


@pytest.mark.parametrize("mixin", [ClassifierMixin, RegressorMixin])
def test_the_target_is_at_the_class_mix_whatever_kind_the_model_says_it_is(mixin, rows, tmp_path):
    model = type(
        "Model", (mixin, BaseEstimator), {"classes_": [0, 1], "predict": lambda self, X: X[:, 0] > 0}
    )
    answer = Holdout(*rows[2:], ledger=tmp_path / "ledger").certify(model(), scoring="accuracy", guess=0.5)
    assert answer.certificate.target == "population accuracy at the holdout's class mix"


@pytest.mark.parametrize("scoring", ["roc_auc_ovr", "d2_log_loss_score", "f1_macro", "average_precision"])
def test_what_has_no_interval_for_rows_of_one_law_is_refused_for_nothing(scoring, rows, model, tmp_path):
    holdout = Holdout(*rows[2:], class_mix="priced", ledger=tmp_path / "ledger")
    before = holdout.report().nats
    with pytest.raises(ValueError, match=r"class counts .*class_mix='priced'|class_mix='priced' must be"):
        holdout.certify(model, scoring=scoring, guess_from=rows[:2])
    assert holdout.report().nats < before + 1e-5  # of a look whether the rows of the guess are the holdout's


def test_a_median_needs_no_unknown_counts_where_they_are_paid_for(rows, model, tmp_path):
    holdout = Holdout(*rows[2:], class_mix="priced", ledger=tmp_path / "ledger")
    answer = holdout.check(model, scoring="accuracy", guess=0.8, settings=MedianSettings(n_subsamples=10))
    assert "class counts" not in answer.certificate.target


BOUNDED = {"sample_weight": np.ones(250), "weight_bound": 2.0}
PRIVATE = ("differential_privacy", "both")
REFUSED = [
    *(
        ({"class_mix": bad}, "The 'class_mix' parameter .* or a dict of the share")
        for bad in ("free", None, 1)
    ),
    ({"class_mix": "priced", "y": np.linspace(0.0, 1.0, 250)}, "'conditional' where y holds numbers"),
    *(({"class_mix": "priced", "route": route}, "'class_mix' parameter") for route in PRIVATE),
    *(({**BOUNDED, "route": route}, "'weight_bound' parameter") for route in PRIVATE),  # nor a price for it
]


@pytest.mark.parametrize(("parameters", "message"), REFUSED)
def test_class_counts_without_a_meaning_or_a_price_are_refused(parameters, message, rows):
    with pytest.raises(ValueError, match=message):
        Holdout(**{"X": rows[2], "y": rows[3], **parameters})


def test_another_class_mix_is_another_policy_and_where_counts_were_paid_for_no_rows_are_added(rows, tmp_path):
    holdout = Holdout(*rows[2:], class_mix="priced", ledger=tmp_path / "ledger")
    with pytest.raises(LedgerMismatchError, match="class_mix"):
        Holdout(*rows[2:], ledger=tmp_path / "ledger", class_mix="conditional")
    with pytest.raises(ValueError, match="'conditional' for rows to be added"):
        holdout.top_up(*rows[:2])


class Wise(ClassifierMixin, BaseEstimator):
    """Predicts the label that stands in the first column; knows these classes."""

    def __init__(self, classes):
        self.classes_ = np.array(classes)

    def predict(self, X):
        return self.classes_[X[:, 0].astype(int)]


KINDS = {"numbers": [0, 1, 2, 7], "texts": ["a", "b", "c", "z"], "floats": [0.0, 1.0, 2.0, 7.0]}


def few(kind, seen=3, n=60, **policy):
    """A priced holdout in which the last class does not occur."""
    at = np.arange(n) % seen
    classes = np.array(KINDS[kind])
    return Holdout(at[:, None], classes[at], **{"ledger": ":memory:", "class_mix": "priced"} | policy)


@pytest.mark.parametrize("kind", KINDS)
def test_the_price_is_of_all_classes_that_may_occur_and_the_first_record_names_them(kind, tmp_path):
    opened = partial(few, kind, ledger=tmp_path / "ledger.db")
    holdout = opened(classes=KINDS[kind][::-1])
    assert holdout.report().nats == pytest.approx(class_count_nats(60, 4))
    again = opened()
    for each in (holdout, again):
        assert each.classes.tolist() == KINDS[kind]
        answer = each.certify(Wise(KINDS[kind]), scoring="accuracy", guess=0.9)
        assert any("but those that were named" in text for text in answer.certificate.assumptions)
    assert few(kind).report().nats == pytest.approx(class_count_nats(60, 3))
    with pytest.raises(LedgerMismatchError, match="classes"):
        opened(classes=[*KINDS[kind], "zz" if kind == "texts" else 9])


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_knows_another_class_is_refused_for_nothing(kind):
    holdout, others = few(kind), Wise(KINDS[kind])
    asks = [
        partial(holdout.certify, guess=0.9),
        partial(holdout.check, guess=0.9),
        partial(holdout.publish, guess=0.9),
        lambda model, scoring: holdout.select([model], scoring=scoring),
        lambda model, scoring: holdout.compare(Wise(KINDS[kind][:3]), model, scoring=scoring),
        lambda model, scoring: holdout.declare([model], scoring=scoring),
    ]
    for ask in asks:
        with pytest.raises(ValueError, match=r"of classes that the holdout knows of.*classes=\["):
            ask(others, scoring="accuracy")
    assert holdout.ledger.read(lambda state: state.is_untouched)
    assert holdout.certify(Wise(KINDS[kind][:3]), scoring="accuracy", guess=0.9).answered


@pytest.mark.parametrize("kind", KINDS)
def test_validation_rows_of_another_class_are_refused_for_nothing(kind):
    holdout, others = few(kind), (np.arange(4)[:, None], np.array(KINDS[kind]))
    with pytest.raises(ValueError, match=r"The 'guess_from' parameter of Holdout.certify must be of classes"):
        holdout.certify(Wise(KINDS[kind][:3]), scoring="accuracy", guess_from=others)
    assert holdout.ledger.read(lambda state: state.is_untouched)


def test_training_rows_of_another_class_are_refused_before_the_search():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 3
    held = Holdout(X[:100][y[:100] < 2], y[:100][y[:100] < 2], class_mix="priced", ledger=":memory:")
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]})
    with pytest.raises(ValueError, match=r"The 'y' parameter of ReusableHoldoutCV.fit must be of classes"):
        ReusableHoldoutCV(search, holdout=held).fit(X[100:], y[100:])


@pytest.mark.parametrize(
    ("classes", "got"),
    [
        ([0, 1], "a list without 2"),
        (["a", "b"], "text"),
        ([[0, 1]], "shape"),
        ([], "0 rows"),
        ([0, 1, 2, 0.5], "numbers"),
    ],
)
def test_bad_lists_of_classes_are_refused(classes, got):
    with pytest.raises(ValueError, match=got):
        few("numbers", classes=classes)
    with pytest.raises(ValueError, match="None with class_mix='conditional'"):
        few("numbers", classes=[0, 1, 2], class_mix="conditional")


def test_an_old_ledger_goes_on_without_a_list(tmp_path):
    with begun_as(1):
        few("numbers", ledger=tmp_path / "old.db")
    again = few("numbers", ledger=tmp_path / "old.db")
    assert again.certify(Wise(KINDS["numbers"]), scoring="accuracy", guess=0.9).answered
    with pytest.raises(LedgerMismatchError, match="classes"):
        few("numbers", ledger=tmp_path / "old.db", classes=KINDS["numbers"])
