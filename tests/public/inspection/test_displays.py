"""Displays show what the report says, and nothing else."""

import dataclasses
import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import (
    Answer,
    AnswersDisplay,
    Guess,
    Holdout,
    HoldoutBudgetDisplay,
    LadderScorer,
    MedianSettings,
    ReusableHoldoutCV,
    plan_holdout,
)
from sklearn_ada.cli import main
from sklearn_ada.holdout import Cost
from sklearn_ada.mechanisms import UniformGrid
from tests.support.searches import grid

VERDICTS = ("agrees", "differs", "exact", "drawn", "improves", "no improvement")  # with a value

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def trees():
    X, y = make_classification(900, 6, n_informative=4, flip_y=0.1, random_state=0)
    models = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X[300:], y[300:]) for d in range(1, 7)]
    return X[:300], y[:300], models


@pytest.fixture
def models(trees):
    return trees[2]


@pytest.fixture
def holdout_of(trees, tmp_path):
    """Open a holdout of the rows that the trees were not fitted on."""
    return lambda **how: Holdout(*trees[:2], ledger=tmp_path / "own.db", **how)


@pytest.fixture
def asked(trees, tmp_path):
    """A holdout that agreed, was surprised, certified and refused."""
    X, y, models = trees
    holdout = Holdout(X, y, tolerance=0.3, ledger=tmp_path / "asked.db")
    for model in models[:4]:
        holdout.check(model, scoring="accuracy", guess=model.score(X, y))
    holdout.certify(models[3], scoring="accuracy", guess=0.8)
    guesses = np.linspace(0.01, 0.3, 12)
    about = {"scoring": "accuracy"}
    verdicts = [
        holdout.check(models[4], guess=each, settings=0.05 + each / 100, **about).verdict for each in guesses
    ]
    assert set(verdicts) == {"differs", "refused"}
    return holdout


def ends(bars):
    """Return the lower and upper ends of error bars."""
    return [(segment[0, 0], segment[1, 0]) for segment in bars.lines[2][0].get_segments()]


def collection(display, label):
    """Return what the legend calls so."""
    (found,) = [each for each in display.ax_.collections if each.get_label() == label]
    return found


def offsets(display, label):
    """Return the places of the markers that the legend calls so."""
    return [tuple(place) for place in collection(display, label).get_offsets()]


def labels(display):
    return {text.get_text() for text in display.ax_.get_legend().get_texts()}


def test_every_answer_has_its_interval_in_its_row_and_a_refusal_stands_at_the_left_edge(asked):
    display, entries = AnswersDisplay.from_holdout(asked), asked.report().entries
    answers = [answer for _, answer in asked.report().answers]
    for verdict, bars in display.bars_.items():
        mine = [(row, answer) for row, answer in enumerate(answers) if answer.verdict == verdict]
        np.testing.assert_allclose(ends(bars), [answer.interval for _, answer in mine])
        assert [segment[0, 1] for segment in bars.lines[2][0].get_segments()] == [row for row, _ in mine]
        np.testing.assert_allclose(offsets(display, verdict), [(a.value, row) for row, a in mine])
    assert set(display.bars_) == {"agrees", "differs", "exact"}
    assert labels(display) == {"agrees", "differs", "exact", "guess", "refused"}
    assert "95%" in display.ax_.get_title()
    # Guesses are hollow and values full.
    np.testing.assert_allclose(offsets(display, "guess"), [(e.guess, row) for row, e in enumerate(entries)])
    assert len(collection(display, "guess").get_facecolor()) == 0
    assert collection(display, "agrees").get_facecolor()[0, 3] == 1.0
    refused = [row for row, answer in enumerate(answers) if answer.verdict == "refused"]
    assert [row for _, row in offsets(display, "refused")] == refused != []
    assert {at for at, _ in offsets(display, "refused")} == {0.015}
    assert collection(display, "refused").get_offset_transform() == display.ax_.get_yaxis_transform()


def test_rows_are_named_by_record_model_and_the_label_of_who_asked(asked, models, holdout_of):
    names = [text.get_text() for text in AnswersDisplay.from_holdout(asked).ax_.get_yticklabels()]
    assert names == [f"#{entry.index} DecisionTreeClassifier" for entry in asked.report().entries]
    holdout = holdout_of(label="second try")
    holdout.check(models[0], scoring="accuracy", guess=0.8)
    (name,) = AnswersDisplay.from_holdout(holdout).ax_.get_yticklabels()
    assert name.get_text() == "#1 DecisionTreeClassifier, second try"


def test_sealed_answers_show_how_wide_they_would_be_if_published(trees, holdout_of):
    X, y, models = trees
    holdout = holdout_of(answers="coarse")
    answers = [holdout.certify(model, scoring="accuracy", guess=model.score(X, y)) for model in models[:3]]
    holdout.publish(models[2], scoring="accuracy")
    display = AnswersDisplay.from_holdout(holdout)
    assert set(display.bars_) == {"sealed", "published"}
    np.testing.assert_allclose(ends(display.bars_["sealed"]), [answer.interval for answer in answers])
    assert "while searching" in labels(display)
    bands = collection(display, "about what publish() would have given")
    assert [band[0, 1] for band in bands.get_segments()] == [0, 1]  # the third was published
    would_be = [
        np.clip([a.value - a.published, a.value + a.published], *a.interval) for a in answers[:2]
    ]  # what is published lies in the interval of the asking
    np.testing.assert_allclose([band[:, 0] for band in bands.get_segments()], would_be)


def test_a_picture_names_holdout_and_askers_and_has_no_number_beyond_the_range_of_the_metric(
    trees, holdout_of
):
    _, _, models = trees
    holdout = holdout_of(who="Ada", answers="coarse")
    for model in models[3:]:
        holdout.certify(model, scoring="accuracy", guess=0.99)
    display, report = AnswersDisplay.from_holdout(holdout), holdout.report()
    title = display.ax_.get_title()
    assert all(part in title for part in (report.fingerprint[:8], f"{report.n_rows:,} rows", "Ada (3)"))
    assert display.ax_.get_xlim()[1] > 1.0  # some room beside the last interval
    assert max(display.ax_.get_xticks()) <= 1.0
    holdout.close()
    left = AnswersDisplay.from_holdout(holdout).ax_.collections
    assert not [each for each in left if str(each.get_label()).startswith("as wide")]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_with_a_value_has_a_marker_and_a_colour_of_its_own(verdict, asked):
    report = asked.report()
    answers = tuple(
        (name, dataclasses.replace(answer, verdict=verdict) if answer.verdict == "exact" else answer)
        for name, answer in report.answers
    )
    display = AnswersDisplay.from_holdout(dataclasses.replace(report, answers=answers))
    assert verdict in labels(display) & set(display.bars_)
    colours = {name: tuple(bars.lines[2][0].get_color()[0]) for name, bars in display.bars_.items()}
    assert len(set(colours.values())) == len(colours)
    shapes = {collection(display, name).get_paths()[0].vertices.tobytes() for name in display.bars_}
    assert len(shapes) == len(display.bars_)  # without colours


def test_the_answers_of_a_ladder_are_shown(trees, holdout_of):
    X, y, models = trees
    holdout = holdout_of()
    scorer, rows = LadderScorer("accuracy", holdout), np.random.default_rng(5).normal(size=X.shape)
    for model in (models[0], models[3], DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, 1 - y)):
        scorer(model, rows, y)
    display = AnswersDisplay.from_holdout(holdout)
    assert set(display.bars_) == {"improves", "no improvement"}
    ((low, high), *_) = ends(display.bars_["no improvement"])
    assert low == 0.0 < high < 1.0


@pytest.mark.parametrize(("noise", "metric"), [("median", "f1_macro"), ("gaussian", "accuracy")])
def test_answers_with_noise_are_shown(noise, metric, tmp_path):
    X, y = make_classification(4_000, 4, n_informative=3, n_redundant=0, random_state=0)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:500], y[:500])
    private = {"route": "differential_privacy", "random_state": 0, "expected_questions": 4}
    holdout = Holdout(X[500:], y[500:], ledger=tmp_path / "noise.db", **private)
    settings = MedianSettings() if noise == "median" else None
    answer = holdout.certify(model, scoring=metric, guess=0.8, settings=settings)
    assert answer.verdict == "drawn"
    display = AnswersDisplay.from_holdout(holdout)
    vacuous = answer.certificate.vacuous
    assert vacuous == (noise == "median")
    assert set(display.bars_) == (set() if vacuous else {"drawn"})
    assert labels(display) == {"vacuous: certifies nothing" if vacuous else "drawn", "guess"}


@pytest.mark.parametrize("display", [AnswersDisplay, HoldoutBudgetDisplay])
def test_a_search_that_was_pickled_can_still_be_drawn_by_its_holdout(display, trees, tmp_path):
    wrapped = ReusableHoldoutCV(grid(), ask="candidates", answers="exact", ledger=tmp_path / "pickled.db")
    search = wrapped.fit(*trees[:2])
    before, after = (display.from_holdout(s.holdout_) for s in (search, pickle.loads(pickle.dumps(search))))
    assert before.report == after.report
    assert labels(before) == labels(after)
    refusal = (
        rf"(?s)^The 'holdout' parameter of {display.__name__}.from_holdout must be .+ give its holdout_\.$"
    )
    with pytest.raises(ValueError, match=refusal):
        display.from_holdout(search)


@pytest.mark.parametrize(("level", "shown"), [(0.999, "99.9%"), (0.975, "97.5%"), (0.99999, "99.999%")])
def test_the_confidence_is_shown_with_all_its_digits(level, shown, models, holdout_of, tmp_path, capsys):
    holdout = holdout_of(confidence_level=level)
    answer = holdout.certify(models[0], scoring="accuracy", guess=0.8)
    assert main(["ledger", "report", str(tmp_path / "own.db")]) == 0
    texts = (
        str(answer.certificate), repr(holdout.report()), capsys.readouterr().out,
        AnswersDisplay.from_holdout(holdout).ax_.get_title(),
        str(plan_holdout(n=300, n_questions=2, confidence_level=level)),
    )  # fmt: skip
    assert all(shown in text for text in texts)


def test_quantile_levels_are_rounded_outwards():
    answer = Answer(0.5, (0.4, 0.6), "drawn", Cost(1.0), None, 1, levels=(0.4519, 0.5481))
    assert "between the 45.1% and 54.9% quantiles" in str(answer)


def test_vacuous_answers_stand_apart_and_have_no_bar():
    X, y = make_regression(60, 3, noise=1.0, random_state=0)
    model, holdout = LinearRegression().fit(X[30:], y[30:]), Holdout(X[:30], y[:30])
    settings = MedianSettings(2, UniformGrid(-1.0, 1.0, 201), "auto", "exact")
    answer = holdout.certify(model, scoring="r2", guess=0.9, settings=settings)
    assert answer.certificate.vacuous
    display = AnswersDisplay.from_holdout(holdout)
    assert display.bars_ == {}
    assert offsets(display, "vacuous: certifies nothing") == [(answer.value, 0.0)]


def test_the_axis_says_what_the_scores_are_scores_of(models, holdout_of):
    holdout = holdout_of()
    for guess, model in zip((Guess(0.8, 100.0, 0.1), Guess(0.8, 100.0, 0.2)), models, strict=False):
        holdout.check(model, scoring="f1_macro", guess=guess, settings=MedianSettings(method="exact"))
    label = AnswersDisplay.from_holdout(holdout).ax_.get_xlabel()
    assert max(map(len, label.splitlines())) <= 80
    assert len(label.splitlines()) <= 3
    assert " ".join(label.split()).startswith("median of f1_macro over random subsamples of 20 records")
    assert label.count("median") == 1  # the steps of their rounding differ, the quantity does not


def test_metrics_have_a_panel_each(models, holdout_of):
    holdout = holdout_of()
    for metric in ("accuracy", "balanced_accuracy"):
        holdout.certify(models[0], scoring=metric)
    display = AnswersDisplay.from_holdout(holdout)
    assert display.metrics_ == ["accuracy", "balanced_accuracy"]
    axes = [" ".join(ax.get_xlabel().split()) for ax in display.ax_]
    assert axes[0] == "population accuracy at the holdout's class mix"
    assert axes[1].startswith("population balanced_accuracy at the holdout's class mix, rounded to steps of ")
    for bars, (_, answer) in zip(display.bars_, holdout.report().answers, strict=True):
        assert ends(bars["exact"]) == [pytest.approx(answer.interval)]
    one = AnswersDisplay.from_holdout(holdout, metric="balanced_accuracy")
    assert " ".join(one.ax_.get_xlabel().split()) == axes[1]
    figure, panels = pyplot.subplots(2)
    assert AnswersDisplay.from_holdout(holdout, ax=panels).figure_ is figure
    with pytest.raises(ValueError, match=r"^The 'ax' parameter of .+ 2 axes, .+ name one metric: metric="):
        AnswersDisplay.from_holdout(holdout, ax=panels[0])
    with pytest.raises(ValueError, match=r"^The 'metric' parameter of AnswersDisplay .+ Got 'f1' instead"):
        AnswersDisplay.from_holdout(holdout, metric="f1")


def test_of_many_answers_some_rows_are_numbered(asked):
    report = asked.report()
    many = dataclasses.replace(report, answers=report.answers[:5] * 20, entries=report.entries[:5] * 20)
    display = AnswersDisplay.from_holdout(many)
    assert len(display.ax_.get_yticks()) == 10
    assert display.ax_.get_ylim() == (99.6, -0.6)


def test_before_the_first_question_there_is_nothing_to_show(holdout_of):
    with pytest.raises(ValueError, match="none was"):
        AnswersDisplay.from_holdout(holdout_of())


def test_a_budget_shows_the_forecasts_within_the_axes(asked, holdout_of):
    display, report = HoldoutBudgetDisplay.from_holdout(asked), asked.report()
    for purpose, line in display.lines_.items():
        ahead = [f for f in report.outlook.forecasts if f.purpose == purpose]
        np.testing.assert_array_equal(line.get_xdata(), [f.after for f in ahead])
        np.testing.assert_array_equal(line.get_ydata(), [f.half_width for f in ahead])
    assert labels(display) >= {"next check", "next certify", "tolerance 0.3"}
    assert display.ax_.get_title() == report.headline
    widest = max(f.half_width for f in report.outlook.forecasts)
    assert max(widest, report.tolerance) < display.ax_.get_ylim()[1]
    without = HoldoutBudgetDisplay.from_holdout(holdout_of())
    assert labels(without) == {"next check", "next certify"}


@pytest.mark.parametrize(("tolerance", "some"), [(0.12, {True, False}), (0.01, {True}), (None, {False})])
def test_questions_that_would_be_refused_are_hollow(tolerance, some, holdout_of):
    holdout = holdout_of(tolerance=tolerance)
    display = HoldoutBudgetDisplay.from_holdout(holdout)
    hollow = {
        (line.get_label().removeprefix("next ").removesuffix(": refused"), after)
        for line in display.ax_.lines
        if line.get_markerfacecolor() == "white"
        for after in line.get_xdata()
    }
    forecasts = holdout.report().outlook.forecasts
    assert hollow == {(f.purpose, f.after) for f in forecasts if not f.admitted}
    assert {not f.admitted for f in forecasts} == some


def test_where_searches_are_answered_in_cells_their_widths_are_drawn_and_what_would_be_published(
    trees, holdout_of
):
    X, y, models = trees
    holdout = holdout_of(answers="coarse")
    holdout.certify(models[0], scoring="accuracy", guess=models[0].score(X, y))
    display, outlook = HoldoutBudgetDisplay.from_holdout(holdout), holdout.report().outlook
    assert labels(display) == {"next search by accuracy", f"publish() would release: {outlook.published:.3f}"}
    assert display.published_.get_ydata()[0] == outlook.published
    assert display.ax_.get_xlabel() == "after so many more searches whose guesses hold"
    assert len(holdout.report().headline) > 100  # too long for a title, and its widths are in the picture
    assert display.ax_.get_title() == "How wide the next answers would be"
    holdout.check(models[1], scoring="accuracy", guess=models[1].score(X, y))
    assert "next check" in labels(HoldoutBudgetDisplay.from_holdout(holdout))


@pytest.mark.parametrize("display", [AnswersDisplay, HoldoutBudgetDisplay])
def test_axes_that_are_passed_are_used_and_a_picture_charges_nothing(display, asked, uncharged):
    figure, ax = pyplot.subplots()
    with uncharged(asked):
        drawn = display.from_holdout(asked, ax=ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is figure
    assert drawn.plot().ax_ is not ax


@pytest.mark.parametrize("display", [AnswersDisplay, HoldoutBudgetDisplay])
def test_without_matplotlib_the_fix_is_named(display, asked, hidden):
    hidden("matplotlib")
    with pytest.raises(ImportError, match=r"matplotlib: pip install matplotlib"):
        display.from_holdout(asked)
