"""The page of a certificate says when and by what it was made, and marks what was published."""

import json
import re
import warnings

from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier

from sklearn_ada import Holdout
from sklearn_ada.cli import main

X, Y = make_classification(1000, random_state=0)


def test_the_page_has_date_versions_terms_and_the_published_row(tmp_path):
    holdout = Holdout(X, Y, ledger=tmp_path / "ledger.db", answers="coarse")
    for constant in (0, 1):
        model = DummyClassifier(strategy="constant", constant=constant).fit(X, Y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ask = holdout.publish if constant else holdout.certify
            ask(model, scoring="accuracy", guess=0.5)
    page = holdout.export(tmp_path / "certificate.html")
    assert page == tmp_path / "certificate.html"
    text = page.read_text()
    assert re.search(r"<dt>Exported</dt><dd>\d{4}-\d\d-\d\d \d\d:\d\d UTC, Python 3\.\d+", text)
    assert "scikit-learn" in text
    assert (
        "<dt>Answers</dt><dd>coarse, by description length, class counts known to whoever asks</dd>" in text
    )
    (marked,) = re.findall(r'<tr class="published">(.*?)</tr>', text)
    assert "<td>published, of 2</td>" in marked
    assert re.search(r"<b>Published: accuracy of DummyClassifier \.498 in \[\.\d+, \.\d+\]</b>", text)


def test_the_json_has_no_date_so_that_it_can_be_made_again(tmp_path, capsys):
    holdout = Holdout(X, Y, ledger=tmp_path / "ledger.db")
    holdout.certify(DummyClassifier().fit(X, Y), scoring="accuracy", guess=0.5)
    first, again = (holdout.export(tmp_path / f"{n}.json").read_text() for n in (1, 2))
    assert first == again
    assert "Python" not in first
    (tmp_path / "changed.json").write_text(json.dumps({**json.loads(first), "exported": "2026-01-01"}))
    verify = ["ledger", "verify", str(tmp_path / "ledger.db"), "--certificate"]
    assert main([*verify, str(tmp_path / "1.json")]) == 0
    assert "1 interval computed again" in capsys.readouterr().out
    assert main([*verify, str(tmp_path / "changed.json")]) == 0
    assert "not checked, as this release does not know them: exported\n" in capsys.readouterr().out
