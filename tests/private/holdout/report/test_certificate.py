"""A certificate says what the ledger says, can be verified without rows, and tells nothing that is sealed."""

import contextlib
import html.parser
import json
import pathlib
import re
import shutil
import sqlite3

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Guess, Holdout, Metric
from sklearn_ada.cli import main
from sklearn_ada.holdout.certificate import export_certificate
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger
from tests.support import holdouts
from tests.support.ledger.damages import forget
from tests.support.ledgers import bodies, rewritten

X, Y = make_classification(900, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)
HELD, VALIDATION, FITTED = slice(0, 300), slice(300, 500), slice(500, 900)
TREES = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X[FITTED], Y[FITTED]) for d in (1, 2, 3, 4)]
EXAMPLES = X[VALIDATION], Y[VALIDATION]


def squared(y, outputs):
    return -((y - outputs) ** 2)


TERMS = {"tolerance": 0.499, "who": "ada <b>"}


def asked(path, **terms):
    """A holdout of which every kind of answer that rests on the number of rows was asked, and two others."""
    holdout = Holdout(X[HELD], Y[HELD], ledger=path, **TERMS, **terms)
    for tree in TREES:
        holdout.check(tree, scoring="accuracy", guess_from=EXAMPLES)
    holdout.check(TREES[0], scoring="accuracy", guess=0.2, settings=0.05)
    holdout.check(TREES[0], scoring="f1", guess_from=EXAMPLES)
    for scoring in ("accuracy", "f1", "roc_auc"):
        holdout.certify(TREES[1], scoring=scoring, guess_from=EXAMPLES)
    holdout.certify(TREES[1], scoring=Metric("neg_log_loss", range=(-2, 0)), guess=Guess(-0.5, 200.0, 0.1))
    holdout.certify(TREES[2], scoring=Metric(squared, kind="mean", range=(-1, 0)), guess=-0.2)
    return holdout


def sealed(path):
    holdout = Holdout(X[HELD], Y[HELD], ledger=path, answers="coarse")
    for tree in TREES:
        holdout.certify(tree, scoring="accuracy", guess_from=EXAMPLES)
    name = holdouts.open_round(holdout, 2, purpose="certify", scoring=Metric("accuracy"), name="two")
    for depth in (5, 6):
        model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[FITTED], Y[FITTED])
        holdouts.ask(holdout, model, scoring="accuracy", purpose="certify", guess=0.85, round_name=name)
    return holdout


@pytest.fixture(scope="module")
def ledger_of_ada(tmp_path_factory):
    return asked(tmp_path_factory.mktemp("ada") / "ledger.db").ledger.path


@pytest.fixture
def ada(ledger_of_ada, tmp_path):
    """A holdout of which all was asked, on a ledger that the test may change."""
    return Holdout(X[HELD], Y[HELD], ledger=shutil.copy(ledger_of_ada, tmp_path / "ledger.db"), **TERMS)


def exported(holdout):
    """Write the certificate beside the ledger, and return what it says."""
    return json.loads(holdout.export(beside(holdout.ledger.path)).read_text())


def beside(ledger):
    return pathlib.Path(ledger).with_name("certificate.json")


def page_of(holdout):
    return holdout.export(beside(holdout.ledger.path).with_suffix(".html")).read_text()


@pytest.fixture
def verify(capsys):
    def run(ledger, certificate=None):
        forget()
        path = str(certificate or beside(ledger))
        status = main(["ledger", "verify", str(ledger), "--certificate", path])
        out, err = capsys.readouterr()
        assert status == (1 if err else 0)
        return err or out

    return run


def test_a_certificate_has_the_figures_of_the_report(ada):
    certificate, report = exported(ada), ada.report()
    assert [each["index"] for each in certificate["answers"]] == [a.index for _, a in report.answers]
    for each, (metric, answer) in zip(certificate["answers"], report.answers, strict=True):
        assert (each["metric"], each["verdict"], each["nats"]) == (metric, answer.verdict, answer.cost.nats)
        assert each["interval"] == [end if np.isfinite(end) else None for end in answer.interval]
        if answer.answered:
            assert each["theorem"] in certificate["theorems"]
            assert set(answer.certificate.assumptions) <= set(certificate["assumptions"])
    assert (certificate["head"], certificate["revealed"]["nats"]) == (report.head, report.nats)
    assert {each["model"] for each in certificate["answers"]} == {"DecisionTreeClassifier"}


def test_every_interval_that_rests_on_the_number_of_rows_is_computed_again(ada, verify):
    exported(ada)
    printed = verify(ada.ledger.path)
    assert sum(answer.answered for _, answer in ada.report().answers) == 10  # and one was refused
    assert "8 intervals computed again" in printed
    for missing in ("a function of all rows (matched blocks)", "a function of all rows (fixed bets)"):
        assert f"1 interval compared with the records, as no ledger holds {missing}" in printed


def test_sealed_answers_finals_and_unsealed_ones_are_computed_again(tmp_path, verify):
    holdout = sealed(tmp_path / "s.db")
    exported(holdout)
    assert "6 intervals computed again" in verify(tmp_path / "s.db")
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "s.db", answers="coarse")
    holdout.publish(TREES[3], scoring="accuracy")
    deep = DecisionTreeClassifier(random_state=0).fit(X[FITTED], Y[FITTED])
    holdout.publish(deep, scoring="accuracy", guess=0.8)
    holdout.close()
    holdout.unseal()
    exported(holdout)
    printed = verify(tmp_path / "s.db")
    assert re.search(r"1[0-9] intervals computed again", printed)
    assert "compared" not in printed


def test_nothing_sealed_is_exported(tmp_path):
    holdout = sealed(tmp_path / "s.db")
    certificate = exported(holdout)
    holdout.export(tmp_path / "page.html")
    assert "<td>sealed</td>" in (tmp_path / "page.html").read_text()
    text = json.dumps(certificate) + page_of(holdout)
    records = [body for body in bodies(holdout) if body.get("sealed")]
    assert len(records) == 6
    hidden = [body[name] for body in records for name in ("sealed", "said")]
    for each in (*hidden, holdout.ledger.secret().hex(), '"sealed":', '"said"'):
        assert each not in text
    exact = [round(300 * tree.score(X[HELD], Y[HELD])) / 300 for tree in TREES]
    assert {each["value"] for each in certificate["answers"]}.isdisjoint(exact)


CHANGES = {
    r"answers\[\d+\]\.interval\[0\] it says": lambda c: c["answers"][6]["interval"].__setitem__(0, 0.5),
    r"answers\[\d+\]\.target it says 'x', the ledger": lambda c: c["answers"][6].update(target="x"),
    "answers it says": lambda c: c["answers"].pop(0),
    r"revealed\.nats": lambda c: c["revealed"].update(nats=c["revealed"]["nats"] / 2),
    "assumptions": lambda c: c["assumptions"].pop(),
    r"holdout\.confidence_level it says 0.99, the ledger's records give 0.95": lambda c: c["holdout"].update(
        confidence_level=0.99
    ),
}


@pytest.mark.parametrize("where", CHANGES)
def test_a_certificate_that_was_changed_is_refused_with_its_place(where, ada, verify):
    certificate = exported(ada)
    CHANGES[where](certificate)
    beside(ada.ledger.path).write_text(json.dumps(certificate))
    assert re.search(f"certificate was changed: at {where}", verify(ada.ledger.path))


def test_a_longer_ledger_agrees_and_an_older_copy_or_another_ledger_does_not(ada, tmp_path, verify):
    shutil.copy(ada.ledger.path, tmp_path / "old.db")
    ada.check(TREES[0], scoring="accuracy", guess=0.55)
    exported(ada)
    ada.check(TREES[0], scoring="accuracy", guess=0.56)
    other = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "other.db", confidence_level=0.9)
    assert "agrees with the ledger" in verify(ada.ledger.path)
    assert "it is an older copy" in verify(tmp_path / "old.db")
    assert "it is another ledger" in verify(other.ledger.path)


def narrower(body):
    body["outcome"]["interval"][0] += 0.01


@pytest.mark.parametrize("edit", [narrower, lambda body: body.update(ln_delta=body["ln_delta"] + 0.5)])
@pytest.mark.parametrize(("begin", "how"), [(asked, TERMS), (sealed, {"answers": "coarse"})])
def test_a_record_with_another_interval_is_found_though_its_chain_is_whole(
    edit, begin, how, tmp_path, verify
):
    rewritten(tmp_path / "a.db", begin(tmp_path / "a.db").report().answers[3][1].index, edit)
    exported(Holdout(X[HELD], Y[HELD], ledger=tmp_path / "a.db", **how))
    assert "the ledger was edited, or" in verify(tmp_path / "a.db")


def test_what_is_no_certificate_is_refused(ada, tmp_path, verify):
    """A name that stands twice, too: readers see the first one, and only the last would be compared."""
    exported(ada)
    path = beside(ada.ledger.path)
    text = path.read_text()
    twice = text.replace('"verdict":', '"verdict": "agrees", "verdict":', 1)
    assert twice != text
    no_head = [json.dumps(json.loads(path.read_text()) | {"head": head}) for head in ("", "7", " ", None)]
    for text in ("{}", "[1]", "no json", '{"format": "sklearn_ada certificate 1"}', twice, *no_head):
        path.write_text(text)
        assert "no certificate" in verify(ada.ledger.path)
    assert "cannot be read" in verify(ada.ledger.path, tmp_path / "missing.json")


EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def test_names_are_text_in_the_page_whatever_they_hold(tmp_path):
    evil = type(EVIL, (DecisionTreeClassifier,), {})(max_depth=1).fit(X[FITTED], Y[FITTED])
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "e.db", who=EVIL, label="</td>&")

    def named(y, outputs):
        return (y == outputs).astype(float)

    named.__name__ = "<svg onload=alert(2)>"
    holdout.certify(evil, scoring=Metric(named, kind="mean", range=(0, 1)), guess=0.7)
    page, tags = page_of(holdout), []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, *(name for name, _ in attributes)))
    parser.feed(page)
    assert tags
    assert not {"script", "img", "svg"} & {tag for tag, *_ in tags}
    assert not any(name.startswith("on") for _, *names in tags for name in names)
    assert "&lt;script&gt;alert" in page
    assert "&lt;svg onload=alert(2)&gt;" in page
    assert "://" not in page  # one file: nothing is fetched


def test_the_page_has_what_the_certificate_has(ada, tmp_path):
    certificate, page = exported(ada), page_of(ada)
    for each in certificate["answers"]:
        assert re.search(f"<tr[^>]*><td>{each['index']}</td>", page)
    for text in (certificate["head"], "ada &lt;b&gt;", "ledger verify FILE --certificate"):
        assert text in page
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "many.db")
    for number in range(201):
        holdout.check(TREES[0], scoring="accuracy", guess=0.8, settings=0.05 + number / 1e5)
    assert "The last 200 of 201; the JSON has" in page_of(holdout)


def test_a_holdout_that_was_never_asked_has_one_too_and_groups_are_compared_with_records(tmp_path, verify):
    holdout = Holdout(X[HELD], Y[HELD], groups=np.arange(300) // 2, ledger=tmp_path / "g.db")
    assert exported(holdout)["answers"] == []
    assert "0 intervals" in verify(tmp_path / "g.db")
    assert "nobody" in page_of(holdout)
    holdout.certify(TREES[0], scoring="accuracy", guess=0.7)
    exported(holdout)
    printed = verify(tmp_path / "g.db")
    assert "0 intervals computed again" in printed
    assert "1 interval compared with the records, as no ledger holds weights or groups of the rows" in printed


def test_exporting_charges_nothing_and_other_endings_are_refused(ada, tmp_path):
    before, files = ada.ledger.head(), {*tmp_path.iterdir()}
    exported(ada)
    with pytest.raises(ValueError, match=r"^The 'path' parameter of Holdout.export must be .+ to verify\.$"):
        ada.export(tmp_path / "certificate.pdf")
    assert ada.ledger.head() == before
    assert {*tmp_path.iterdir()} - files == {tmp_path / "certificate.json"}


EXPORTED = pathlib.Path(__file__).parents[3] / "golden" / "exported" / "exported_0_1_0.json"


@pytest.fixture
def old_ledger(tmp_path):
    """The ledger of a certificate that was exported before fields were added, or modules moved."""
    with contextlib.closing(sqlite3.connect(tmp_path / "old.db")) as db:
        db.executescript(EXPORTED.with_suffix(".sql").read_text())
    return tmp_path / "old.db"


def test_a_certificate_of_an_older_release_is_made_again_to_the_byte(old_ledger, tmp_path, verify):
    assert "agrees with the ledger: 8 intervals computed again" in verify(old_ledger, EXPORTED)
    ledger = open_existing_ledger(str(old_ledger), State)
    assert export_certificate(ledger, tmp_path / "made.json").read_text() == EXPORTED.read_text()


def test_fields_that_were_added_later_may_be_missing_and_no_others(old_ledger, tmp_path, verify, monkeypatch):
    given = json.loads(EXPORTED.read_text())
    del given["holdout"]["identity"]
    for each in given["answers"]:
        del each["model"]
    old = tmp_path / "old.json"
    old.write_text(json.dumps(given))
    assert "certificate was changed: at answers[2] it says nothing of 'model'" in verify(old_ledger, old)
    later = frozenset({"holdout.identity", "answers.model"})
    monkeypatch.setattr("sklearn_ada.holdout.certificate.ADDED_LATER", later)
    assert "agrees with the ledger" in verify(old_ledger, old)
    assert "agrees with the ledger" in verify(old_ledger, EXPORTED)
    del given["answers"][3]["nats"]
    old.write_text(json.dumps(given))
    assert "certificate was changed: at answers[5] it says" in verify(old_ledger, old)


def test_an_answer_of_a_mechanism_that_is_not_known_here_is_said_to_be_one(old_ledger, tmp_path, verify):
    rewritten(old_ledger, 6, lambda body: body["mechanism"].update(name="oracle"))
    path = export_certificate(open_existing_ledger(str(old_ledger), State), tmp_path / "new.json")
    reason = "compared with the records, as this release does not have their mechanism (oracle)"
    assert reason in verify(old_ledger, path)


def later(certificate):
    """Add fields as a later release may, at every depth, and return their names."""
    certificate["signed"] = {"by": ["ada"], "on": 3}
    certificate["holdout"]["colour"] = None
    certificate["revealed"]["rows"] = {"deep": [1, 2]}
    for each in certificate["answers"]:
        each["weights"] = [0.5]
    return "answers.weights, signed, holdout.colour, revealed.rows"


def test_fields_of_a_later_release_are_listed_and_all_others_are_compared(old_ledger, tmp_path, verify):
    given, path = json.loads(EXPORTED.read_text()), tmp_path / "later.json"
    names = later(given)
    path.write_text(json.dumps(given))
    printed = verify(old_ledger, path)
    assert "agrees with the ledger: 8 intervals computed again" in printed
    assert f"not checked, as this release does not know them: {names}\n" in printed
    given["answers"][-1]["nats"] += 0.1
    path.write_text(json.dumps(given))
    assert re.search(r"certificate was changed: at answers\[\d+\]\.nats it says", verify(old_ledger, path))


FORGED = {
    r"asked\.asked by it says": lambda c: c["asked"]["asked by"].update(eve=3),
    r"revealed\.nats it says 1000": lambda c: c["revealed"].update(nats=10**400),
    r"answers\[2\]\.value it says \[": lambda c: c["answers"][0].update(value=[1.0]),
    r"holdout it says \[\]": lambda c: c.update(holdout=[]),
    r"answers it says \{": lambda c: c.update(answers={}),
    r"answers it says None": lambda c: c.pop("answers"),
    r"answers\[2\] it says 7": lambda c: c["answers"].__setitem__(0, 7),
    r"its top it says nothing of 'targets'": lambda c: c.pop("targets"),
}


@pytest.mark.parametrize("where", FORGED)
def test_a_certificate_of_any_form_is_refused_in_words(where, old_ledger, tmp_path, verify):
    given, path = json.loads(EXPORTED.read_text()), tmp_path / "forged.json"
    FORGED[where](given)
    path.write_text(json.dumps(given))
    assert re.search(f"certificate was changed: at {where}", verify(old_ledger, path))


def test_json_that_is_too_deep_is_no_certificate(old_ledger, tmp_path, verify):
    path = tmp_path / "deep.json"
    path.write_text('{"format": ' + "[" * 200_000 + "]" * 200_000 + "}")
    assert "no certificate" in verify(old_ledger, path)
