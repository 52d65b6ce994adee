"""One temporary budget for one interpreter and its children, whoever of them builds the search."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from sklearn_ada._session_token import VARIABLE

SEARCHES = """
    import joblib, multiprocessing, warnings
    warnings.simplefilter("ignore")
    {before}
    from sklearn.datasets import make_classification
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier
    from sklearn_ada import ReusableHoldoutCV
    from sklearn_ada.exceptions import LedgerUnavailableError

    X, y = make_classification(400, random_state=0)

    def search(depth):
        inner = GridSearchCV(DecisionTreeClassifier(random_state=0), {{"max_depth": [depth]}})
        try:
            found = ReusableHoldoutCV(inner, ask="winner").fit(X, y)
        except LedgerUnavailableError as error:
            return str(error)
        low, high = found.best_score_interval_
        return [str(found.holdout_.ledger.path), high - low]

    if __name__ == "__main__":
        import json
        print(json.dumps({run}))
"""
PARALLEL = "joblib.Parallel(2, backend={!r})(joblib.delayed(search)(d) for d in range(1, 9))"
POOL = "multiprocessing.get_context({!r}).Pool(2).map(search, range(1, 9))"


def run(tmp_path, how, before="", session=None):
    """Return what a script prints in an interpreter that began its own session."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SEARCHES).format(before=before, run=how))
    environment = {k: v for k, v in os.environ.items() if k != VARIABLE}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
    environment["TMPDIR"] = str(tmp_path)
    if session is not None:
        environment[VARIABLE] = session
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def one_after_the_other(tmp_path_factory):
    return run(tmp_path_factory.mktemp("alone"), "[search(d) for d in range(1, 9)]")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "how", [PARALLEL.format("loky"), PARALLEL.format("threading"), POOL.format("fork"), POOL.format("spawn")]
)
def test_eight_searches_pay_from_one_budget_whoever_runs_them(how, tmp_path, one_after_the_other):
    there = run(tmp_path, how)
    assert len({path for path, _ in there}) == 1
    widest = max(width for _, width in one_after_the_other)
    assert max(width for _, width in there) > 0.9 * widest  # which is last depends on the workers
    assert widest > 1.3 * min(width for _, width in one_after_the_other)  # each search is paid for


def test_a_script_that_is_started_from_here_shares_the_budget(tmp_path):
    session = str(tmp_path / "sklearn_ada_here")
    (first, _), (second, _) = run(tmp_path, "[search(1)]", session=session) + run(
        tmp_path, "[search(2)]", session=session
    )
    assert first == second
    assert os.path.exists(first)  # whoever began the session takes it away


@pytest.mark.thorough
def test_workers_that_were_there_before_the_package_refuse_a_budget_of_their_own(tmp_path):
    before = "import joblib; joblib.Parallel(2)(joblib.delayed(abs)(i) for i in range(4))"
    told = run(tmp_path, PARALLEL.format("loky"), before=before)
    assert all("import sklearn_ada before the workers" in each for each in told)


def test_the_folder_is_gone_with_the_interpreter_that_began_the_session(tmp_path):
    ((path, _),) = run(tmp_path, "[search(1)]")
    assert os.path.dirname(path).startswith(str(tmp_path / "sklearn_ada_"))
    assert not os.path.exists(os.path.dirname(path))


def test_a_folder_that_others_may_read_is_refused(tmp_path):
    session = tmp_path / "sklearn_ada_open"
    session.mkdir()
    session.chmod(0o755)
    (told,) = run(tmp_path, "[search(1)]", session=str(session))
    assert "not this user's alone" in told
