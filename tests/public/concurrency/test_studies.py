"""A study of several processes on one ledger loses nothing and pays nothing twice, whoever is killed.

At full size, 4 processes and 400 trials: ``python -m benchmarks.validity.optuna_study``.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from benchmarks.validity.optuna_study import Place, audit, killed_study, trained

PAGE = Path(__file__).parents[3] / "docs" / "cluster.rst"
ROWS = """
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
X, y = make_classification(3000, flip_y=0.1, random_state=0)
X_hold, X_val, X_train = X[:1500], X[1500:2000], X[2000:]
y_hold, y_val, y_train = y[:1500], y[1500:2000], y[2000:]
"""

optuna = pytest.importorskip("optuna")
pytestmark = pytest.mark.thorough
COMPLETE = optuna.trial.TrialState.COMPLETE


@pytest.fixture(params=["files", "one database"])
def place(request, tmp_path):
    if request.param == "files":
        return Place.in_files(tmp_path)
    return Place.in_database(request.getfixturevalue("postgresql").url())


def finished(place, **what):
    """Put a finished trial into the study that no process ran."""
    answer = what.pop("answer")
    integer = optuna.distributions.IntDistribution
    laws = {"max_leaf_nodes": integer(2, 60), "min_samples_leaf": integer(1, 40)}
    trial = optuna.trial.create_trial(distributions=laws, user_attrs={"answer": answer}, **what)
    place.study().add_trial(trial)


def test_a_study_with_a_killed_process_agrees_with_its_ledger_and_certificate(place):
    found = killed_study(place, n_trials=30, n_processes=2, seed=1)  # killed before it tells its answer
    assert found.is_clean, found
    assert found.kills == found.left == found.asked_by_the_killed == 1
    assert found.complete >= 30
    assert found.records + found.repeated == found.complete
    assert 0 < found.nats_of_repeating < found.nats

    # What the audit is for: a trial that the ledger does not know, one that holds something else, ...
    best = max(place.study().get_trials(states=[COMPLETE]), key=lambda trial: trial.value)
    answer = best.user_attrs["answer"]
    finished(place, params={"max_leaf_nodes": 60, "min_samples_leaf": 40}, value=0.0, answer={"record": -1})
    finished(place, params=best.params, value=best.value - 0.01, answer=answer)
    finished(place, params=best.params, value=best.value, answer={**answer, "interval": [0.0, 1.0]})
    assert audit(place).lost == 3
    # ... and an answer that no trial holds.
    params = {"max_leaf_nodes": 2, "min_samples_leaf": 200}
    model, rows = trained(params)
    place.holdout().check(model, scoring="accuracy", guess_from=rows)
    assert audit(place).strangers == 1


def scripts_of_the_page():
    """Return the three scripts: what makes the study, what each process runs, what publishes."""
    section = PAGE.read_text(encoding="utf-8").partition("Optuna, several processes")[2]
    parts = section.partition("Where the ledger must be")[0].split(".. code-block:: python\n")[1:]
    codes = [[line for line in part.splitlines() if not line or line.startswith("   ")] for part in parts]
    return [textwrap.dedent("\n".join(code)) for code in codes]


def test_the_recipe_of_the_page_runs_in_two_processes(postgresql, tmp_path):
    pytest.importorskip("optuna", minversion="4.5")  # before, it needs another driver
    address = postgresql.url().partition("asker:")[2]
    make, each, publish = (
        code.replace("400", "12").replace("db.example.org/research", address).replace("ada@{", "asker:{")
        for code in scripts_of_the_page()
    )

    def started(*codes):
        command = [sys.executable, "-c", "\n".join((ROWS, *codes))]
        return subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)

    def ended(*processes):
        for process in processes:
            assert "Error" not in process.communicate(timeout=120)[1]
            assert process.returncode == 0

    ended(started(make))
    again = make.replace("create_study", "load_study").replace('direction="maximize", ', "")
    ended(started(again, each), started(again, each))
    ended(started(again, each, publish))
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    assert certificate["revealed"]["published"] == 1
    study = optuna.load_study(study_name="churn", storage=f"postgresql+psycopg://asker:{address}")
    held = [trial.user_attrs for trial in study.get_trials(states=[COMPLETE])]
    assert len(held) >= 12
    answer = {each["index"]: each["interval"] for each in certificate["answers"]}
    assert all(answer[trial["record"]] == trial["interval"] for trial in held)
