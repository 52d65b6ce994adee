"""The results page says what the JSON files say, and these are what the figures compute."""

import copy
import json
import shutil

import numpy as np
import pytest

from benchmarks.validity.figures import auc_selection, continuous_integration, most_questions
from benchmarks.validity.figures.page import render
from benchmarks.validity.figures.results import FOLDER, MODULES, load, module_of
from benchmarks.validity.guess_and_check import GuessAndCheck, answers_all, smallest_tau

PAGE = FOLDER.with_suffix(".rst")
WRITTEN = {name: load(name) for name in MODULES}


def _numbers(part, path=()):
    """Return the path of every number of a JSON document."""
    if isinstance(part, dict | list):
        items = part.items() if isinstance(part, dict) else enumerate(part)
        return [found for key, each in items for found in _numbers(each, (*path, key))]
    return [path] if isinstance(part, int | float) and not isinstance(part, bool) else []


def test_the_page_is_made_of_the_json_files():
    assert PAGE.read_text(encoding="utf-8") == render()


@pytest.mark.parametrize("name", MODULES)
def test_every_figure_has_its_full_form_a_seed_versions_and_a_picture(name):
    page, written, module = PAGE.read_text(encoding="utf-8"), WRITTEN[name], module_of(name)
    assert (written["form"], written["seed"]) == ("full", module.SEED)
    picture, sentence = f".. image:: {FOLDER.name}/{name}.svg", module.shown(written["result"]).sentence
    assert all(text in page for text in (written["date"], written["versions"]["sklearn"], picture, sentence))
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("reusable_holdout", ("panels", "no signal", "standard", "reported", -1)),
        ("reusable_holdout", ("panels", "no signal", "certified_runs", 0, "kept", "value")),
        ("boosting", ("boards", "plain", "mean")),
        ("boosting", ("ours", "hostile", "nats")),
        ("auc_selection", ("errors", "naive", "bias")),
        ("auc_selection", ("halves", "blend", "sd")),
        ("auc_selection", ("chance", "mean")),
        ("guess_and_check", ("large", "answered", "additive", "fill, horizon known", "answered", 0)),
        ("guess_and_check", ("small", "counted", "fill, no horizon", "missed")),
        ("most_questions", ("static", "splitting", 0)),
        ("continuous_integration", ("labels", "full", "Hoeffding", 0)),
        ("search_sequences", ("widths", "2000", "ours, published", -1)),
        ("real_searches", ("sets", "digits, true labels", "naive", -1)),
        ("real_searches", ("sets", "fair, permuted labels", "widths", "unsealed", -1)),
        ("decisions", ("naive", "score", -1)),
        ("decisions", ("ours", "published", "mean", -1)),
        ("decisions", ("sets", "digits", "kept by the gate", "nats")),
        ("peers", ("peers", "sklearn_ada, checks", "last")),
        ("peers", ("budgets", "diffprivlib, BudgetAccountant", "clone")),
    ],
)
def test_a_figure_changed_in_the_json_file_changes_the_page(name, path, tmp_path):
    folder = tmp_path / FOLDER.name
    shutil.copytree(FOLDER, folder)
    changed = copy.deepcopy(WRITTEN[name])
    part = changed["result"]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] += 100
    (folder / f"{name}.json").write_text(json.dumps(changed), encoding="utf-8")
    assert render(folder) != PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MODULES)
def test_every_claim_is_shown_and_met(name):
    page = PAGE.read_text(encoding="utf-8")
    claims = module_of(name).shown(WRITTEN[name]["result"]).claims
    assert claims
    for claim in claims:
        assert claim.met
        assert f"   * - {claim.expected}\n     - {claim.found}\n     - yes\n" in page


@pytest.mark.thorough
def test_models_that_nobody_selected_are_off_by_chance_on_these_holdouts():
    written = WRITTEN["auc_selection"]["result"]
    luck = auc_selection.chance(max(written["seeds"].values()))
    assert luck == pytest.approx(written["chance"], rel=1e-4)
    assert abs(luck["mean"]) < 4.0 * luck["standard error"]  # seeds are fixed
    bias = written["errors"]["Thresholdout"]["bias"] - luck["mean"]
    assert abs(bias - 0.032) < 0.01  # what is left of the distance to the published bias


def test_labels_for_integration_are_those_that_are_computed_now():
    labels = WRITTEN["continuous_integration"]["result"]["labels"]
    assert continuous_integration.run(full=True)["labels"] == labels


def test_static_methods_answer_what_the_page_says():
    static = WRITTEN["most_questions"]["result"]["static"]
    for name in ("splitting", "rounding", "Gaussian, Rogers et al., corrected", "Gaussian, direct"):
        n, fits, most = most_questions.SIZES[0], most_questions.METHODS[name], static[name][0]
        assert [fits(n, most), fits(n, most + 1)] == [True, False]


def test_results_hold_no_more_than_the_page_needs():
    for path in FOLDER.iterdir():
        assert path.stat().st_size < 200_000, path.name
        assert path.stem in MODULES


def test_guess_and_check_asked_one_by_one_is_that_of_all_at_once():
    rng = np.random.default_rng(0)
    n, k = 2000, 60
    guesses, values = rng.binomial(n, 0.5, (2, k)) / n
    guesses[[7, 30]] += 0.08  # surprises
    least = smallest_tau(guesses, values, n)
    for tau, all_answered in ((least * 1.001, True), (least * 0.999, False)):
        mechanism = GuessAndCheck(n, tau)
        answers = [mechanism.ask(guess, value) for guess, value in zip(guesses, values, strict=True)]
        assert (None not in answers) is all_answered is answers_all(guesses, values, n, tau)
        pairs = zip(answers, values, strict=True)
        assert all(abs(answer - value) <= tau for answer, value in pairs if answer is not None)
