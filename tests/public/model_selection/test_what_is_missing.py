"""Labels, groups and rows that are missing: how many there are, named by what was called."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from sklearn_ada.exceptions import LedgerMismatchError

N, GONE = 60, 6
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, 2)), np.arange(N) % 2
IDS = np.arange(1000, 1000 + N)
WHO = np.arange(N, dtype=float) // 3
WHO[:: N // GONE] = np.nan
IS_GONE = np.isnan(WHO)
HELD = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1]}, cv=2)


def texts(nothing):
    return pd.Series([nothing if gone else f"p{who:.0f}" for who, gone in zip(WHO, IS_GONE, strict=True)])


def numbers(nothing):
    return [nothing if gone else int(who) for who, gone in zip(WHO, IS_GONE, strict=True)]


GROUPS = {
    "floats": WHO, "a list": numbers(None), "nullable integers": pd.array(numbers(None), dtype="Int64"),
    "texts and None": texts(None), "texts and NaN": texts(np.nan).astype(object),
    "texts and NA": texts(pd.NA),
    "dates": pd.Series(pd.to_datetime(WHO, unit="D")),
    "mixed": np.array([*texts(None)[:30], *WHO[30:]], "O"),
}  # fmt: skip
LABELS = {
    "NaN": np.where(IS_GONE, np.nan, Y), "None": np.where(IS_GONE, None, Y.astype(str)),
    "NA": pd.Series(np.where(IS_GONE, pd.NA, Y.astype(object))), "infinite": np.where(IS_GONE, np.inf, Y),
}  # fmt: skip


@pytest.mark.parametrize("called", ["ReusableHoldoutCV.fit", "Holdout"])
@pytest.mark.parametrize("values", [*GROUPS.values(), *LABELS.values()], ids=[*GROUPS, *LABELS])
def test_missing_groups_and_labels_are_counted_and_named_by_what_was_called(
    values, called, sentence, tmp_path
):
    is_y = any(values is each for each in LABELS.values())
    given = {"y": values} if is_y else {"y": Y, "groups": values}
    ask = Holdout if called == "Holdout" else ReusableHoldoutCV(HELD, ledger=tmp_path / "ledger.db").fit
    with pytest.raises(ValueError, match=sentence("y" if is_y else "groups", called)) as refused:
        ask(X, **given)
    assert re.search(rf"in {GONE} rows\b", str(refused.value))
    assert not (tmp_path / "ledger.db").exists()


VISITS = {  # of one patient of the holdout, whose ids occur once before
    "one more": (1, "1 row is new"), "two more": (2, "2 rows are new"),
    "one less": (-1, r"1 of the \d+ rows is missing"), "two less": (-2, r"2 of the \d+ rows are missing"),
}  # fmt: skip


@pytest.mark.parametrize(("visits", "message"), VISITS.values(), ids=VISITS)
def test_rows_that_come_and_go_are_counted_by_themselves(visits, message, tmp_path):
    """Rows of an id that stayed are neither new nor missing."""

    def opened(rows):
        return Holdout(X[rows], Y[rows], ids=IDS[rows], ledger=tmp_path / "ledger.db")

    begun = np.r_[np.arange(N), 0, 0, 0]
    opened(begun)
    with pytest.raises(LedgerMismatchError, match=message):
        opened(begun[:visits] if visits < 0 else np.r_[begun, [0] * visits])
