"""Write the golden ledger, for a new format: ``python -m tests.golden.records.make_golden``."""

import contextlib
import json
import pathlib
import sqlite3
import tempfile

import numpy as np

from sklearn_ada import Holdout, MedianSettings
from sklearn_ada.accounting.events import FORMAT
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import SQLiteLedger
from tests.support import holdouts
from tests.support.ledger.fitted_models import Constant

TIME = "2030-01-01T00:00:00+00:00"


class Broken(Constant):
    """A model that fails on the holdout."""

    def predict(self, X):
        raise ValueError


def dump(db):
    """Return a database as SQL, with the mark of a ledger."""
    mark = db.execute("PRAGMA application_id").fetchone()[0]
    return "\n".join([f"PRAGMA application_id = {mark};", *db.iterdump(), ""])


def conversation(path):
    """Return the ledger of a conversation in which everything happens once."""
    X = np.arange(800.0).reshape(400, 2)
    y = (np.arange(400) % 4 == 0).astype(int)
    split = {"holdout": "share 0.25", "random_state": None, "rows_in_all": 1600}
    terms = {"random_state": 1, "tolerance": 0.3, "expected_questions": 20}
    holdout = Holdout(X, y, ledger=path, split=split, who="ada", label="golden", **terms)
    model, asked = Constant(0).fit(X, y), {"scoring": "accuracy", "purpose": "check"}
    median = MedianSettings(n_subsamples=100, method="exact")
    holdout.check_overlap(X + 0.5)
    name = holdouts.open_round(holdout, 2, purpose="check", scoring="accuracy", name="a search")
    holdouts.ask(holdout, model, guess=0.75, round_name=name, **asked)
    holdouts.ask(holdout, model, guess=0.7, round_name=name, **asked)
    holdouts.ask(holdout, Broken(0).fit(X, y), guess=0.7, **asked)
    holdouts.ask(holdout, model, guess=0.75, settings=median, **asked)
    holdout.certify(model, scoring="accuracy", guess=0.74)
    holdout.select([model, Constant(1).fit(X, y)], scoring="accuracy")
    guesses = (0.1 + 0.003 * number for number in range(100))
    assert any(holdout.check(model, scoring="accuracy", guess=g).verdict == "refused" for g in guesses)
    large = holdout.top_up(X + 800.0, y)
    large.certify(model, scoring="accuracy", guess=0.74)
    return large.ledger


def bodies_of(ledger):
    """Return keys and bodies, with one time for all."""
    bodies = [(record.key, dict(record.body)) for record in ledger.records()]
    return [(key, body | ({"time": TIME} if "time" in body else {})) for key, body in bodies]


def main():
    """Write golden_schema_N.json and .sql beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        first = conversation(f"{folder}/first.db")
        (_, genesis), *others = bodies_of(first)
        path = f"{folder}/golden.db"
        ledger = SQLiteLedger.create_or_open(path, lambda secret: genesis, State, first.secret())
        for key, body in others:
            ledger.charge(key, lambda state, body=body: body)
        state = ledger.read(lambda current: current)
        with contextlib.closing(sqlite3.connect(path)) as db:
            text = dump(db)
            hashes = [row[0] for row in db.execute("SELECT hash FROM records ORDER BY seq")]
        golden = {
            "secret": first.secret().hex(),
            "state": {"nats": state.account.nats, "asked": state.asked, "refused": state.refused},
            "records": [
                {"key": record.key, "body": record.body, "hash": digest}
                for record, digest in zip(ledger.records(), hashes, strict=True)
            ],
        }
    stem = pathlib.Path(__file__).parent / f"golden_schema_{FORMAT}"
    stem.with_suffix(".sql").write_text(text)
    stem.with_suffix(".json").write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
