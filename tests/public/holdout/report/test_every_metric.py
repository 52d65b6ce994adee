"""Every surface says of every metric what is true of it: a table of metrics, one walk, a test a surface."""

import html
import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_ada import AnswersDisplay, Holdout, HoldoutBudgetDisplay, Metric, ReusableHoldoutCV
from sklearn_ada.cli import main
from sklearn_ada.exceptions import BudgetExhaustedError

ROWS = 900
CASES = {
    "accuracy": ("accuracy", 2, {}),
    "roc_auc": ("roc_auc", 2, {}),
    "f1": ("f1", 2, {}),
    "f1_macro": ("f1_macro", 3, {}),
    "neg_log_loss": (Metric("neg_log_loss", range=(-3, 0)), 2, {}),
    "neg_mean_absolute_error": (Metric("neg_mean_absolute_error", range=(-200, 0)), None, {}),
    "r2": ("r2", None, {}),
    "accuracy of groups": ("accuracy", 2, {"groups": np.arange(ROWS) // 3}),
    "difference": ("accuracy", 2, {}),
}
SURFACES = ("report", "page", "command", "budget", "answers")


def rows_of(n_classes):
    if n_classes is None:
        return make_regression(2 * ROWS, 5, noise=40.0, random_state=0)
    return make_classification(2 * ROWS, 8, n_informative=4, flip_y=0.1, n_classes=n_classes, random_state=0)


def shown(holdout, path, capsys):
    """Return what each surface says, in words."""
    main(["ledger", "report", str(path)])
    budget, answers = (HoldoutBudgetDisplay.from_holdout(holdout), None)
    if holdout.report().answers:
        answers = AnswersDisplay.from_holdout(holdout)
    texts = {
        "report": str(holdout.report()),
        "page": html.unescape(re.sub("<[^>]+>", " ", holdout._repr_html_())).replace("±", "+-"),
        "command": capsys.readouterr().out,
    }
    for name, display in (("budget", budget), ("answers", answers)):
        axes = [] if display is None else np.atleast_1d(display.ax_)
        words = [text for ax in axes for text in (ax.get_title(), ax.get_xlabel(), *map(_word, ax.texts))]
        legends = [ax.get_legend() for ax in axes if ax.get_legend() is not None]
        texts[name] = "\n".join([*words, *(_word(text) for each in legends for text in each.get_texts())])
        for ax in axes:
            sys.modules["matplotlib.pyplot"].close(ax.figure)
    return texts


def _word(text):
    return " ".join(text.get_text().split())


@pytest.fixture(params=CASES)
def case(request, tmp_path, capsys):
    """Ask three models of a ledger that was begun by the metric, and keep what is shown before and after."""
    pytest.importorskip("matplotlib")
    scoring, n_classes, how = CASES[request.param]
    X, y = rows_of(n_classes)
    path = tmp_path / "ledger.db"
    holdout = Holdout(X[:ROWS], y[:ROWS], ledger=path, answers="coarse", scoring=scoring, **how)
    kind = Ridge if n_classes is None else lambda alpha: LogisticRegression(C=1 / alpha)
    models = [kind(alpha).fit(X[ROWS:1400], y[ROWS:1400]) for alpha in (100.0, 10.0, 1.0)]
    asked = {"scoring": scoring, "guess_from": (X[1400:], y[1400:])}
    before = shown(holdout, path, capsys)
    if request.param == "difference":
        answers = [holdout.compare(models[0], model, **asked) for model in models[1:]]
    else:
        answers = [holdout.certify(model, **asked) for model in models]
    after = shown(holdout, path, capsys)
    return SimpleNamespace(
        name=request.param, metric=getattr(scoring, "name", scoring), holdout=holdout, path=path, asked=asked,
        models=models, answers=answers, before=before, after=after, capsys=capsys,
    )  # fmt: skip


def test_every_surface_speaks_of_the_metric_or_says_that_nothing_is_foreseen(case):
    """One walk for all surfaces: to be asked, sealed, published, closed, unsealed and verified."""
    of_counts = case.name in ("accuracy", "difference")
    outlook = case.holdout.report().outlook
    for surface in SURFACES:
        assert "told" not in case.before[surface]
        assert ("by accuracy" in case.before[surface]) == (of_counts and surface != "answers"), surface
        if not of_counts and surface != "answers":
            assert "not foreseen" in case.before[surface]
        assert ("by accuracy" in case.after[surface]) == (case.metric == "accuracy" and surface != "answers")
        if surface != "answers":
            assert f"by {case.metric}" in case.after[surface], surface
    assert outlook.metric == case.metric
    assert outlook.in_cells

    # What is foreseen of the next search comes true, in the metric's units and near the last answer.
    last, (first, *_) = case.answers[-1], outlook.of("certify")
    if case.name != "difference":
        assert first.half_width * outlook.span == pytest.approx(last.half_width, rel=0.2)
        assert outlook.published * outlook.span == pytest.approx(last.published, rel=0.2)
        assert case.holdout.report().headline.startswith(
            f"The next search by {case.metric} is answered at about +-{first.half_width * outlook.span:.2g}"
        )
    assert "centre of its cell" not in case.after["answers"]
    assert "shown as the guess" not in case.after["answers"]

    # Published (of a difference: one of its models), closed and unsealed.
    final = case.holdout.publish(case.models[-1], **case.asked)
    assert final.verdict == "exact"
    assert "1 score was published" in case.holdout.report().headline
    assert final.index in case.holdout.report().released_in.values()
    case.holdout.close()
    closed = shown(case.holdout, case.path, case.capsys)
    for surface in SURFACES[:4]:
        assert "The holdout is closed: nothing new is answered" in closed[surface]
        assert not re.search(r"next search|next check|next certify|would release", closed[surface]), surface
    unsealed = case.holdout.unseal()
    records = case.holdout.report().released_in
    assert all(answer.index in records for answer in case.answers)
    assert {answer.verdict for answer in unsealed} <= {"exact"}
    for answer in unsealed:
        assert "shown as the guess" not in answer.target
        assert answer.interval[0] <= answer.value <= answer.interval[1]

    # The certificate and the command line agree with all of it.
    certificate = case.path.with_name("certificate.json")
    case.holdout.export(certificate)
    assert main(["ledger", "verify", str(case.path), "--certificate", str(certificate)]) == 0
    assert "the certificate agrees with the ledger" in case.capsys.readouterr().out
    metrics = {answer["metric"] for answer in json.loads(certificate.read_text())["answers"]}
    assert case.metric in metrics
    case.holdout.export(page := case.path.with_name("certificate.html"))
    assert case.metric in page.read_text()


@pytest.mark.parametrize("name", [name for name in CASES if name != "difference"])
def test_within_a_tolerance_as_many_are_left_by_the_metric_as_is_said(name, tmp_path):
    scoring, n_classes, how = CASES[name]
    X, y = rows_of(n_classes)
    holdout = Holdout(
        X[:ROWS], y[:ROWS], ledger=tmp_path / "a.db", answers="coarse", scoring=scoring, tolerance=0.25, **how
    )
    if name != "accuracy":
        with pytest.raises(ValueError, match=r"^The 'scoring' parameter of Holdout\.remaining .*Certify one"):
            holdout.remaining()
    model = (Ridge if n_classes is None else LogisticRegression)().fit(X[ROWS:1400], y[ROWS:1400])
    answer = holdout.certify(model, scoring=scoring, guess_from=(X[1400:], y[1400:]))
    left = holdout.remaining()
    assert answer.answered
    assert left > 0
    assert left == holdout.remaining(scoring) == holdout.report().outlook.remaining["certify"]
    metric = getattr(scoring, "name", scoring)
    assert re.match(rf"You can still run .+ by {metric}; the next is answered at", holdout.report().headline)


def test_windows_of_other_rows_foresee_nothing(tmp_path):
    X, y = rows_of(2)
    holdout = Holdout(X[:ROWS], y[:ROWS], ledger=tmp_path / "a.db", answers="coarse", scoring="roc_auc")
    model = LogisticRegression().fit(X[ROWS:1200], y[ROWS:1200])
    holdout.certify(model, scoring="roc_auc", guess_from=(X[1200:1500], y[1200:1500]))
    assert holdout.report().outlook.metric == "roc_auc"
    assert holdout.top_up(X[1500:], y[1500:]).report().outlook.metric is None


@pytest.mark.parametrize("name", [name for name in CASES if name != "difference"])
def test_the_recipe_of_a_study_is_that_of_every_metric(name, tmp_path):
    """Each trial of Optuna asks about its model, and the best one is published."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    scoring, n_classes, how = CASES[name]
    X, y = rows_of(n_classes)
    holdout = Holdout(X[:ROWS], y[:ROWS], ledger=tmp_path / "a.db", answers="coarse", scoring=scoring, **how)
    guessed = {"scoring": scoring, "guess_from": (X[1400:], y[1400:])}

    def fitted(alpha):
        model = Ridge(alpha=alpha) if n_classes is None else LogisticRegression(C=1.0 / alpha)
        return model.fit(X[ROWS:1400], y[ROWS:1400])

    def objective(trial):
        answer = holdout.certify(fitted(trial.suggest_float("alpha", 0.1, 1e3, log=True)), **guessed)
        trial.set_user_attr("interval", answer.interval)
        return answer.value

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=4)
    assert holdout.report().nats < 0.5
    low, high = study.best_trial.user_attrs["interval"]
    final = holdout.publish(fitted(study.best_params["alpha"]), **guessed)
    assert final.verdict == "exact"
    assert low <= final.value <= high
    assert final.half_width < (high - low) / 2.0


@pytest.mark.filterwarnings("ignore:These rows, or nearly all of them, were asked about")
@pytest.mark.parametrize("name", ["f1_macro", "r2"])
def test_a_search_whose_width_only_its_guess_foresees_is_admitted_by_that(name, tmp_path):
    """Before it is asked nobody knows how wide it is; too wide, it is refused then."""
    scoring, n_classes, _ = CASES[name]
    inner = Ridge() if n_classes is None else LogisticRegression()
    grid = GridSearchCV(inner, {"alpha" if n_classes is None else "C": [0.1, 1.0]})
    X, y = rows_of(n_classes)
    how = {"scoring": scoring, "holdout": np.arange(len(X)) < ROWS}
    search = ReusableHoldoutCV(grid, tolerance=0.2, ledger=tmp_path / "a.db", **how).fit(X, y)
    span = {"f1_macro": 1.0, "r2": 2.0}[name]
    assert search.best_answer_.half_width <= 0.2 * span
    tight = ReusableHoldoutCV(grid, tolerance=0.01, ledger=tmp_path / "b.db", **how)
    with pytest.raises(BudgetExhaustedError, match="less precise than the tolerance"):
        tight.fit(X, y)
