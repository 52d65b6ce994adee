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
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Guess, Holdout, Metric
from sklearn_ada.cli import main
from sklearn_ada.holdout.certificate import export_certificate
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger import open_existing_ledger
from tests.support import holdouts
from tests.support.ledger.damages import forget
from tests.support.ledgers import rewritten

X, Y = make_classification(900, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)
HELD, VALIDATION, FITTED = slice(0, 300), slice(300, 500), slice(500, 900)
TREES = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X[FITTED], Y[FITTED]) for d in (1, 2, 3, 4)]
EXAMPLES = X[VALIDATION], Y[VALIDATION]


def squared(y, outputs):
    return -((y - outputs) ** 2)


def asked(path, **how):
    """A holdout of which every kind of answer that rests on the number of rows was asked, and two others."""
    holdout = Holdout(X[HELD], Y[HELD], ledger=path, tolerance=0.499, who="ada <b>", **how)
    for tree in TREES:
        holdout.check(tree, scoring="accuracy", guess_from=EXAMPLES)
    holdout.check(TREES[0], scoring="accuracy", guess=0.2)
    holdout.check(TREES[0], scoring="f1", guess_from=EXAMPLES)
    holdout.certify(TREES[1], scoring="accuracy", guess_from=EXAMPLES)
    holdout.certify(TREES[1], scoring="f1", guess_from=EXAMPLES)
    holdout.certify(TREES[1], scoring=Metric("neg_log_loss", range=(-2, 0)), guess=Guess(-0.5, 200.0, 0.1))
    holdout.certify(TREES[2], scoring=Metric(squared, kind="mean", range=(-1, 0)), guess=-0.2)
    holdout.certify(TREES[1], scoring="roc_auc", guess_from=EXAMPLES)
    return holdout


def sealed(path):
    holdout = Holdout(X[HELD], Y[HELD], ledger=path, answers="coarse")
    for tree in TREES:
        holdout.certify(tree, scoring="accuracy", guess_from=EXAMPLES)
    name = holdouts.open_round(holdout, 2, purpose="certify", scoring=Metric("accuracy"), key="two")
    for depth in (5, 6):
        model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[FITTED], Y[FITTED])
        holdouts.ask(holdout, model, scoring="accuracy", purpose="certify", guess=0.85, round_name=name)
    return holdout


def exported(holdout, folder, name="certificate.json"):
    holdout.export(folder / name)
    return json.loads((folder / name).read_text())


def page_of(holdout, folder):
    return holdout.export(folder / "page.html").read_text()


@pytest.fixture
def verify(capsys):
    def run(ledger, certificate):
        forget()
        status = main(["ledger", "verify", str(ledger), "--certificate", str(certificate)])
        out, err = capsys.readouterr()
        assert status == (1 if err else 0)
        return err or out

    return run


def test_it_says_what_the_report_says(tmp_path):
    holdout = asked(tmp_path / "a.db")
    certificate, report = exported(holdout, tmp_path), holdout.report()
    assert [each["index"] for each in certificate["answers"]] == [a.index for _, a in report.answers]
    for each, (metric, answer) in zip(certificate["answers"], report.answers, strict=True):
        assert (each["metric"], each["verdict"], each["nats"]) == (metric, answer.verdict, answer.cost.nats)
        assert each["interval"] == [end if np.isfinite(end) else None for end in answer.interval]
        if answer.answered:
            assert each["theorem"] in certificate["theorems"]
            assert set(answer.certificate.assumptions) <= set(certificate["assumptions"])
    assert (certificate["head"], certificate["revealed"]["nats"]) == (report.head, report.nats)
    assert {each["model"] for each in certificate["answers"]} == {"DecisionTreeClassifier"}


def test_every_interval_that_rests_on_the_number_of_rows_is_computed_again(tmp_path, verify):
    holdout = asked(tmp_path / "a.db")
    exported(holdout, tmp_path)
    told = verify(tmp_path / "a.db", tmp_path / "certificate.json")
    values = sum(answer.answered for _, answer in holdout.report().answers)
    assert values == 10  # and one was refused
    assert f"{values - 2} intervals computed again" in told
    assert "1 interval compared with the records, as no ledger holds a function of all rows" in told
    assert "1 interval compared with the records, as no ledger holds class counts" in told


def test_sealed_answers_finals_and_unsealed_ones_are_computed_again(tmp_path, verify):
    holdout = sealed(tmp_path / "s.db")
    exported(holdout, tmp_path)
    assert "6 intervals computed again" in verify(tmp_path / "s.db", tmp_path / "certificate.json")
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "s.db", answers="coarse")
    holdout.publish(TREES[3], scoring="accuracy")
    holdout.publish(DecisionTreeClassifier(random_state=0).fit(X[FITTED], Y[FITTED]), scoring="accuracy",
                    guess=0.8)  # fmt: skip
    holdout.close()
    holdout.unseal()
    exported(holdout, tmp_path)
    told = verify(tmp_path / "s.db", tmp_path / "certificate.json")
    assert re.search(r"1[0-9] intervals computed again", told)
    assert "compared" not in told


def test_nothing_sealed_is_exported(tmp_path):
    holdout = sealed(tmp_path / "s.db")
    text = json.dumps(exported(holdout, tmp_path))
    holdout.export(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    bodies = [record.body for record in holdout.ledger.records() if record.body.get("sealed")]
    assert len(bodies) == 6
    for body in bodies:
        assert body["sealed"] not in text + page
        assert body["said"] not in text + page
    exact = [round(300 * tree.score(X[HELD], Y[HELD])) / 300 for tree in TREES]
    assert {each["value"] for each in json.loads(text)["answers"]}.isdisjoint(exact)
    assert holdout.ledger.secret().hex() not in text + page
    assert '"sealed":' not in text
    assert '"said"' not in text


def test_a_certificate_goes_on_being_one_when_more_is_asked(tmp_path, verify):
    holdout = asked(tmp_path / "a.db")
    exported(holdout, tmp_path)
    holdout.check(LogisticRegression().fit(X[FITTED], Y[FITTED]), scoring="accuracy", guess=0.8)
    assert "agrees with the ledger" in verify(tmp_path / "a.db", tmp_path / "certificate.json")


CHANGES = [
    (lambda c: c["answers"][6]["interval"].__setitem__(0, 0.5), r"at answers\[\d+\]\.interval\[0\] it says"),
    (
        lambda c: c["answers"][6].update(target="population accuracy"),
        r"at answers\[\d+\]\.target it says 'population accuracy', the ledger",
    ),
    (lambda c: c["answers"].pop(0), r"at answers it says"),
    (lambda c: c["revealed"].update(nats=c["revealed"]["nats"] / 2), r"at revealed\.nats"),
    (lambda c: c["assumptions"].pop(), r"at assumptions"),
    (
        lambda c: c["holdout"].update(confidence_level=0.99),
        r"at holdout\.confidence_level it says 0.99, the ledger's records give 0.95",
    ),
]


def test_a_certificate_that_was_changed_is_refused_with_its_place(tmp_path, verify):
    holdout = asked(tmp_path / "a.db")
    for change, where in CHANGES:
        certificate = exported(holdout, tmp_path)
        change(certificate)
        (tmp_path / "c.json").write_text(json.dumps(certificate))
        assert re.search(f"certificate was changed: {where}", verify(tmp_path / "a.db", tmp_path / "c.json"))


def test_another_ledger_or_an_older_copy_is_refused(tmp_path, verify):
    holdout = asked(tmp_path / "a.db")
    shutil.copy(tmp_path / "a.db", tmp_path / "old.db")
    holdout.check(TREES[0], scoring="accuracy", guess=0.55)
    exported(holdout, tmp_path)
    asked(tmp_path / "b.db", confidence_level=0.9)
    assert "it is another ledger" in verify(tmp_path / "b.db", tmp_path / "certificate.json")
    assert "it is an older copy" in verify(tmp_path / "old.db", tmp_path / "certificate.json")


def narrower(body):
    body["outcome"]["interval"][0] += 0.01


@pytest.mark.parametrize("edit", [narrower, lambda body: body.update(ln_delta=body["ln_delta"] + 0.5)])
@pytest.mark.parametrize(("begin", "how"), [(asked, {"tolerance": 0.499}), (sealed, {"answers": "coarse"})])
def test_a_record_with_another_interval_is_found_though_its_chain_is_whole(
    edit, begin, how, tmp_path, verify
):
    rewritten(tmp_path / "a.db", begin(tmp_path / "a.db").report().answers[3][1].index, edit)
    exported(Holdout(X[HELD], Y[HELD], ledger=tmp_path / "a.db", **how), tmp_path)
    assert "the ledger was edited, or" in verify(tmp_path / "a.db", tmp_path / "certificate.json")


def test_what_is_no_certificate_is_refused(tmp_path, verify):
    """A name that stands twice, too: readers see the first one, and only the last would be compared."""
    exported(asked(tmp_path / "a.db"), tmp_path)
    path = tmp_path / "certificate.json"
    text = path.read_text()
    twice = text.replace('"verdict":', '"verdict": "agrees", "verdict":', 1)
    assert twice != text
    for text in ("{}", "[1]", "no json", '{"format": "sklearn_ada certificate 1"}', twice):
        path.write_text(text)
        assert "no certificate" in verify(tmp_path / "a.db", path)
    assert "cannot be read" in verify(tmp_path / "a.db", tmp_path / "missing.json")


EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def test_names_are_text_in_the_page_whatever_they_hold(tmp_path):
    evil = type(EVIL, (DecisionTreeClassifier,), {})(max_depth=1).fit(X[FITTED], Y[FITTED])
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "e.db", who=EVIL, label="</td>&")

    def named(y, outputs):
        return (y == outputs).astype(float)

    named.__name__ = "<svg onload=alert(2)>"
    holdout.certify(evil, scoring=Metric(named, kind="mean", range=(0, 1)), guess=0.7)
    page, tags = page_of(holdout, tmp_path), []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, *(name for name, _ in attributes)))
    parser.feed(page)
    assert tags
    assert not {"script", "img", "svg"} & {tag for tag, *_ in tags}
    assert not any(name.startswith("on") for _, *names in tags for name in names)
    assert "&lt;script&gt;alert" in page
    assert "&lt;svg onload=alert(2)&gt;" in page
    assert "://" not in page  # one file: nothing is fetched


def test_the_page_has_what_the_certificate_has(tmp_path):
    holdout = asked(tmp_path / "a.db")
    certificate, page = exported(holdout, tmp_path), page_of(holdout, tmp_path)
    for each in certificate["answers"]:
        assert re.search(f"<tr[^>]*><td>{each['index']}</td>", page)
    for text in (certificate["head"], "ada &lt;b&gt;", "ledger verify FILE --certificate"):
        assert text in page
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "many.db")
    for number in range(201):
        holdout.check(TREES[0], scoring="accuracy", guess=0.8 + number / 1e4)
    assert "The last 200 of 201; the JSON has" in page_of(holdout, tmp_path)


def test_a_holdout_that_was_never_asked_has_one_too(tmp_path, verify):
    holdout = Holdout(X[HELD], Y[HELD], ledger=tmp_path / "new.db")
    assert exported(holdout, tmp_path)["answers"] == []
    assert "0 intervals" in verify(tmp_path / "new.db", tmp_path / "certificate.json")
    assert "nobody" in page_of(holdout, tmp_path)


def test_groups_are_compared_with_their_records(tmp_path, verify):
    holdout = Holdout(X[HELD], Y[HELD], groups=np.arange(300) // 2, ledger=tmp_path / "g.db")
    holdout.certify(TREES[0], scoring="accuracy", guess=0.7)
    exported(holdout, tmp_path)
    printed = verify(tmp_path / "g.db", tmp_path / "certificate.json")
    assert "0 intervals computed again" in printed
    assert "1 interval compared with the records, as no ledger holds weights or groups of the rows" in printed


def test_exporting_charges_nothing_and_other_endings_are_refused(tmp_path):
    holdout = asked(tmp_path / "a.db")
    before, files = holdout.ledger.head(), {*tmp_path.iterdir()}
    exported(holdout, tmp_path)
    with pytest.raises(ValueError, match=r"^The 'path' parameter of Holdout.export must be .+ to verify\.$"):
        holdout.export(tmp_path / "certificate.pdf")
    assert holdout.ledger.head() == before
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
    assert "certificate was changed: at holdout it says" in verify(old_ledger, old)
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
    told = verify(old_ledger, path)
    assert "compared with the records, as this release does not have their mechanism (oracle)" in told
