"""``gate``: exit status and one line of JSON, for files of predictions and for pickled models."""

import csv
import hashlib
import json
import pathlib
import sys
import uuid

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ada import Holdout, Predictions
from sklearn_ada.cli import main
from tests.support.ledger.postgresql_server import PASSWORD
from tests.support.processes import started

N, VALIDATION = 1500, 4000
# How many of a candidate's wrong answers are put right, and of its right ones made wrong.
CANDIDATES = {
    "good": (0.5, 0.0),
    "same": (0.0, 0.0),
    "like": (0.03, 0.01),
    "bad": (0.0, 0.1),
    "dice": (0.5, 0.5),
}
FILES = ["--labels", "labels.csv", "--label-column", "y", "--prediction-column", "label", "--id-column", "id"]


def write(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


def write_all(n, prefix, seed):
    """Write labels, and what a model in use and five candidates predict, each in an order of its own."""
    rng = np.random.default_rng(seed)
    y, ids = rng.choice(["no", "yes"], n), np.array([f"{prefix}{i}" for i in range(n)])
    other = np.where(y == "no", "yes", "no")
    used = np.where(rng.random(n) < 0.8, y, other)
    write(f"{prefix}labels.csv", ("id", "y"), zip(ids, y, strict=True))
    models = {"used": used}
    for name, (mended, broken) in CANDIDATES.items():
        fixed = np.where((used != y) & (rng.random(n) < mended), y, used)
        models[name] = np.where((used == y) & (rng.random(n) < broken), other, fixed)
    for name, predicted in models.items():
        order = rng.permutation(n)
        write(f"{prefix}{name}.csv", ("label", "id"), zip(predicted[order], ids[order], strict=True))
    return y, models


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_all(VALIDATION, "v_", 1)
    return write_all(N, "", 0)


def guesses(name):
    return ["--guess-from", "v_used.csv", f"v_{name}.csv", "v_labels.csv"]


def of(name, *more, ledger="gate.db"):
    """Return the arguments of a gate for a candidate, with guesses from validation rows."""
    return [
        *FILES,
        "--ledger",
        ledger,
        "--incumbent",
        "used.csv",
        "--candidate",
        f"{name}.csv",
        *guesses(name),
        *more,
    ]


@pytest.fixture
def gate(capsys):
    """A function that asks, and returns the exit status and what the one line of output says."""

    def ask(*arguments):
        status = main(["gate", *arguments])
        out, _ = capsys.readouterr()
        assert out.count("\n") == 1
        body = json.loads(out)
        assert body["exit"] == status
        return status, body

    return ask


def test_five_candidates_pass_or_do_not(folder, gate):
    y, models = folder
    found = {name: gate(*of(name)) for name in CANDIDATES}
    assert {name: status for name, (status, _) in found.items()} == {
        "good": 0, "same": 1, "like": 1, "bad": 1, "dice": 1,
    }  # fmt: skip
    words = {name: body["status"] for name, (_, body) in found.items()}
    assert words == dict.fromkeys(CANDIDATES, "not passed") | {"good": "passed", "like": "undecided"}
    for name, (_, body) in found.items():
        low, high = body["interval"]
        assert low <= np.mean(models[name] == y) - np.mean(models["used"] == y) <= high
        assert body["nats"] < 0.1
    same = found["same"][1]
    assert (same["nats"], same["record"]) == (0.0, None)
    assert "both models are one, so nothing was asked" in same["reason"]
    left = found["dice"][1]["left"]
    assert found["good"][1]["guess"] == pytest.approx(0.1, abs=0.02)
    assert {name for name, (_, body) in found.items() if body["value"] is not None} == {"same"}  # else sealed
    assert left["revealed"] > 0
    assert (left["asks"], "the next one like this" in left["says"]) == (None, True)
    low, high = found["dice"][1]["interval"]
    assert left["half_widths"]["0"] == pytest.approx((high - low) / 2, rel=0.1)
    assert left["half_widths"]["0"] < left["half_widths"]["100"]
    assert main(["ledger", "verify", "gate.db", "--head", left["head"]]) == 0


@pytest.mark.parametrize(
    ("name", "required", "status"),
    [
        ("like", ["--require", "not-worse", "--not-worse-by", "0.05"], 0),
        ("like", ["--require", "not-worse", "--not-worse-by", "0.001"], 1),
        ("bad", ["--require", "not-worse", "--not-worse-by", "0.02"], 1),
        ("same", ["--require", "not-worse", "--not-worse-by", "0.001"], 0),
    ],
)
def test_not_worse_is_decided_by_a_margin(folder, gate, name, required, status):
    assert gate(*of(name, *required))[0] == status


def test_a_score_is_compared_with_a_number(folder, gate):
    asked = [
        *FILES,
        "--ledger",
        "gate.db",
        "--candidate",
        "good.csv",
        "--guess-from",
        "v_good.csv",
        "v_labels.csv",
    ]
    found = [gate(*asked, "--require", "score-above", str(bound)) for bound in (0.7, 0.9, 0.99)]
    assert [(status, body["status"]) for status, body in found] == [
        (0, "passed"), (1, "undecided"), (1, "not passed"),
    ]  # fmt: skip
    assert [body["repeated"] for _, body in found] == [False, True, True]


def content():
    return {path: hashlib.sha256(path.read_bytes()).digest() for path in sorted(pathlib.Path().iterdir())}


def test_a_dry_run_says_what_an_ask_would_cost_and_writes_nothing(folder, gate):
    before = content()
    status, first = gate(*of("good", "--dry-run"))
    assert (status, first["status"], first["on_record"]) == (2, "dry run", False)  # no decision
    assert content() == before
    _, asked = gate(*of("good"))
    assert (first["would_be"], first["guess"]) == ("passed", pytest.approx(asked["guess"]))
    assert first["interval"] == pytest.approx(asked["interval"], abs=0.005)
    assert first["nats"] == pytest.approx(asked["nats"])
    assert first["half_width"] == pytest.approx((asked["interval"][1] - asked["interval"][0]) / 2, rel=0.1)
    before = content()
    _, again = gate(*of("good", "--dry-run"))
    _, other = gate(*of("like", "--dry-run"))
    assert (again["nats"], again["on_record"], other["on_record"]) == (0.0, True, False)
    assert 0.0 < other["nats"] < 0.1
    assert content() == before
    assert (again["interval"], other["would_be"]) == (asked["interval"], "undecided")
    same = gate(*of("same", "--dry-run"))[1]
    assert (same["nats"], same["would_be"]) == (0.0, "not passed")
    status, lost = gate(*of("good", "--dry-run", "--no-create", ledger="none.db"))
    assert (status, lost["status"]) == (2, "error")


def replaced(arguments, **flags):
    """Return arguments with others in the place of some flags; None leaves one out."""
    kept, skip = [], False
    for each in arguments:
        if each.startswith("--"):
            skip = each[2:].replace("-", "_") in flags
        if not skip:
            kept.append(each)
    for name, values in flags.items():
        kept += [] if values is None else ["--" + name.replace("_", "-"), *values]
    return kept


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"candidate": ["short.csv"]}, "1 rows without a prediction"),
        ({"candidate": ["v_good.csv"]}, "rows without a prediction"),
        ({"candidate": ["nowhere.csv"]}, "'nowhere.csv' cannot be read"),
        ({"candidate": ["used.csv"]}, "are one file"),
        ({"id_column": None, "prediction_column": None}, "several columns|name that of the labels"),
        ({"incumbent": None}, "--require better needs --incumbent"),
        ({"guess_from": None}, "A guess is needed"),
        ({"guess_from": ["v_good.csv", "v_labels.csv"]}, "both predictions, and their labels"),
        ({"guess_from": ["v_used.csv", "v_good.csv", "labels.csv"]}, "not those of the holdout"),
        ({"guess_from": ["v_used.csv", "good.csv", "v_labels.csv"]}, "1500 rows, and 'v_labels.csv' 4000"),
        ({"require": ["best"]}, "--require must be"),
        ({"require": ["score-above", "much"]}, "takes a number"),
        ({"require": ["score-above", "0.9"]}, "without --incumbent"),
        ({"require": ["not-worse"]}, "--not-worse-by is needed"),
        ({"not_worse_by": ["0.1"]}, "goes with nothing else"),
        ({"require": ["not-worse"], "not_worse_by": ["-1"]}, "must be a positive number"),
        ({"candidate": ["model.pkl"]}, "--trust says that you know who wrote them"),
        ({"require": ["not-worse"], "not_worse_by": ["2"]}, "must be below 1"),
        ({"require": ["score-above", "80"], "incumbent": None}, "from 0 to below 1"),
        ({"guess_from": ["v_used.csv", "v_good.csv", "copy.csv"]}, "1500 of the ids in 'copy.csv'"),
        (
            {
                "id_column": None,
                "label_column": None,
                "prediction_column": None,
                "labels": ["y.npy"],
                "incumbent": ["a.npy"],
                "candidate": ["b.npy"],
                "guess_from": ["b.npy", "a.npy", "y_copy.npy"],
            },
            "'y_copy.npy' has the same ones",
        ),
        ({"candidate": ["odd.csv"]}, "content of 'used.csv' or 'odd.csv'"),
        ({"candidate": ["odd.csv"]}, "name them: --class LABEL"),
        ({"label_column": ["id"]}, "they need their own"),
        (
            {
                "id_column": None,
                "label_column": None,
                "prediction_column": None,
                "labels": ["y.npy"],
                "incumbent": ["a.npy"],
                "candidate": ["object.npy"],
            },
            "'object.npy' cannot be read",
        ),
        ({"scoring": ["neg_log_loss"]}, "a mean of 0/1 losses"),
        ({"rows": ["X.npy"]}, "--rows is for pickled models"),
        ({"scoring": ["f1"]}, "mean of"),
        ({"confidence_level": ["0.9"]}, "confidence_level"),
        ({"ledger": ["none.db"], "no_create": []}, "There is no ledger"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_said_before_anything_is_charged(folder, gate, flags, message):
    _, models = folder
    write("short.csv", ("label", "id"), [("no", i) for i in range(1, N)])
    rows = [(label, f"{i}") for i, label in enumerate(models["good"])]
    write("short.csv", ("label", "id"), rows[1:])
    pathlib.Path("copy.csv").write_bytes(pathlib.Path("labels.csv").read_bytes())
    write("odd.csv", ("label", "id"), [("maybe", f"{i}") for i in range(N)])
    np.save("object.npy", np.array([None, "no"]), allow_pickle=True)
    arrays = {"y": folder[0], "y_copy": folder[0], "a": models["used"], "b": models["good"]}
    for name, column in arrays.items():
        np.save(f"{name}.npy", column)
    gate(*of("good"))
    before = pathlib.Path("gate.db").read_bytes()
    status, body = gate(*replaced(of("like"), **flags))
    assert (status, body["status"]) == (2, "error")
    assert any(each in body["reason"] for each in message.split("|")), body["reason"]
    assert pathlib.Path("gate.db").read_bytes() == before
    assert not pathlib.Path("none.db").exists()


def test_a_closed_holdout_is_no_decision(folder, gate):
    gate(*of("good"))
    holdout_of(folder).close()
    assert gate(*of("good"))[0] == 0  # it is on record
    status, body = gate(*of("like"))
    assert (status, body["status"]) == (2, "refused")
    assert "closed" in body["reason"]


def test_labels_that_are_refused_cost_once_and_a_dry_run_says_so(folder, gate):
    y, _ = folder
    gate(*of("good"))
    write("wrong.csv", ("id", "y"), zip(range(N), np.r_[y[1:], y[:1]], strict=True))
    wrong = replaced(of("good"), labels=["wrong.csv"])
    foreseen = gate(*wrong, "--dry-run")[1]
    assert "others are refused, for 4.6 nats" in foreseen["reason"]
    before = holdout_of(folder).report().nats
    for _ in range(3):
        status, body = gate(*wrong)
        assert (status, body["status"]) == (2, "error")
    assert holdout_of(folder).report().nats == pytest.approx(before + 4.6, abs=0.1)
    assert "refused before" in gate(*wrong, "--dry-run")[1]["reason"]
    assert gate(*of("good"))[0] == 0


def test_what_mistakes_cost_and_how_what_is_undecided_is_unsealed(folder, gate):
    swapped = gate(*replaced(of("good"), guess_from=["v_good.csv", "v_used.csv", "v_labels.csv"]))[1]
    assert swapped["guess"] == pytest.approx(-0.1, abs=0.02)
    assert 5.0 < swapped["nats"] < 10.0
    assert swapped["status"] == "undecided"
    number, head = swapped["record"], swapped["left"]["head"]
    assert main(["ledger", "unseal", "gate.db", str(number), "--head", head]) == 0


def test_a_guess_without_rows_has_a_wider_interval(folder, gate):
    (low, high), (lower, higher) = (
        gate(*replaced(of("good", ledger=f"{name}.db"), **guess))[1]["interval"]
        for name, guess in {"rows": {}, "bare": {"guess_from": None, "guess": ["0.1"]}}.items()
    )
    assert 1.2 < (higher - lower) / (high - low) < 3.0


def holdout_of(folder):
    y, _ = folder
    ids = np.array([f"{i}" for i in range(N)])
    return Holdout(np.empty((N, 0)), y, ids=ids.astype(int), class_mix="priced", ledger="gate.db")


def test_the_same_from_python(folder, gate):
    _, models = folder
    status, body = gate(*of("good"))
    ids = np.arange(N)
    used, good = (Predictions(models[name], ids) for name in ("used", "good"))
    answer = holdout_of(folder).compare(used, good, scoring="accuracy", guess=0.1)
    assert answer.is_above(0.0) == (status == 0)
    assert (answer.repeated, list(answer.interval)) == (True, body["interval"])
    assert not answer.is_above(answer.interval[0])


def test_pickled_models_need_trust_and_rows(tmp_path, monkeypatch, gate):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=4000) > 0).astype(int)
    for name, columns in (("old", [0, 1, 0]), ("new", [1, 1, 1])):
        joblib.dump(LogisticRegression().fit(X[:500] * columns, y[:500]), f"{name}.joblib")
    for name, part in (("v", slice(500, 2000)), ("h", slice(2000, 4000))):
        np.save(f"X{name}.npy", X[part])
        np.save(f"y{name}.npy", y[part])
    asked = [
        "--labels",
        "yh.npy",
        "--ledger",
        "gate.db",
        "--incumbent",
        "old.joblib",
        "--candidate",
        "new.joblib",
    ]
    asked += ["--guess-from", "Xv.npy", "yv.npy"]
    assert gate(*asked)[1]["status"] == "error"
    assert gate(*asked, "--trust")[1]["status"] == "error"
    before = content()
    trusted = [*asked, "--trust", "--rows", "Xh.npy"]
    assert gate(*trusted, "--dry-run")[1]["nats"] < 0.1
    assert content() == before
    status, body = gate(*trusted)
    assert (status, body["target"].partition(" at ")[0]) == (0, "population accuracy of b minus a")
    for name, rows in (("turned", slice(None, 1999, -1)), ("copy", slice(2000, None))):
        np.save(f"X_{name}.npy", X[rows])
        np.save(f"y_{name}.npy", y[rows])
    for files, reason in (
        (["X_turned.npy", "y_turned.npy"], "That it is so cost"),  # a leak, which only the ledger finds
        (["X_copy.npy", "y_turned.npy"], "'X_copy.npy' must have others"),
        (["X_turned.npy", "y_copy.npy"], "'y_copy.npy' has the same ones"),
    ):
        status, body = gate(*replaced(trusted, guess_from=files))
        assert (status, body["status"]) == (2, "error")
        assert reason in body["reason"]
    pathlib.Path("new.joblib").write_bytes(b"no model")
    assert "cannot be loaded" in gate(*trusted)[1]["reason"]
    joblib.dump(Failing().fit(X, y), "new.joblib")
    status, body = gate(*replaced(trusted, guess_from=None, guess=["0"]))
    assert (status, body["status"]) == (2, "failed")
    assert 5.0 < body["nats"] < 10.0
    for bad in (Leaver("loading"), Leaver("predict"), Raiser()):
        joblib.dump(bad, "new.joblib")
        status, body = gate(*trusted)
        assert (status, body["status"]) == (2, "error")


class Leaver:
    """A model that ends the process, as if all was well, when it is loaded or predicts."""

    def __init__(self, when):
        self.when = when

    def __setstate__(self, state):
        print('{"exit": 0, "status": "passed"}')
        self.when = state["when"]
        if self.when == "loading":
            sys.exit(0)

    def predict(self, X):
        sys.exit(0)


class Failing:
    """A model that fails on the rows of the holdout."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        raise ValueError("no answer")


class Raiser:
    """A model whose outputs no metric can take."""

    def predict(self, X):
        raise AssertionError("no outputs")


SCRIPT = """
set -u
ask() { "$PYTHON" -m sklearn_ada gate FILES --ledger "$LEDGER" --incumbent used.csv --candidate "$1.csv" \\
  --guess-from v_used.csv "v_$1.csv" v_labels.csv; }
for name in $ONE_BY_ONE; do ask $name > $name.json; echo "$name $?"; done
ask good > one.json & first=$!
ask bad > other.json & second=$!
wait $first; echo "good $?"
wait $second; echo "bad $?"
"""


@pytest.mark.thorough
@pytest.mark.parametrize("names", [list(CANDIDATES), []], ids=["file", "postgresql"])
def test_a_shell_script_asks_about_candidates_and_about_two_at_once(folder, names, request, tmp_path):
    book = "gate.db" if names else request.getfixturevalue("postgresql").url(uuid.uuid4().hex)
    script = tmp_path / "gate.sh"
    script.write_text(SCRIPT.replace("FILES", " ".join(FILES)))
    run = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    given = {"LEDGER": book, "PYTHON": sys.executable, "ONE_BY_ONE": " ".join(names)}
    with started(run, "sh", script, cwd=tmp_path, **given) as process:
        out, err = process.communicate(timeout=300)
    status = {"good": 0} | dict.fromkeys(("same", "like", "bad", "dice"), 1)
    assert out.splitlines() == [f"{name} {status[name]}" for name in [*names, "good", "bad"]], err
    assert PASSWORD not in out + err + "".join(path.read_text() for path in tmp_path.glob("*.json"))
    assert json.loads((tmp_path / "one.json").read_text())["repeated"] == bool(names)
