"""What is raised after a look at the holdout carries no frame that holds what was seen of it."""

import contextlib
import signal

import numpy as np
import pytest

from sklearn_ada import Holdout
from sklearn_ada.accounting import Event
from sklearn_ada.exceptions import BudgetExhaustedError, HoldoutLeakError, LedgerUnavailableError
from sklearn_ada.terms.outputs import Observation, OutputSummary
from tests.support.models import FromFile

RNG = np.random.default_rng(3)
X = RNG.normal(size=(200, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture
def models(tmp_path):
    made = [FromFile(tmp_path / f"{number}.npy") for number in range(2)]
    for model, weights in zip(made, ([1, 0.2], [0.5, -1]), strict=True):
        model.train(weights)
    return made


@pytest.fixture
def holdout(tmp_path):
    return Holdout(X, Y, ledger=tmp_path / "ledger.db")


def held(error, values):
    """Return the names under which frames of an error hold an observation, an event or one of the values."""
    found, errors = [], [error]
    while errors:
        error = errors.pop()
        errors += [each for each in (error.__cause__, error.__context__) if each is not None]
        trace = error.__traceback__
        while trace is not None:
            frame, trace = trace.tb_frame, trace.tb_next
            if "sklearn_ada" in frame.f_code.co_filename:  # and no frame of this test
                code = frame.f_code
                found += [f"{code.co_name}.{n}" for n, part in frame.f_locals.items() if _holds(part, values)]
    return found


def _holds(part, values, deep=4):
    if isinstance(part, (Observation, OutputSummary, Event)):
        return True
    if isinstance(part, (float, np.floating)):
        return any(abs(part - value) < 1e-12 for value in values)
    if deep and isinstance(part, (list, tuple, set, np.ndarray)) and len(part) < 20:
        return any(_holds(each, values, deep - 1) for each in part)
    if deep and isinstance(part, dict):
        return _holds(list(part.values()), values, deep - 1)
    if deep and getattr(part, "__closure__", None):
        full = [each.cell_contents for each in part.__closure__ if each != type(each)()]
        return _holds(full, values, deep - 1)
    return False


def certifies(holdout, models):
    holdout.certify(models[0], scoring="accuracy", guess=0.123)


def selects(holdout, models):
    holdout.select(models, scoring="accuracy", epsilon=None)


def looks_for_overlap(holdout, models):
    with contextlib.suppress(HoldoutLeakError):
        holdout.check_overlap(X[:50].copy())


def releases_the_mean_weight(holdout, models):
    Holdout(X, Y, sample_weight=np.linspace(1.0, 2.0, len(Y)), weight_bound=3.0, ledger=":memory:")


ASKS = (certifies, selects, looks_for_overlap, releases_the_mean_weight)


def gone(self, key, decide):
    """Fail at the commit, when the record has been made."""
    self.ledger.read(decide)
    raise LedgerUnavailableError("gone") from OSError("no such disk")


def what_is_raised(act, holdout, models, kind):
    """Return what is raised, and what its frames hold of what was seen."""
    with pytest.raises(kind) as caught:
        act(holdout, models)
    return caught.value, held(caught.value, [float(np.mean(model.predict(X) == Y)) for model in models])


@pytest.mark.parametrize("act", ASKS)
def test_if_the_ledger_is_gone_the_error_has_its_type_and_text_and_nothing_else(
    act, holdout, models, monkeypatch
):
    monkeypatch.setattr(type(holdout._session), "charge", gone)
    error, found = what_is_raised(act, holdout, models, LedgerUnavailableError)
    assert (str(error), error.__cause__, error.__context__, found) == ("gone", None, None, [])


@pytest.mark.parametrize("act", ASKS)
def test_the_search_of_frames_finds_what_bare_errors_leave_out(act, holdout, models, monkeypatch):
    for module in ("asking", "changes", "choice"):
        monkeypatch.setattr(f"sklearn_ada.holdout.{module}.with_bare_errors", lambda look: look())
    monkeypatch.setattr(type(holdout._session), "charge", gone)
    assert what_is_raised(act, holdout, models, LedgerUnavailableError)[1]


@pytest.fixture
def changed(holdout, models):
    """The holdout after it was asked, rows were added, and the first model became another one."""
    certifies(holdout, models)
    selects(holdout, models)
    holdout.top_up(RNG.normal(size=(50, 2)), RNG.integers(0, 2, 50))
    models[0].train([1, 0.6])
    return holdout


def test_a_choice_that_is_refused_after_all_tells_nothing(changed, models):
    assert what_is_raised(selects, changed, models, BudgetExhaustedError)[1] == []
    assert changed.report().confirmed == {"the same": 0, "different": 1}


def test_if_the_ledger_is_gone_when_a_refusal_is_recorded_nothing_is_told(changed, models, monkeypatch):
    session = type(changed._session)
    charge, keys = session.charge, []

    def breaks(self, key, decide):
        if key is None and keys:  # after the comparison, which has no key either
            raise LedgerUnavailableError("gone")
        keys.append(key)
        return charge(self, key, decide)

    monkeypatch.setattr(session, "charge", breaks)
    assert what_is_raised(certifies, changed, models, LedgerUnavailableError)[1] == []
    assert len(keys) == 2  # the comparison, and the answer that was refused


@pytest.mark.parametrize("act", ASKS[:2])
def test_ctrl_c_while_the_ledger_is_gone_tells_nothing(act, holdout, models, monkeypatch):
    def interrupted(self, key, decide):
        signal.raise_signal(signal.SIGINT)
        gone(self, key, decide)

    monkeypatch.setattr(type(holdout._session), "charge", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert what_is_raised(act, holdout, models, KeyboardInterrupt)[1] == []
    finally:
        signal.signal(signal.SIGINT, before)
