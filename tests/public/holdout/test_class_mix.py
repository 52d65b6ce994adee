"""Class counts conditioned on, or paid for."""

import math
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from sklearn_ada import Holdout, MedianSettings
from sklearn_ada.exceptions import LedgerMismatchError
from sklearn_ada.guarantees import class_count_nats


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


def test_a_median_needs_no_unknown_counts_where_they_are_paid_for(rows, model, tmp_path):
    holdout = Holdout(*rows[2:], class_mix="priced", ledger=tmp_path / "ledger")
    answer = holdout.check(model, scoring="accuracy", guess=0.8, settings=MedianSettings(n_subsamples=10))
    assert "class counts" not in answer.certificate.target


BOUNDED = {"sample_weight": np.ones(250), "weight_bound": 2.0}
PRIVATE = ("differential_privacy", "both")
REFUSED = [
    *(({"class_mix": bad}, "The 'class_mix' parameter .* must be one of") for bad in ("free", None, 1)),
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
