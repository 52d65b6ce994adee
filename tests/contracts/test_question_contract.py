"""What every question promises, whichever mechanism it is of: one suite over all that are registered."""

import dataclasses
import json
import math

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_ada import Holdout, MedianSettings, NoiseSettings, ReusableHoldoutCV
from sklearn_ada.accounting import DescriptionLength
from sklearn_ada.answer import VERDICTS
from sklearn_ada.cli import main
from sklearn_ada.holdout.state import State
from sklearn_ada.ledger.opening import open_existing_ledger
from sklearn_ada.model_selection.scorers import MECHANISMS, Mechanism, SettingsScorer
from sklearn_ada.questions.coded import RefinedQuestion
from sklearn_ada.questions.question import QUESTIONS
from tests.support import holdouts
from tests.support.ledger.fitted_models import Constant

X = np.arange(800.0).reshape(400, 2)
Y = (np.arange(400) % 4 == 0).astype(int)
MODEL = Constant(0).fit(X, Y)
SETTINGS = {  # of mechanisms whose settings are no class of their own, or need a value
    float: [0.03],
    str: ["fill"],
    NoiseSettings: [NoiseSettings("laplace"), NoiseSettings("gaussian", 0.01, 3, 0.05)],
    MedianSettings: [MedianSettings(method=method) for method in ("exponential", "binary_search", "exact")],
}
BAD = {float: [-0.03, 0.0, math.nan, math.inf, True], str: ["", "full"]}


def collected():
    """Return settings of every registered class of questions, with each purpose that they may have."""
    return [
        pytest.param(settings, purpose, id=f"{kind.__name__}-{purpose}-{number}")
        for of, kind in QUESTIONS.items()
        for number, settings in enumerate(SETTINGS.get(of) or [of()])
        for purpose in kind.purposes
    ]


def each_question(test):
    return pytest.mark.parametrize(("settings", "purpose"), collected())(test)


def opened(path, settings, **policy):
    """Open a holdout that has the tolerance which some settings demand."""
    return Holdout(X, Y, ledger=path, random_state=3, tolerance=0.3 if settings == "fill" else None, **policy)


@pytest.fixture
def new(tmp_path):
    """Make the same holdout again, each time with a ledger of its own."""
    paths = (tmp_path / f"{number}.db" for number in range(99))
    return lambda settings=None, **policy: opened(next(paths), settings, **policy)


def about(settings, purpose, **others):
    guess = None if purpose == "certify" and isinstance(settings, MedianSettings) else 0.74
    return {"scoring": "accuracy", "purpose": purpose, "settings": settings, "guess": guess, **others}


@each_question
def test_what_is_fixed_is_json_and_stays(settings, purpose, new):
    planned = [holdouts.plan(new(settings), MODEL, **about(settings, purpose)) for _ in range(2)]
    fixed = [json.dumps(question.describe(), sort_keys=True, allow_nan=False) for question in planned]
    assert fixed == 2 * [json.dumps(planned[0].describe(), sort_keys=True)]
    assert isinstance(planned[0].describe()["name"], str)
    assert planned[0].purpose == purpose
    other = holdouts.plan(new(settings), MODEL, **about(settings, purpose, scoring="balanced_accuracy"))
    assert other.metric.name != planned[0].metric.name


@each_question
def test_planning_charges_nothing(settings, purpose, new, uncharged):
    holdout = new(settings)
    with uncharged(holdout):
        holdouts.plan(holdout, MODEL, **about(settings, purpose))


@each_question
def test_what_is_released_has_a_price_that_is_recorded(settings, purpose, new):
    holdout = new(settings, answers="exact")
    before = holdout.report().nats
    answer = holdouts.ask(holdout, MODEL, **about(settings, purpose))
    assert answer.verdict in VERDICTS
    *_, record = holdout.ledger.records()
    account = holdout.ledger.read(lambda state: DescriptionLength(state.policy.code))
    assert 0.0 < answer.cost.nats < math.inf
    assert record.body["price"] == answer.cost.nats
    assert holdout.report().nats == pytest.approx(before + answer.cost.nats)
    assert account.nats == 0.0


@each_question
def test_an_answer_is_within_what_was_admitted(settings, purpose, new):
    holdout = new(settings)
    question = holdouts.plan(holdout, MODEL, **about(settings, purpose))
    share = holdout.ledger.read(lambda state: state.allowance(purpose, at_once=question.at_once))
    half, width = question.half_width_bound(share)
    assert half > 0.0
    assert width == 1.0
    answer = holdouts.ask(holdout, MODEL, **about(settings, purpose))
    low, high = answer.interval
    assert 0.0 <= low <= answer.value <= high <= 1.0
    assert low <= MODEL.score(X, Y) <= high


@each_question
def test_a_replay_agrees_with_the_record(settings, purpose, new):
    holdout = new(settings)
    answers = [holdouts.ask(holdout, MODEL, **about(settings, purpose))]
    answers.append(holdouts.ask(holdout, Constant(1).fit(X, Y), **about(settings, purpose)))
    count, state = holdout.ledger.verify(), holdout.ledger.read(lambda state: state.to_dict())
    assert open_existing_ledger(holdout.ledger.path, State).read(lambda state: state.to_dict()) == state
    again = opened(holdout.ledger.path, settings)
    repeated = [holdouts.ask(again, MODEL, **about(settings, purpose))]
    repeated.append(holdouts.ask(again, Constant(1).fit(X, Y), **about(settings, purpose)))
    for first, second in zip(answers, repeated, strict=True):
        assert second.repeated
        assert (second.value, second.interval, second.verdict) == (first.value, first.interval, first.verdict)
        assert second.certificate == first.certificate
    kinds = [record.body["kind"] for record in list(again.ledger.records())[count:]]
    assert set(kinds) <= {"confirmation", "labels"}


def bad_settings(of, settings):
    """Yield ways to make settings that must be refused: each field in turn is of no type that it could be."""
    yield from (lambda value=value: value for value in BAD.get(of, ()))
    for each in dataclasses.fields(settings) if dataclasses.is_dataclass(settings) else ():
        yield lambda name=each.name: dataclasses.replace(settings, **{name: object()})


@pytest.mark.parametrize("of", QUESTIONS, ids=lambda of: of.__name__)
def test_bad_settings_are_refused_before_anything_is_charged(of, new, uncharged):
    settings = (SETTINGS.get(of) or [of()])[0]
    bad, holdout = list(bad_settings(of, settings)), new(settings)
    assert bad
    for make in bad:
        with uncharged(holdout), pytest.raises((ValueError, TypeError), match="must be"):
            holdouts.ask(holdout, MODEL, **about(make(), QUESTIONS[of].purposes[0]))


@pytest.mark.parametrize("of", QUESTIONS, ids=lambda of: of.__name__)
def test_a_purpose_that_it_does_not_have_is_refused(of, new, uncharged):
    settings = (SETTINGS.get(of) or [of()])[0]
    holdout = new(settings)
    for purpose in {"check", "certify"} - set(QUESTIONS[of].purposes):
        with uncharged(holdout), pytest.raises(ValueError, match="'settings' parameter"):
            holdouts.ask(holdout, MODEL, **about(settings, purpose))


@dataclasses.dataclass(frozen=True)
class ToySettings:
    """Settings of a mechanism that answers by cells of a tenth, more or less."""

    half_cell: float = 0.1

    def __post_init__(self):
        if not isinstance(self.half_cell, float):
            raise TypeError("half_cell must be a number")


@pytest.fixture
def toy_check(monkeypatch):
    """Register the questions of `ToySettings` for one test."""
    monkeypatch.setitem(QUESTIONS, ToySettings, None)  # so that it is gone afterwards

    @dataclasses.dataclass(frozen=True)
    class ToyCheck(RefinedQuestion):
        coded: object
        settings_type, first_word = ToySettings, "toy"

        @classmethod
        def refine(cls, coded, settings, data, policy):
            cells = dataclasses.replace(coded.cells, half_cell=settings.half_cell)
            return cls(dataclasses.replace(coded, cells=cells))

        def describe(self):
            return {**self.coded.describe(), "name": self.first_word}

        def evaluate(self, estimator, data):
            return self.coded.evaluate(estimator, data)

        def release(self, seen, share, draw):
            return self.coded.release(seen, share, draw)

        def half_width_bound(self, share):
            return self.coded.half_width_bound(share)

        def described_outcome(self, event, share, state):
            return self.coded.described_outcome(event, share, state)

    return ToyCheck


def test_a_mechanism_joins_by_being_registered(toy_check, new, uncharged):
    mine = [param.values for param in collected() if type(param.values[0]) is ToySettings]
    assert mine == [(ToySettings(), "check")]
    for test in (
        test_what_is_fixed_is_json_and_stays, test_what_is_released_has_a_price_that_is_recorded,
        test_an_answer_is_within_what_was_admitted, test_a_replay_agrees_with_the_record,
    ):  # fmt: skip
        test(*mine[0], new)
    test_planning_charges_nothing(*mine[0], new, uncharged)
    test_bad_settings_are_refused_before_anything_is_charged(ToySettings, new, uncharged)
    test_a_purpose_that_it_does_not_have_is_refused(ToySettings, new, uncharged)


@pytest.mark.parametrize("is_named", [True, False], ids=["by name", "by scorer"])
def test_a_mechanism_that_is_registered_answers_a_search(is_named, toy_check, tmp_path, monkeypatch, capsys):
    path = tmp_path / "toy.db"
    holdout = opened(path, ToySettings())
    monkeypatch.setitem(MECHANISMS, "toy", Mechanism(SettingsScorer, ToySettings(0.2)))
    scorer = SettingsScorer("accuracy", holdout, settings=ToySettings(0.2))
    given = {"mechanism": "toy", "holdout": holdout} if is_named else {"mechanism": scorer}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]})
    ReusableHoldoutCV(search, scoring="accuracy", ask="candidates", **given).fit(X + 1000.0, Y)
    bodies = [record.body for record in holdout.ledger.records()]
    asked = [body["mechanism"] for body in bodies if "mechanism" in body]
    assert [(each["name"], each["half_cell"]) for each in asked[:2]] == 2 * [("toy", 0.2)]
    holdout.export(tmp_path / "toy.json")
    main(["ledger", "verify", str(path), "--certificate", str(tmp_path / "toy.json")])
    assert "draws or earlier answers of its mechanism (toy)" in capsys.readouterr().out


def test_a_scorer_of_settings_of_no_mechanism_is_refused():
    with pytest.raises(ValueError, match="'settings' parameter of SettingsScorer"):
        SettingsScorer("accuracy", opened(":memory:", None), settings=object())
