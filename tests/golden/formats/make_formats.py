"""Write a ledger and a certificate of the current format: ``python -m tests.golden.formats.make_formats``.

They stay as they are when the format moves on: `test_formats` reads them, and goes on with the conversation.
"""

import contextlib
import pathlib
import sqlite3
import tempfile
import warnings

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout
from sklearn_ada.accounting.events import FORMAT
from tests.golden.records.make_golden import dump
from tests.support import holdouts

FOLDER = pathlib.Path(__file__).parent
X = np.arange(1200.0).reshape(400, 3)
Y = (np.arange(400) % 8 > 2).astype(int)
X[:, 0] = (Y + (np.arange(400) % 7 == 0)) % 2
TERMS = {
    "exact": {},
    "coarse": {"answers": "coarse"},
    "ids": {"ids": np.arange(400)},
    "priced": {"class_mix": "priced"},
    "tables": {"answers": "coarse"},
    "tables_exact": {},
    "tables_priced": {"answers": "coarse", "class_mix": "priced"},
    "tables_declared": {"answers": "coarse", "class_mix": {0: 0.9, 1: 0.1}},
    "tables_published": {"answers": "coarse"},
    "areas": {"answers": "coarse"},
    "groups": {"answers": "coarse", "groups": np.arange(400) // 4},
    "groups_exact": {"groups": np.arange(400) // 4},
    "weights": {"answers": "coarse", "sample_weight": 1.0 + np.arange(400) % 3},
    "weights_bound": {"sample_weight": 1.0 + np.arange(400) % 3, "weight_bound": 4.0},
    "kept": {"answers": "coarse", "used_before": 10.0},
}
"""What ledgers are begun with, by the names of files."""
NEW = ("coarse", "exact", "kept")
"""Of which this format writes anew; others it writes as the format before it, of which there are ledgers."""
OF_TWO = ("precision", "jaccard", "balanced_accuracy", "matthews_corrcoef")
TABLES = {
    "tables": OF_TWO, "tables_exact": OF_TWO, "tables_priced": (), "tables_declared": OF_TWO,
    "tables_published": OF_TWO[:1],
}  # fmt: skip
"""Of which of these F1, a difference, and these metrics are asked."""
OF_UNITS = ("roc_auc", "f1", "precision")
UNITS = {
    "areas": OF_UNITS[:1], "groups": OF_UNITS, "groups_exact": OF_UNITS, "weights": OF_UNITS,
    "weights_bound": (),
}  # fmt: skip
"""Of which of these an accuracy with validation rows, and these metrics are asked."""
PUBLISHED = {
    "coarse": "accuracy", "tables_published": "f1", "areas": "roc_auc", "groups": "roc_auc", "weights": "f1",
}  # fmt: skip
"""What is published of which of these, before they are closed and all is unsealed."""
FORESEEN = {"guess_from": (X + 0.01, Y)}


def opened(path, name):
    """Open or begin the ledger of a name."""
    return Holdout(X, Y, ledger=path, random_state=1, who="ada", label="golden", **TERMS[name])


def model(depth):
    """Return a model that was fitted to other rows."""
    return DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X + 0.01, Y)


def conversation(path, name):
    """Return a holdout of which everything was asked that its ledger can answer."""
    holdout = opened(path, name)
    if name in TABLES:
        ask_about_tables(holdout, TABLES[name])
    elif name in UNITS:
        ask_about_units(holdout, UNITS[name])
    elif name == "kept":
        ask_about_the_kept_model(holdout)
    else:
        ask_about_accuracy(holdout)
    if name in PUBLISHED:
        with contextlib.suppress(ValueError):  # an older format may have no interval for it
            holdout.publish(model(1), scoring=PUBLISHED[name])
        holdout.close()
        holdout.unseal()
    return holdout


def ask_about_accuracy(holdout):
    """Ask a holdout for accuracies in every way."""
    holdout.check(model(1), scoring="accuracy", guess=0.8)
    holdout.check(model(1), scoring="accuracy", guess=0.3)
    holdout.certify(model(1), scoring="accuracy", guess=0.85)
    holdout.certify(model(2), scoring="balanced_accuracy", guess=0.8)
    round_name = holdouts.open_round(holdout, 2, purpose="certify", scoring="accuracy", name="two")
    for depth in (2, 3):
        asked = {"scoring": "accuracy", "purpose": "certify", "guess": 0.85, "round_name": round_name}
        holdouts.ask(holdout, model(depth), **asked)
    holdout.select([model(1), model(2)], scoring="accuracy")


def ask_about_tables(holdout, more):
    """Ask a holdout for F1 and more metrics of two classes, and for a difference."""
    holdout.certify(model(1), scoring="accuracy", guess=0.85)
    for scoring in ("f1", *more):
        holdout.certify(model(1), scoring=scoring, **FORESEEN)
    holdout.certify(model(3), scoring="f1", guess=0.5)
    holdout.compare(model(1), model(2), scoring="accuracy", **FORESEEN)


def ask_about_units(holdout, more):
    """Ask a holdout for an accuracy by bets, and for more metrics where its format has them."""
    holdout.certify(model(1), scoring="accuracy", guess=0.85)
    holdout.certify(model(2), scoring="accuracy", **FORESEEN)
    for scoring in more:
        with contextlib.suppress(ValueError):
            holdout.certify(model(1), scoring=scoring, **FORESEEN)


def ask_about_the_kept_model(holdout):
    """Keep one model, compare another with it, and keep that."""
    holdout.certify(model(1), scoring="accuracy", **FORESEEN)
    holdout.keep(model(1), scoring="accuracy")
    holdout.compare(model(1), model(2), scoring="accuracy", **FORESEEN)
    holdout.keep(model(2))


def main():
    """Write format_N_NAME.sql and .json beside this file."""
    for name in NEW:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            holdout = conversation(f"{folder}/a.db", name)
            stem = FOLDER / f"format_{FORMAT}_{name}"
            holdout.export(stem.with_suffix(".json"))
            with contextlib.closing(sqlite3.connect(f"{folder}/a.db")) as db:
                stem.with_suffix(".sql").write_text(dump(db))


if __name__ == "__main__":
    main()
