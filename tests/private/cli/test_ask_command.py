"""``ask``: predictions in a file, true labels in another, and one ledger."""

import csv
import json
import tracemalloc
import uuid

import numpy as np
import pytest

from sklearn_ada import Holdout, Predictions
from sklearn_ada.cli import main
from sklearn_ada.cli.columns import read_columns
from tests.support.ledger.postgresql_server import PASSWORD
from tests.support.ledgers import is_paid_in_advance
from tests.support.processes import started

N = 120
BY_IDS = ["--predictions", "predicted.csv", "--data", "data.csv", "--id-column", "id", "--label-column", "y"]
BY_ORDER = ["--predictions", "predicted.npy", "--data", "y.npy"]
GUESS = ["--guess", "0.9"]
REST = ["--ledger", "team.db", *GUESS]


def write(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The holder's labels, one submission in another order, and both without ids."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y, ids = rng.choice(["cat", "dog"], N), np.array([f"row {i}" for i in range(N)])
    predicted = np.where(rng.random(N) < 0.9, y, np.where(y == "cat", "dog", "cat"))
    order = rng.permutation(N)
    write("data.csv", ("id", "age", "y"), zip(ids, range(N), y, strict=True))
    write("predicted.csv", ("label", "id"), zip(predicted[order], ids[order], strict=True))
    np.save("y.npy", y)
    np.save("predicted.npy", predicted)
    return y, predicted, ids


@pytest.fixture
def answer(capsys):
    """A function that asks and returns the answer."""

    def ask(*arguments):
        assert main(["ask", *arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


@pytest.fixture
def refused(capsys):
    """A function that asks in vain and returns what is said of it."""

    def ask(*arguments, status=1):
        try:
            assert main(["ask", *arguments]) == status
        except SystemExit as stop:
            assert stop.code == status  # noqa: PT017
        out, err = capsys.readouterr()
        assert not out
        return err

    return ask


def change_labels():
    np.save("y.npy", np.load("y.npy")[::-1])


def test_ids_and_order_give_what_the_holdout_gives(folder, answer):
    y, predicted, ids = folder
    by_ids = answer(*BY_IDS, *REST, "--certify", "--who", "ada")
    by_order = answer(*BY_ORDER, "--ledger", "other.db", *GUESS, "--certify")
    assert by_ids["value"] == by_order["value"] == pytest.approx(np.mean(y == predicted))
    holdout = Holdout(np.empty((N, 0)), y, ids=ids, class_mix="priced", ledger="team.db")
    again = holdout.certify(Predictions(predicted, ids), scoring="accuracy", guess=0.9)
    assert again.repeated
    assert list(again.interval) == by_ids["interval"]
    assert holdout.report().asked_by == {"ada": 1}


def test_a_check_a_final_and_a_repetition(folder, answer):
    asked = (*BY_ORDER, *REST, "--answers", "coarse")
    check, *sealed = (answer(*asked, *flags) for flags in ((), ("--certify",), ("--certify",)))
    assert [each["verdict"] for each in (check, answer(*asked, "--publish"))] == ["agrees", "exact"]
    assert [each["repeated"] for each in sealed] == [False, True]
    assert sealed[0]["published"] > 0
    assert check["target"] == "expected accuracy on these rows of X, over labels drawn anew given X"


def test_the_answer_is_a_line_of_text_and_other_labels_are_refused_on_its_ledger(folder, capsys, refused):
    assert main(["ask", *BY_ORDER, *REST]) == 0
    out = capsys.readouterr().out
    assert out.startswith("guess .90, not contradicted by the holdout: in [")
    assert "on these rows of X" in out
    change_labels()
    assert "holdout" in refused(*BY_ORDER, *REST)


def test_a_refusal_has_neither_value_nor_interval(folder, answer):
    found = answer(*BY_ORDER, *REST, "--tolerance", "0.01")
    assert (found["verdict"], found["value"], found["interval"]) == ("refused", None, [None, None])


def test_a_class_of_no_row_is_named(folder, answer):
    np.save("predicted.npy", np.array(["fox", *folder[1][1:]]))
    assert answer(*BY_ORDER, *REST, "--certify", "--class", "fox")["verdict"] == "exact"


@pytest.mark.thorough
def test_two_holders_ask_by_command_on_one_database(folder, answer, tmp_path, postgresql, capsys):
    y, predicted, _ = folder
    book = postgresql.url(uuid.uuid4().hex)
    np.save("ben.npy", np.where(np.arange(N) % 9, y, "cat"))

    def asked(who, ledger):
        predictions = {"ada": "predicted.npy", "ben": "ben.npy"}[who]
        rest = ["--ledger", ledger, *GUESS, "--certify", "--who", who]
        return ["--predictions", predictions, "--data", "y.npy", *rest]

    command = "-m sklearn_ada ask"
    processes = [started(command, *asked(who, book), "--json", cwd=tmp_path) for who in ("ada", "ben", "ada")]
    printed = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], printed
    first, second, again = (json.loads(out) for out, _ in printed)
    assert first["index"] == again["index"] != second["index"]
    assert sorted((first["repeated"], again["repeated"])) == [False, True]
    assert first["value"] == again["value"] == pytest.approx(np.mean(y == predicted))

    # The same as on a file, in this order; and the ledger that a program opens.
    holdout = Holdout(np.empty((N, 0)), y, class_mix="priced", ledger=book)
    assert holdout.report().asked_by == {"ada": 1, "ben": 1}
    bodies = [record.body for record in holdout.ledger.records() if record.seq]
    in_order = [body["who"] for body in bodies if not is_paid_in_advance(body)]
    assert sorted(in_order) == ["ada", "ada", "ben"]
    on_file = {who: answer(*asked(who, "board.db")) for who in in_order}
    for who, found in (("ada", first), ("ben", second)):
        for name in ("value", "verdict", "target"):
            assert found[name] == on_file[who][name]
        # Whether a third process had paid its hundredth of a nat for the labels before is a race.
        assert found["interval"] == pytest.approx(on_file[who]["interval"], abs=0.001)
    assert main(["ledger", "verify", book]) == 0
    assert PASSWORD not in capsys.readouterr().out + "".join(map(str, printed))


@pytest.mark.thorough
def test_a_database_that_refuses_or_is_of_other_labels_is_named_without_its_password(
    folder, answer, postgresql, refused
):
    book = postgresql.url(uuid.uuid4().hex)
    asked = [*BY_ORDER, *GUESS, "--ledger"]
    for url in (book.replace(PASSWORD, "not-the-password"), postgresql.url("b", port=1)):
        err = refused(*asked, url)
        assert "cannot be used: connection" in err
        assert "not-the-password" not in err
        assert PASSWORD not in err
    answer(*asked, book)
    change_labels()
    err = refused(*asked, book)
    assert "holdout" in err
    assert PASSWORD not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*BY_ORDER, "--ledger", "team.db"], "The 'guess' parameter of Holdout.check"),
        ([*BY_ORDER, *REST, "--scoring", "roc_auc"], "a mean of 0/1 losses"),
        ([*BY_ORDER, *REST, "--scoring", "acuracy"], "Did you mean 'accuracy'"),
        ([*BY_ORDER, *REST, "--confidence-level", "2"], "confidence_level"),
        ([*BY_ORDER, *REST, "--certify", "--publish"], "not allowed with argument"),
        (["--predictions", "no.csv", "--data", "y.npy", *REST], "'no.csv' cannot be read"),
        (["--predictions", "predicted.txt", "--data", "y.npy", *REST], "must end in .csv, .npy or .parquet"),
        ([*BY_ORDER, *REST, "--id-column", "id"], "has no names of columns"),
        (
            ["--predictions", "predicted.csv", "--data", "data.csv", *REST],
            "name that of the labels by --label-column",
        ),
        ([*BY_IDS[:-1], "z", *REST], "has no column 'z', but 'id', 'age', 'y'"),
        ([*BY_IDS[:-1], "age", *REST], "the labels of 'data.csv' are whole numbers"),
        (["--predictions", "predicted.npy", *BY_IDS[2:], *REST], "has no names of columns"),
    ],
)
def test_bad_arguments_end_with_status_2(folder, refused, arguments, message):
    assert message in refused(*arguments, status=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column: its first line"),
        ("a\n", None),
        ("a,a\n1,2\n", "two columns of one name"),
        ("a,b\n1,2\n3\n", "lacks a cell, or has one too many, in row 3"),
        ("a,b\n1,\n", "in row 2"),
        ("a,b\n1,2,3\n", "in row 2"),
        (b"a,b\n\xff,1\n", "cannot be read"),
        ('a,b\n1,"' + "x" * 200_000 + '"\n', "cannot be read"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path, text, message):
    path = tmp_path / "labels.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if message is None:
        assert len(read_columns(str(path), None, None)[0]) == 0
        return
    with pytest.raises(ValueError, match=message):
        read_columns(str(path), "b", None)


def test_cells_are_numbers_only_if_all_are_written_as_such(tmp_path):
    path = tmp_path / "labels.csv"
    write(path, ("id", "y"), [("007", "1"), ("8", "-2")])
    labels, ids, _ = read_columns(str(path), "y", "id")
    assert labels.tolist() == [1, -2]
    assert ids.tolist() == ["007", "8"]
    cells = [str(i % 3) for i in range(70_000)] + ["none"]  # a late word
    write(path, ("y",), ([cell] for cell in cells))
    assert read_columns(str(path), None, None)[0].tolist() == cells


def test_without_pyarrow_the_error_says_so(tmp_path, hidden):
    hidden("pyarrow")
    with pytest.raises(ValueError, match="needs pyarrow"):
        read_columns(str(tmp_path / "labels.parquet"), None, None)


@pytest.mark.thorough
def test_memory_is_a_few_times_one_column(tmp_path):
    path, n = str(tmp_path / "labels.csv"), 1_000_000
    write(path, ("y",), ([i % 10] for i in range(n)))
    read_columns(path, None, None)
    tracemalloc.start()
    read_columns(path, None, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 8 * n + 2**25


def test_parquet_reads_like_csv(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = str(tmp_path / "labels.parquet")
    parquet.write_table(pyarrow.table({"id": ["a", "b"], "y": [1, 0]}), path)
    labels, ids, _ = read_columns(path, "y", "id")
    assert (labels.tolist(), ids.tolist()) == ([1, 0], ["a", "b"])
    parquet.write_table(pyarrow.table({"y": [1, None]}), path)
    with pytest.raises(ValueError, match="lacks a cell"):
        read_columns(path, None, None)
    (tmp_path / "labels.parquet").write_bytes(b"no parquet")
    with pytest.raises(ValueError, match="cannot be read"):
        read_columns(path, None, None)
