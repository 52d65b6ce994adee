"""One temporary budget for one interpreter and its children, whoever of them builds the search."""

import itertools
import json
import os
import textwrap

import pytest

from tests.support.processes import SESSION, interpreter

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
    done = interpreter(script, TMPDIR=tmp_path, **{SESSION: session})
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


@pytest.mark.thorough
def test_a_script_that_is_started_from_here_shares_the_budget(tmp_path):
    session = str(tmp_path / f"sklearn_ada_{os.getpid()}_{16 * 'a'}")
    os.mkdir(session, mode=0o700)
    ((first, _),), ((second, _),) = (run(tmp_path, f"[search({n})]", session=session) for n in (1, 2))
    assert first == second
    assert os.path.exists(first)  # whoever began the session takes it away


@pytest.mark.thorough
def test_workers_that_were_there_before_the_package_refuse_a_budget_of_their_own(tmp_path):
    before = "import joblib; joblib.Parallel(2)(joblib.delayed(abs)(i) for i in range(4))"
    printed = run(tmp_path, PARALLEL.format("loky"), before=before)
    assert all("import sklearn_ada before the workers" in each for each in printed)


CHILD = "subprocess.run([sys.executable, __file__, 'child'], capture_output=True, text=True).stdout"


@pytest.mark.thorough
@pytest.mark.parametrize("by_a_child", [False, True])
def test_the_folder_is_gone_with_the_interpreter_that_began_the_session(by_a_child, tmp_path):
    here = f"[search(1)] if sys.argv[1:] else json.loads({CHILD})" if by_a_child else "[search(1)]"
    ((path, _),) = run(tmp_path, here, before="import subprocess, sys")
    assert os.path.dirname(path).startswith(str(tmp_path / "sklearn_ada_"))
    assert not os.path.exists(os.path.dirname(path))


ASK = """
    from sklearn_ada.exceptions import LedgerUnavailableError
    from sklearn_ada.ledger import temporary_ledger_path
    try:
        print(temporary_ledger_path("x"))
    except LedgerUnavailableError as error:
        print(error)
"""


def asked_in(session):
    return interpreter(ASK, **{SESSION: session}).stdout


CLEANED = {
    "by whoever began it": "shutil.rmtree(os.environ['SKLEARN_ADA_SESSION'])",
    "when it was used": "Holdout(X, y); shutil.rmtree(os.environ['SKLEARN_ADA_SESSION'])",
    "but for a lock": "os.unlink(Holdout(X, y).ledger.path)",
}
WITHOUT_KEY = {
    "of its key": "Holdout(X, y); os.unlink(os.environ['SKLEARN_ADA_SESSION'] + '/key')",
    "of what its key holds": "Holdout(X, y); os.truncate(os.environ['SKLEARN_ADA_SESSION'] + '/key', 0)",
}
USED = {
    "here": "Holdout(X, y)",
    "in a fork": "os.fork() and os.wait() or Holdout(X, y)",
    "in a script": "subprocess.run([sys.executable, '-c', SCRIPT])",
}
IN_DEFAULT_RUN = [("when it was used", "here"), ("of its key", "in a script")]
SCRIPT = (
    "import numpy; from sklearn_ada import Holdout; Holdout(numpy.zeros((100, 2)), numpy.arange(100) % 2)"
)


@pytest.mark.parametrize(
    ("cleaned", "used"),
    [
        pytest.param(*pair, marks=[] if pair in IN_DEFAULT_RUN else pytest.mark.thorough)
        for pair in [*itertools.product(CLEANED, USED), *itertools.product(WITHOUT_KEY, ["in a script"])]
    ],
)
def test_a_folder_that_was_cleaned_away_is_not_made_again(cleaned, used, tmp_path):
    code = f"""
        import os, shutil, subprocess, sys
        import numpy as np
        from sklearn_ada import Holdout
        SCRIPT = {SCRIPT!r}
        X, y = np.zeros((100, 2)), np.arange(100) % 2
        {(CLEANED | WITHOUT_KEY)[cleaned]}
        {USED[used]}
    """
    done = interpreter(code, check=False, TMPDIR=tmp_path)
    assert "LedgerUnavailableError: The " in done.stderr
    assert "fresh budget" in done.stderr or "would be forgotten" in done.stderr


def test_a_folder_that_others_may_read_is_refused(tmp_path):
    session = tmp_path / f"sklearn_ada_{os.getpid()}_{16 * 'b'}"
    session.mkdir()
    session.chmod(0o755)
    assert "not this user's alone" in asked_in(session)


@pytest.mark.parametrize(
    "value", ["", "{tmp}/other", "relative", "~/x", ":memory:", "/", "/tmp/", "{session}/"]
)
def test_what_sklearn_ada_has_not_set_is_refused(value, tmp_path):
    session = tmp_path / f"sklearn_ada_{os.getpid()}_{16 * 'c'}"
    assert "SKLEARN_ADA_SESSION" in asked_in(value.format(tmp=tmp_path, session=session))


def test_a_session_whose_interpreter_has_ended_is_not_begun_again(tmp_path):
    ended = interpreter("import os; print(os.getpid())")
    session = str(tmp_path / f"sklearn_ada_{ended.stdout.strip()}_{16 * 'd'}")
    assert "has ended" in asked_in(session)
    assert not os.path.exists(session)


@pytest.mark.thorough
@pytest.mark.parametrize("start", ["spawn", "forkserver"])
def test_children_of_a_worker_without_a_session_refuse_too(start, tmp_path):
    """The worker was started before the import, and what it starts inherits that from it."""
    code = f"""
        import multiprocessing, subprocess, sys

        ASK = "from sklearn_ada.ledger import temporary_ledger_path as path; print(path('x'))"

        def work(queue):
            import sklearn_ada
            queue.put(subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True).stderr)

        if __name__ == "__main__":
            context = multiprocessing.get_context({start!r})
            queue = context.Queue()
            worker = context.Process(target=work, args=(queue,), name="MainProcess")
            worker.start()
            print(queue.get())
            worker.join()
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code))
    assert "import sklearn_ada before the workers" in interpreter(script).stdout


@pytest.mark.thorough
def test_a_package_without_a_place_for_temporary_files_can_be_imported():
    code = """
        import tempfile
        tempfile._candidate_tempdir_list = lambda: []
        from sklearn_ada import Holdout
        print(Holdout([[0.0], [1.0]], [0, 1], ledger=":memory:").n_rows)
        try:
            Holdout([[0.0], [1.0]], [0, 1])
        except Exception as error:
            print(type(error).__name__, error)
    """
    rows, error = interpreter(code).stdout.split("\n", 1)
    assert rows == "2"
    assert error.startswith("LedgerUnavailableError")
    assert "Set TMPDIR" in error
