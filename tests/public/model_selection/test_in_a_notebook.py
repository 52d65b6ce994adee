"""What a notebook shows of a holdout, an answer, a certificate and a fitted search."""

import html
import pickle

import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, ReusableHoldoutCV
from tests.support.searches import grid

X, Y = make_classification(600, 5, flip_y=0.2, random_state=0)
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    path = tmp_path_factory.mktemp("shown") / "a.db"
    return ReusableHoldoutCV(grid(cv=3), ledger=path, holdout=0.4).fit(X, Y)


def page_of(shown):
    return html.unescape(shown._repr_html_())


def test_a_search_shows_diagram_score_and_what_is_left(search):
    page = page_of(search)
    assert "sk-top-container" in page
    assert search.best_answer_.summary in page
    assert search.best_score_target_ in page
    assert search.holdout_.report().headline in page
    assert search._repr_mimebundle_()["text/html"].count("sk-top-container") >= 1


def test_before_fit_there_is_the_diagram_alone_and_without_diagrams_text_only(search):
    page = page_of(ReusableHoldoutCV(search.search))
    assert "sk-top-container" in page
    assert "Certified score" not in page
    with config_context(display="text"):
        assert not hasattr(search, "_repr_html_")
        assert list(search._repr_mimebundle_()) == ["text/plain"]


def test_after_pickling_it_says_what_was_left(search):
    headline = search.holdout_.report().headline
    assert f"When it was pickled: {headline}" in page_of(pickle.loads(pickle.dumps(search)))


def test_a_holdout_shows_what_is_left_and_what_was_asked(search):
    page, report = page_of(search.holdout_), search.holdout_.report()
    for told in (report.headline, report.head, "0 checks, 1 certify, 0 refused", repr(search.holdout_)):
        assert told in page
    assert not any(str(value) in page for value in X[:5, 0])


def test_an_answer_shows_its_certificate_and_a_refusal_its_reason(search, tmp_path):
    answer = search.best_answer_
    for told in (answer.summary, answer.certificate.theorem, *answer.certificate.assumptions):
        assert told in page_of(answer)
    assert page_of(answer.certificate) in page_of(answer)
    strict = Holdout(X[:100], Y[:100], tolerance=0.01, ledger=tmp_path / "strict.db")
    refused = strict.certify(search.best_estimator_, scoring="accuracy", guess=0.8)
    assert refused.reason in page_of(refused)
    assert "certificate" not in page_of(refused)


def test_names_are_text(tmp_path):
    holdout = Holdout(X[:100], Y[:100], ledger=tmp_path / "evil.db", who=EVIL)
    model = DecisionTreeClassifier(max_depth=1).fit(X[100:], Y[100:])
    holdout.check(model, scoring="accuracy", guess=0.8)
    for shown in (holdout, holdout.report()):
        assert EVIL not in shown._repr_html_()
        assert html.escape(EVIL) in shown._repr_html_()


def test_a_ledger_out_of_reach_is_said_and_raises_nothing(search, tmp_path):
    holdout = Holdout(X[:100], Y[:100], ledger=tmp_path / "gone.db")
    for path in tmp_path.iterdir():
        path.unlink()
    assert "What is left cannot be told" in page_of(holdout)
