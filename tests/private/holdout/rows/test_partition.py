"""Subsamples of a holdout: disjoint, fixed by the secret, of equal class counts on request, small."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, MedianSettings, StableHoldoutScorer
from sklearn_ada.metrics import Metric
from sklearn_ada.terms.holdout_data import HoldoutData


class Stored:
    """A model of given outputs, whatever it is shown."""

    classes_ = np.array([0, 1])

    def __init__(self, outputs):
        self.outputs = outputs

    def predict(self, X):
        return self.outputs

    decision_function = predict


seeds = st.integers(0, 2**32 - 1)


def drawn(n, n_classes, seed):
    y = np.random.default_rng(seed).integers(0, n_classes, n)
    y[: 2 * n_classes] = np.repeat(np.arange(n_classes), 2)
    return HoldoutData(np.zeros((n, 1)), y)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(n=st.integers(10, 200), m=st.integers(1, 10), seed=seeds)
def test_subsamples_are_disjoint_and_fixed_by_the_secret(n, m, seed):
    data = drawn(n, 3, seed)
    rows = data.partition(b"secret", m)
    assert rows.shape == (m, n // m) == (m, data.subsample_size(m))
    assert len(np.unique(rows)) == rows.size
    assert (rows == drawn(n, 3, seed).partition(b"secret", m)).all()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(n=st.integers(20, 300), m=st.integers(1, 2), n_classes=st.integers(2, 5), seed=seeds)
def test_stratified_subsamples_have_equal_class_counts(n, m, n_classes, seed):
    data = drawn(n, n_classes, seed)
    rows = data.partition(b"secret", m, stratify=True)
    assert len(np.unique(rows)) == rows.size
    assert rows.shape == (m, data.subsample_size(m, stratify=True))
    counts = np.array([np.bincount(data.y[block], minlength=n_classes) for block in rows])
    assert (counts == data.class_counts // m).all()


def test_stratified_subsamples_leave_no_class_out():
    y = np.repeat([0, 1], [1980, 20])
    data = HoldoutData(np.zeros((2000, 1)), y)
    alone = [len(np.unique(y[block])) for block in data.partition(b"secret", 20)]
    assert min(alone) == 1  # what stratifying is for
    stratified = data.partition(b"secret", 20, stratify=True)
    assert np.isfinite(Metric("roc_auc").blocks(Stored(np.arange(2000.0)), data.X, y, stratified)).all()


def test_the_certificate_of_stratified_subsamples_speaks_of_the_class_mix(tmp_path):
    y = np.repeat([0, 1], [1800, 200])
    holdout = Holdout(np.zeros((2000, 1)), y, ledger=tmp_path / "ledger.db")
    model = Stored(np.random.default_rng(0).normal(size=2000) + y)
    targets = {}
    for stratify in (False, True):
        median = MedianSettings(n_subsamples=40, stratify=stratify)
        targets[stratify] = holdout.certify(model, scoring="roc_auc", settings=median).certificate.target
    assert "of 50 records, if nobody who asks knows the holdout's class counts" in targets[False]
    assert targets[True].endswith("over random subsamples of 50 records at the holdout's class mix")


def test_more_subsamples_than_the_rarest_class_has_records_are_refused(tmp_path):
    y = np.repeat([0, 1], [90, 10])
    holdout = Holdout(np.zeros((100, 1)), y, ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=r"at most the 10 rows of the rarest class\. Got 11 instead"):
        StableHoldoutScorer("roc_auc", holdout, n_subsamples=11, stratify=True)
    assert MedianSettings(n_subsamples=10, stratify=True).subsample_size(holdout._session.data) == 10
    assert MedianSettings(stratify=True).subsamples(HoldoutData(np.zeros((100, 1)), y)) == 5


@pytest.mark.parametrize(("stratify", "must"), [(True, "be False where"), ("yes", "be True or False")])
def test_numbers_cannot_be_stratified(stratify, must, tmp_path):
    holdout = Holdout(np.zeros((100, 1)), np.linspace(0, 1, 100), ledger=tmp_path / "ledger.db")
    with pytest.raises(ValueError, match=f"'stratify' parameter of StableHoldoutScorer must {must}"):
        StableHoldoutScorer("r2", holdout, stratify=stratify)


@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_a_median_takes_few_bytes_a_row_above_labels_and_outputs(name):
    n = 10**6
    rng = np.random.default_rng(0)
    data = HoldoutData(np.zeros((n, 1), dtype=np.int8), rng.integers(0, 2, n))
    model = Stored(rng.random(n) if name == "roc_auc" else rng.integers(0, 2, n))
    tracemalloc.start()
    Metric(name).blocks(model, data.X, data.y, data.partition(b"secret", 1000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    chunk = 6e6  # whatever the number of rows
    assert peak <= 4 * n + chunk


GROUPED = HoldoutData(np.zeros((2000, 1)), np.arange(2000) % 2, groups=np.arange(2000) // 4)
CUT = {"plain": (drawn(2000, 2, 0), {}), "stratified": (drawn(2000, 2, 0), {"stratify": True})}


@pytest.mark.parametrize(("data", "options"), [*CUT.values(), (GROUPED, {})], ids=[*CUT, "groups"])
def test_a_partition_is_cut_once_for_each_secret_and_number_and_is_in_no_pickle(data, options):
    before = len(pickle.dumps(data))
    first, again = (data.partition(b"secret" * 6, 20, **options) for _ in range(2))
    assert first[0] is again[0] or np.shares_memory(first[0], again[0])
    kept = [list(block) for block in first]
    for secret, number in ((b"secret" * 6, 10), (b"another", 20)):
        other = data.partition(secret, number, **options)
        assert len(other) == number
        assert [list(block) for block in other] != kept
        assert [list(block) for block in data.partition(b"secret" * 6, 20, **options)] == kept
    assert len(pickle.dumps(data)) == before
    assert b"secret" * 6 not in pickle.dumps(data)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "matthews_corrcoef"])
def test_answers_do_not_depend_on_the_size_of_chunks(monkeypatch, scoring, tmp_path):
    X, y = make_classification(1200, 8, n_informative=4, flip_y=0.2, random_state=0)
    model = DecisionTreeClassifier(max_depth=4).fit(X[:200], y[:200])
    answers = []
    for cells, chunk_bytes in ((2**23, 2**22), (800, 2**22), (2**23, 1), (123, 2**12)):
        monkeypatch.setattr("sklearn_ada.metrics.outputs.CHUNK_CELLS", cells)
        monkeypatch.setattr("sklearn_ada.metrics.blocks.CHUNK_BYTES", chunk_bytes)
        holdout = Holdout(X[200:], y[200:], ledger=tmp_path / f"{cells} {chunk_bytes}.db", random_state=0)
        scorer = StableHoldoutScorer(Metric(scoring, kind="general"), holdout)
        answers.append(scorer(model, X[:200], y[:200]))
    assert np.isfinite(answers[0])
    assert len(set(answers)) == 1
