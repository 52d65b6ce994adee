"""The summary of what a model said agrees with the same outputs and no others, and shows nothing of them."""

import base64
import datetime
import itertools

import numpy as np
import pytest
from scipy import stats

from sklearn_ada.accounting import FAILURES, Symbol
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.terms.outputs import OutputSummary

KEY = bytes(range(32))
RNG = np.random.default_rng(0)
N = 1000
NUMBERS = RNG.normal(size=N) * 3.0 + 1.0
LABELS = RNG.integers(0, 3, N)
NAMES = np.array(["no", "yes", "may\0be"])
OUTPUTS = {
    "whole labels": LABELS,
    "booleans": LABELS > 0,
    "labels in another order": LABELS[::-1],
    "text": NAMES[LABELS],
    "text of numbers": np.array(["0", "1", "2"])[LABELS],
    "objects of text": NAMES.astype(object)[LABELS],
    "objects": np.array([None, 1, ("a", 2.5)], dtype=object)[LABELS],
    "dates": np.datetime64("2024-01-01") + LABELS,
    "objects of dates": np.array([datetime.date(2024, 1, day) for day in (1, 2, 3)])[LABELS],
    "objects of other dates": np.array([datetime.date(2024, 1, day) for day in (1, 2, 4)])[LABELS],
    "labels as floats": LABELS.astype(float),
    "numbers": NUMBERS,
    "single precision": NUMBERS.astype(np.float32),
    "probabilities": np.exp(-np.abs(RNG.normal(size=(N, 4)))),
    "complex": NUMBERS + 1j * NUMBERS[::-1],
    "huge": NUMBERS * 1e300,
    "small": NUMBERS * 1e-9,
    "not finite": np.where(LABELS == 0, np.nan, np.where(LABELS == 1, np.inf, NUMBERS)),
    "nothing but NaN": np.full(N, np.nan),
    "of several methods": {"predict": LABELS, "decision_function": NUMBERS},
    "a failure": (Symbol("cells", FAILURES[0]),),
    "no rows": np.empty(0),
    "zeros": np.zeros(N),
}


def agree(one, other, key=KEY):
    return OutputSummary.of(other).agrees_with(OutputSummary.of(one).sealed(key), key)


@pytest.mark.parametrize("name", OUTPUTS)
def test_equal_outputs_agree_and_all_others_do_not(name):
    for other, said in OUTPUTS.items():
        assert agree(OUTPUTS[name], said) == (name == other), (name, other)


def test_objects_that_are_texts_of_numbers_are_no_numbers():
    assert not agree(np.array(["1"], dtype=object), np.array([1], dtype=object))


LAST_BITS = {
    "whole numbers": (np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]) * (1.0 + 4e-16)),
    "labels and negative zeros": (np.array([0.0, 1.0]), np.array([-0.0, 1.0])),
    "zeros": (np.zeros(3), np.full(3, 1e-17)),
    "what is left of a sum": (np.array([1e-17, -2e-17]), np.array([2e-17, 1e-17])),
    "objects": (np.array([0.1, 0.2], dtype=object), np.array([0.1, 0.2 * (1.0 + 4e-16)], dtype=object)),
}


@pytest.mark.parametrize("name", LAST_BITS)
def test_whatever_is_no_more_than_last_bits_is_the_same(name):
    assert agree(*LAST_BITS[name])


def test_sums_of_single_precision_in_another_order_agree_and_a_thousandth_does_not():
    """Their last bits are a tenth of a millionth, and add up over 5000 terms."""
    parts, weights = RNG.normal(size=(300, 5000)).astype("f4"), RNG.normal(size=5000).astype("f4")
    one, other = (
        np.add.reduce([parts[:, j] * weights[j] for j in order])
        for order in (range(5000), RNG.permutation(5000))
    )
    assert one.dtype == np.float32
    assert 1e-6 < np.linalg.norm(one - other) / np.linalg.norm(one) < 1e-5
    assert agree(one, other)
    assert not agree(one, (one * (1.0 + 1e-3 * RNG.normal(size=300))).astype("f4"))


def test_a_difference_just_below_the_bound_is_the_same_by_the_mean_over_the_sums():
    """The largest of the 16 differences is above it mostly, their root mean square rarely."""
    noise = RNG.normal(size=N)
    noise *= 0.6e-6 / np.linalg.norm(noise) * np.linalg.norm(NUMBERS)
    assert sum([agree(NUMBERS, NUMBERS + noise, number.to_bytes(32)) for number in range(200)]) > 190


# --- values ------------------------------------------------------------------------------------------------


def agree_on(one, other, unit=1.0):
    kept = OutputSummary.of(NUMBERS, one, unit).sealed(KEY)
    return OutputSummary.of(NUMBERS, other, unit).agrees_with(kept, KEY)


@pytest.mark.parametrize("other", [0.9 + 2e-5, -0.9, np.nan, np.inf, [0.9, 0.9]])
def test_equal_outputs_with_another_value_of_the_metric_do_not_agree(other):
    assert not agree_on(0.9, other)
    assert agree_on(other, other)


VALUES = [
    (True, 0.9, 0.9 + 1e-8, 1.0),  # within a millionth
    (True, -1e12, -1e12 - 1.0, 1.0),
    (False, -1e12, -1e12 - 1e8, 1.0),
    (False, [-1e8, 0.9, -0.9], [-1e8, -0.9, 0.9], 1.0),  # one that diverged hides none of the others
    (True, -1e-9, -2e-9, 1.0),  # of a narrow range they are shares of it
    (False, -1e-9, -2e-9, 1e-8),
]


@pytest.mark.parametrize(("agrees", "one", "other", "unit"), VALUES)
def test_values_agree_within_a_millionth_of_their_range(agrees, one, other, unit):
    assert agree_on(one, other, unit) == agrees


# --- outputs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["whole labels", "text", "objects of text", "objects", "labels as floats"])
@pytest.mark.parametrize("row", [0, N // 2, N - 1])
def test_one_changed_label_is_seen(name, row):
    changed = OUTPUTS[name].copy()
    changed[row] = OUTPUTS[name][np.not_equal(LABELS, LABELS[row])][0]
    assert not agree(OUTPUTS[name], changed)


@pytest.mark.parametrize("name", ["numbers", "probabilities", "complex", "huge", "small", "not finite"])
def test_floats_agree_within_last_bits_and_not_beyond(name):
    said, noise = OUTPUTS[name], RNG.normal(size=OUTPUTS[name].shape)
    with np.errstate(over="ignore"):
        assert agree(said, said * (1.0 + 1e-9 * noise))
        assert not agree(said, said * (1.0 + 1e-4 * noise))
        assert not agree(said, said * (1.0 + 1e-4))  # all of them by the same share


@pytest.mark.parametrize("row", [0, 1, N - 1])
def test_one_changed_number_is_seen_and_one_that_is_missing(row):
    for change in (NUMBERS[row] + 0.1, np.nan, np.inf, -np.inf):
        changed = NUMBERS.copy()
        changed[row] = change
        assert not agree(NUMBERS, changed)
        for other in {np.nan, np.inf, -np.inf} - {change}:
            assert not agree(changed, np.where(np.arange(N) == row, other, NUMBERS))


def test_two_changes_that_cancel_in_one_sum_are_seen_by_the_others():
    """Equal changes of two rows leave each sum with probability one half: all 16 with 2^-16."""
    pairs, missed = list(itertools.combinations(range(40), 2)), 0
    for pair in pairs:
        changed = NUMBERS.copy()
        changed[list(pair)] += 0.5
        missed += agree(NUMBERS, changed)
    assert stats.binom.sf(missed - 1, len(pairs), 2.0**-16) > 1e-6


def test_rounded_numbers_would_not_do():
    """Why floats have sums: at the last bits some of a thousand numbers are rounded to other values."""
    many = RNG.normal(size=100_000)
    again = many * (1.0 + 1e-9)
    assert not np.array_equal(many.round(6), again.round(6))
    assert agree(many, again)


def test_objects_that_cannot_be_read_agree_with_nothing_and_what_is_no_error_is_for_the_look():
    class Opaque:
        def __init__(self, error):
            self.error = error

        def __reduce__(self):
            raise self.error

    outputs, leaving = (np.array([Opaque(error)], dtype=object) for error in (TypeError, SystemExit))
    assert not agree(outputs, outputs)
    with pytest.raises(SystemExit):
        OutputSummary.of(leaving)


# --- the pad -----------------------------------------------------------------------------------------------


def test_every_summary_has_the_same_length_and_agrees_under_its_key_alone():
    assert len({len(OutputSummary.of(outputs).sealed(KEY)) for outputs in OUTPUTS.values()}) == 1
    assert not OutputSummary.of(NUMBERS).agrees_with(OutputSummary.of(NUMBERS).sealed(KEY), bytes(32))
    assert repr(OutputSummary.of(NUMBERS)) == "OutputSummary()"


def kept(outputs):
    """Return what is kept of the same outputs under 300 keys, as rows of bytes."""
    sealed = (OutputSummary.of(outputs).sealed(number.to_bytes(32)) for number in range(300))
    return np.array([np.frombuffer(base64.b64decode(text), dtype=np.uint8) for text in sealed])


def test_summaries_of_equal_outputs_look_unrelated_and_random():
    """All bytes of what is kept, and of two such XORed, are equally frequent, also of zeros and of labels."""
    for outputs in (NUMBERS, LABELS, np.zeros(N)):
        rows = kept(outputs)
        for seen in (rows, rows[1:] ^ rows[:-1]):
            assert stats.chisquare(np.bincount(seen.ravel(), minlength=256)).pvalue > 1e-6
            in_one_place = np.array([np.bincount(column, minlength=256).max() for column in seen.T])
            assert in_one_place.max() < 20  # 1.2 are expected of each byte


def test_without_a_pad_the_same_test_tells_them_apart(monkeypatch):
    monkeypatch.setattr("sklearn_ada.terms.outputs._padded", lambda content, key: content)
    assert stats.chisquare(np.bincount(kept(NUMBERS).ravel(), minlength=256)).pvalue < 1e-6


@pytest.mark.parametrize("edited", ["", "AAAA", "*", None, 3, "A" * 217])
def test_what_is_no_summary_is_damage(edited):
    with pytest.raises(LedgerDamagedError, match="edited"):
        OutputSummary.of(LABELS).agrees_with(edited, KEY)
