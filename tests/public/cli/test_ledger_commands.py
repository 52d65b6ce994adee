"""``ledger show``, ``verify`` and ``report`` tell what is in a ledger, and change nothing."""

import contextlib
import csv
import io
import json
import shutil
import subprocess
import sys

import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor

from sklearn_ada import Holdout, MedianSettings
from sklearn_ada.accounting import event_from_dict
from sklearn_ada.cli import main
from sklearn_ada.ledger import SQLiteLedger
from sklearn_ada.mechanisms import UniformGrid
from tests.support import holdouts
from tests.support.ledger.damages import run as run_sql
from tests.support.ledger.ledger_backends import Tally
from tests.support.ledger.postgresql_server import PASSWORD
from tests.support.ledgers import begun_as
from tests.support.processes import interpreter

X, Y = [[float(i)] for i in range(40)], [0, 1] * 20
ACTIONS = ("show", "verify", "report", "head")
COLUMNS = [
    *("index", "kind", "time", "who", "label", "metric", "purpose", "mechanism", "guess", "answer", "low"),
    *("high", "verdict", "nats", "epsilon", "rho", "target", "reason", "model"),
]


def opened(path, who=None, label=None):
    return Holdout(X, Y, ledger=path, tolerance=0.4, who=who, label=label)


MODEL = DummyClassifier(strategy="constant", constant=1).fit(X, Y)
MOST_FREQUENT = DummyClassifier().fit(X, Y)


def certify(path, who=None, model=MODEL, scoring="accuracy", guess=0.5, **how):
    return opened(path, who, **how).certify(model, scoring=scoring, guess=guess)


@pytest.fixture
def ledger(tmp_path):
    """Two askers, one refusal (too wide for this tolerance)."""
    path = tmp_path / "ledger.db"
    with begun_as(1):  # in which nothing is paid for by opening it again
        ada = opened(path, "ada", label="notebook 3")
    bob = opened(path, "bob")
    ada.certify(MOST_FREQUENT, scoring="accuracy", guess=0.5)
    bob.check(MODEL, scoring="accuracy", guess=0.5)
    return path


@pytest.fixture
def copies(ledger, tmp_path):
    """The ledger, an older copy of it, and a copy that was used by itself after it: a fork."""
    older, fork = (shutil.copy(ledger, tmp_path / name) for name in ("older.db", "fork.db"))
    certify(ledger)
    certify(fork, guess=0.6)  # the refund
    return ledger, older, fork


@pytest.fixture
def printed(capsys):
    def run(*arguments):
        status = main(["ledger", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert status == (1 if err else 0)
        return err or out

    return run


@pytest.fixture
def in_json(printed):
    return lambda *arguments: json.loads(printed(*arguments, "--json"), parse_constant=pytest.fail)


def test_show_lists_every_record_in_aligned_columns_with_who_asked_and_why_it_was_refused(ledger, printed):
    lines = printed("show", ledger).splitlines()
    head, certified, refusal, total, target = lines
    columns = "time who label metric mechanism guess answer interval nats reason"
    assert set(columns.split()) <= set(head.split())
    words = ("ada", "notebook 3", "accuracy [a]", "certify", "0.5", "exact")
    assert all(word in certified for word in words)
    assert all(word in refusal for word in ("bob", "refused", "tolerance of 0.4"))
    assert "accuracy [" not in refusal  # it has no score
    assert total.endswith("nats in all; asked: 1 question; refused: 1; --all lists 1 record more")
    assert printed("show", ledger, "--all").splitlines()[1].split() == ["0", "genesis"]
    assert target == "[a] population accuracy at the holdout's class mix"
    for name in ("who", "metric", "mechanism", "verdict"):
        start = head.index(name)
        assert all(line[start - 1 : start] in ("", " ") for line in lines[:-2])
    assert [line[head.index("who") :][:3] for line in (certified, refusal)] == ["ada", "bob"]


def test_show_folds_what_was_asked_again_and_shows_no_centre_of_a_cell(tmp_path, printed, in_json):
    path = tmp_path / "ledger.db"
    holdout = Holdout(X, Y, ledger=path, answers="coarse")
    for model in (MODEL, MODEL, MOST_FREQUENT):
        holdout.certify(model, scoring="accuracy", guess=0.4)
    head, first, *_ = printed("show", path).splitlines()
    sealed = next(row for row in in_json("show", path) if row["kind"] == "sealed")
    assert "asked again 1 time" in first
    assert " 0.4 " in first
    assert f"{sealed['answer']:.4g} " not in first.split("[")[0].replace("0.4 ", "", 1)
    assert "answer" not in head.split()
    assert len(printed("show", path, "--all").splitlines()) > len(printed("show", path).splitlines())


def test_show_in_json_and_csv_has_the_same_keys_for_every_record(ledger, printed, in_json):
    rows = in_json("show", ledger)
    assert [list(row) for row in rows] == [COLUMNS] * 3
    _, certified, refusal = rows
    assert (certified["who"], certified["label"], certified["answer"]) == ("ada", "notebook 3", 0.5)
    assert 0.0 < certified["low"] < 0.5 < certified["high"] < 1.0
    assert certified["nats"] > 0.0
    assert (refusal["kind"], refusal["answer"], refusal["nats"]) == ("refusal", None, None)
    assert "tolerance" in refusal["reason"]
    as_csv = list(csv.DictReader(io.StringIO(printed("show", ledger, "--csv"))))
    assert as_csv == [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]


def test_infinite_ends_are_null(tmp_path, printed, in_json):
    path = tmp_path / "wide.db"
    asked = {"scoring": "r2", "purpose": "check", "settings": MedianSettings(grid=UniformGrid(-1, 1, 9))}
    holdouts.ask(Holdout(X, Y, ledger=path), DummyRegressor().fit(X, Y), **asked)
    (answer,) = (row for row in in_json("show", path) if row["kind"] == "answer")
    assert answer["low"] is None
    assert "-inf" in printed("show", path)


@pytest.mark.parametrize(("limit", "shown"), [(1, [2]), (2, [1, 2]), (9, [0, 1, 2])])
def test_limit_shows_the_last_records(ledger, in_json, limit, shown):
    assert [row["index"] for row in in_json("show", ledger, "--limit", limit)] == shown


@pytest.mark.parametrize("bad", [["--limit", "0"], ["--limit", "x"], ["--json", "--csv"]])
def test_bad_options_are_refused(ledger, bad, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["ledger", "show", str(ledger), *bad])
    assert "usage" in capsys.readouterr().err


def test_report_says_what_is_spent_and_left_and_by_whom(ledger, printed):
    text, report = printed("report", ledger), opened(ledger).report()
    assert f"{report.nats:.4g} nats" in text
    assert "asked by: ada (1), bob (1)" in text
    assert "scores of the population accuracy at the holdout's class mix: 1\n" in text
    assert f"check {report.outlook.remaining['check']}, certify {report.outlook.remaining['certify']}" in text
    rows = [line.split() for line in text.splitlines()[-4:]]
    assert [row[0] for row in rows] == ["0", "1", "10", "100"]
    for forecast in report.outlook.forecasts:
        row = next(row for row in rows if row[0] == str(forecast.after))
        assert f"{forecast.half_width:.4f}" in row
        assert f"{forecast.worst:.4f}" in row
    assert "*" in text  # the next check is beyond the tolerance
    certify(ledger, scoring="balanced_accuracy")
    assert "asked by: ada (1), bob (1), nobody named (1)" in printed("report", ledger)


def test_report_in_json_is_that_of_the_holdout(ledger, in_json):
    body = in_json("report", ledger)
    assert body == json.loads(json.dumps(opened(ledger).report().to_dict()))
    assert (body["asked"], body["refused"]) == ({"check": 0, "certify": 1}, 1)
    assert body["targets"] == {"population accuracy at the holdout's class mix": 1}


def test_report_of_a_ledger_that_nobody_asked(tmp_path, printed):
    Holdout(X, Y, ledger=tmp_path / "fresh.db")
    assert "nobody yet" in printed("report", tmp_path / "fresh.db")


def test_verify_passes_an_intact_ledger_and_names_what_is_damaged(ledger, tmp_path, printed):
    assert "3 records agree" in printed("verify", ledger)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(ledger.read_bytes().replace(b'"kind":"answer"', b'"kind":"answeR"'))
    assert "record 1 does not continue the chain" in printed("verify", damaged)


@pytest.mark.thorough
def test_verify_fails_in_a_process_of_its_own_with_status_1(ledger):
    run_sql(str(ledger), "UPDATE head SET count = 2")
    done = interpreter("-m sklearn_ada ledger verify", ledger, check=False)
    assert done.returncode == 1
    assert "head does not match" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def another(tmp_path):
    """The ledger of another holdout."""
    return Holdout(X, Y[::-1], ledger=tmp_path / "other.db").ledger.path


def test_verify_tells_copies_older_copies_and_forks(ledger, copies, another, tmp_path, printed):
    _, older, fork = copies
    for pair in ((ledger, older), (older, ledger)):
        assert f"{older} is an older copy: it lacks the last 1 records" in printed("verify", *pair)
    for pair in ((ledger, fork), (fork, ledger), (ledger, older, fork)):
        assert "part after record 2" in printed("verify", *pair)
    same = shutil.copy(ledger, tmp_path / "copy.db")
    assert "copy.db holds the same records" in printed("verify", ledger, same)
    assert "not copies of one ledger" in printed("verify", ledger, another)


def everything_in(folder):
    files = [(path, path.stat()) for path in folder.iterdir()]
    return {path.name: (path.read_bytes(), stat.st_mtime_ns, stat.st_mode) for path, stat in files}


@pytest.mark.thorough
def test_looking_at_a_ledger_leaves_no_trace(ledger):
    """In a process that has never opened it, and where the file may only be read."""
    ledger.chmod(0o444)
    before = everything_in(ledger.parent)
    code = """
        import sys
        from sklearn_ada.cli import main
        print([main(["ledger", action, sys.argv[1]]) for action in sys.argv[2:]])
    """
    done = interpreter(code, ledger, *ACTIONS)
    assert done.stdout.splitlines()[-1] == "[0, 0, 0, 0]"
    assert everything_in(ledger.parent) == before


THOROUGH_FORMS = [pytest.param([form], marks=pytest.mark.thorough) for form in ("--csv", "--json")]


@pytest.mark.parametrize("form", [[], *THOROUGH_FORMS])
def test_a_reader_that_stops_early_sees_no_traceback(form, ledger):
    show = [sys.executable, "-m", "sklearn_ada", "ledger", "show", str(ledger), *form]
    with subprocess.Popen(show, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as shown:
        shown.stdout.close()  # before anything is written
        assert shown.stderr.read() == b""
    assert shown.returncode == 1


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_no_ledger_is_an_error_and_unchanged(action, tmp_path, printed):
    assert (
        printed(action, tmp_path / "none.db") == f"There is no ledger file 'none.db' in {str(tmp_path)!r}.\n"
    )
    assert not list(tmp_path.iterdir())
    path = tmp_path / "notes.txt"
    path.write_text("not a ledger " * 100)
    assert "not a readable ledger" in printed(action, path)
    assert path.read_text() == "not a ledger " * 100


def test_a_book_in_a_database_is_shown_like_a_file_and_its_password_is_not(
    postgresql, printed, in_json, tmp_path
):
    urls = [postgresql.url(f"{tmp_path.name}{part}") for part in ("a", "b")]
    certify(urls[0], "ada", MOST_FREQUENT)
    (row,) = (row for row in in_json("show", urls[0]) if row["kind"] == "answer")
    assert (row["who"], row["answer"]) == ("ada", 0.5)
    assert "asked by: ada (1)" in printed("report", urls[0])
    assert "2 records agree" in printed("verify", urls[0])
    assert "no such book" in printed("show", urls[1])  # and it is not begun by being looked at
    opened(urls[1])
    output = printed("verify", *urls)
    assert "not copies of one ledger" in output
    assert PASSWORD not in output


def test_a_head_is_printed_and_continued_by_later_records(ledger, printed, in_json):
    head = printed("head", ledger).strip()
    assert head.startswith("3-")
    assert head == opened(ledger).report().head == in_json("report", ledger)["head"]
    assert head in repr(opened(ledger).report())
    certify(ledger)
    assert "continues the head" in printed("verify", ledger, "--head", head)


def test_verify_prints_nothing_of_what_agrees_where_something_does_not(ledger, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    opened(ledger).export(path)
    path.write_text(path.read_text().replace('"rows": 40', '"rows": 41'))
    assert main(["ledger", "verify", str(ledger), "--certificate", str(path)]) == 1
    out, err = capsys.readouterr()
    assert (out, "certificate" in err) == ("", True)


def test_an_older_copy_another_ledger_and_a_parted_one_do_not_continue_a_head(copies, another, printed):
    ledger, older, fork = copies
    head = printed("head", ledger).strip()
    for path, problem in ((older, "older copy"), (fork, "parted"), (another, "another ledger")):
        assert problem in printed("verify", path, "--head", head)
    with pytest.raises(SystemExit, match="2"):
        main(["ledger", "verify", str(ledger), "--head", "3-abc"])


CRASHED = """
    import os, sys
    from sklearn_ada.ledger import sqlite
    from tests.public.cli.test_ledger_commands import certify, opened
    add, holdout = sqlite.SQLiteFile.add, opened(sys.argv[1])
    holdout.ledger._connection()._db.execute("PRAGMA cache_spill = ON")
    def add_and_die(self, row):
        self._db.execute("PRAGMA cache_size = 1")
        add(self, row)
        for seq in (1, 2):
            self._db.execute("UPDATE records SET body = zeroblob(100000) WHERE seq = ?", (seq,))
        os._exit(9)
    sqlite.SQLiteFile.add = add_and_die
    certify(sys.argv[1])
"""


@pytest.fixture
def crashed(ledger):
    """A ledger whose last writer died in the middle of a charge: part of it is in the file."""
    assert interpreter(CRASHED, ledger, check=False).returncode == 9
    return ledger


@pytest.mark.thorough
@pytest.mark.parametrize("action", ACTIONS)
def test_a_ledger_whose_writer_crashed_can_be_looked_at(crashed, action):
    assert interpreter(f"-m sklearn_ada ledger {action}", crashed).stderr == ""


def test_a_crashed_ledger_that_may_only_be_read_says_what_to_do(crashed, monkeypatch, printed):
    monkeypatch.setattr("sklearn_ada.ledger.sqlite.os.access", lambda path, mode: False)
    assert "must be undone first" in printed("verify", crashed)
    monkeypatch.undo()
    assert "3 records agree" in printed("verify", crashed)


SLIPS = ["postgresql:/user:pw@host/db", "postgres:user:pw@host", "POSTGRESQL://user:pw@h", "mysql://u:pw@h"]


@pytest.mark.parametrize("address", SLIPS)
@pytest.mark.parametrize("action", ACTIONS)
def test_a_url_with_a_slip_is_not_printed_with_its_password(address, action, printed):
    output = printed(action, address)
    assert "no ledger at" in output
    assert "pw" not in output


@pytest.mark.parametrize("address", SLIPS[:2])
def test_a_url_with_a_slip_is_not_taken_for_a_path(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="postgres") as caught:
        Holdout(X, Y, ledger=address)
    assert "pw" not in str(caught.value)
    assert not list(tmp_path.iterdir())


MISPLACED = [
    "{url}", "plan {url}", "plan --rows {url}", "plan --picture {url}", "demo --picture {url}",
    "ledger {url}", "ledger head {path} {url}",
    "ledger show {path} --limit {url}",
    "ledger close {path} --head {url}",
    "ledger unseal {path} {url}", "ledger unseal {path} --head 1 --key {url}", "ledger head {path} --{url}",
    "ledger verify {path} --certificate {url}", "ask --predictions {url} --data {url} --ledger {url}",
    "ask --predictions {path} --data {path} --ledger {url} {url}",
    "ask --predictions {path} --data {path} --ledger {url} --guess {url}",
    "ask --predictions {path} --data {path} --ledger {url} --answers {url}",
]  # fmt: skip


@pytest.mark.parametrize("url", ["postgresql://ada:XqzZqx@h/d", "postgres://:Xq@Zqx@h", "x:password=XqzZqx"])
@pytest.mark.parametrize("command", MISPLACED)
def test_a_password_is_not_repeated_wherever_it_is_given(command, url, ledger, capsys):
    with contextlib.suppress(SystemExit):
        assert main(command.format(url=url, path=ledger).split()) == 1
    printed = "".join(capsys.readouterr())
    assert not any(part in printed for part in ("Xq", "Zqx"))


OUTPUTS = {
    "a terminal of few signs": ("PYTHONIOENCODING=ascii {}", 0, r"Zo\xeb", ""),
    "a full disk": ("{} > /dev/full", 1, "", "could be written: No space left on device. What was recorded"),
    "no output": ("{} >&-", 0, "", ""),
}


@pytest.mark.parametrize(("how", "status", "out", "err"), OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_that_does_not_take_all_is_no_traceback(how, status, out, err, tmp_path):
    certify(tmp_path / "ledger.db", "Zoë")
    show = f"{sys.executable} -m sklearn_ada ledger show {tmp_path / 'ledger.db'}"
    done = subprocess.run(how.format(show), shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert out in done.stdout
    assert err in done.stderr if err else done.stderr == ""


def test_a_name_steers_neither_a_terminal_nor_a_spreadsheet(tmp_path, printed):
    path, name = tmp_path / "ledger.db", "=1+1\x1b[2J\u202e"
    holdout = opened(path)
    holdout.certify(MOST_FREQUENT, scoring="accuracy", guess=0.5)
    body = {**holdout.ledger.record(1).body, "who": name, "label": "@label"}  # as no Holdout would write it
    event = event_from_dict(body["event"])
    holdout.ledger.charge(None, lambda state: {**body, "price": state.account.price(event)})
    for output in (printed("show", path), printed("report", path), repr(holdout.report())):
        assert [part in output for part in ("=1+1", "\x1b", "\u202e")] == [True, False, False]
    row = list(csv.DictReader(io.StringIO(printed("show", path, "--csv"))))[2]
    assert (row["who"], row["label"]) == ("'" + name, "'@label")
    assert float(row["low"]) > 0.0


def test_records_that_this_release_cannot_read_are_errors_without_traceback(ledger, tmp_path, printed):
    path, genesis = tmp_path / "newer.db", opened(ledger).ledger.genesis
    strange = {**genesis, "code": {"kind": "another", "unheard_of": 1}}
    SQLiteLedger.create_or_open(path, lambda secret: strange, Tally)
    for action in ACTIONS:
        assert "release" in printed(action, path)
    path = tmp_path / "newest.db"
    newer = SQLiteLedger.create_or_open(path, lambda secret: genesis, Tally)
    newer.charge("new", lambda state: {"kind": "of a newer release"})
    assert "newer release" in printed("show", path, "--limit", "1")


def test_text_of_a_schema_that_cannot_be_decoded_is_damage(ledger, printed):
    content = bytearray(ledger.read_bytes())
    content[content.index(b"CREATE TABLE records") + 7] = 0xFF
    ledger.write_bytes(content)
    for action in ACTIONS:
        assert "not a readable ledger" in printed(action, ledger)
