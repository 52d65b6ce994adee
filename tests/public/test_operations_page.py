"""The commands of the page for operators, run in order on a server; its messages are those of the package."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

import sklearn_ada
from tests.support.ledger import pooler as pooler_module

PAGE = (Path(__file__).parents[2] / "docs" / "operations.rst").read_text(encoding="utf-8")
SOURCES = Path(sklearn_ada.__file__).parent / "ledger"


def blocks(kind):
    """Return the blocks of code of a kind, in order."""
    found = re.findall(rf"^\.\. code-block:: {kind}\n\n((?:   .*\n|\n)+)", PAGE, flags=re.MULTILINE)
    return [re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in found]


@pytest.mark.thorough
def test_its_commands_do_what_it_says(postgresql, tmp_path):
    X, y = make_classification(1200, 6, random_state=0)
    np.savez(tmp_path / "rows.npz", X=X[:600], y=y[:600], X_hold=X[600:], y_hold=y[600:])
    # A command that should fail, and does not, fails the script; `!` alone would not.
    script = re.sub(r"^! (.*)$", r"if \1; then exit 9; fi", "\n".join(blocks("bash")), flags=re.MULTILINE)
    assert script.count("exit 9") == 4
    at = f"127.0.0.1:{postgresql.port}"
    script = script.replace("db.example.org:5432", at)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{postgresql.programs}:/usr/bin:/bin",
        "PYTHONPATH": str(Path(sklearn_ada.__file__).parents[1]),
        "ADMIN": postgresql.url(),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", script],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    for text in ("it continues the head that was given", "closed: nothing new", "3 values unsealed"):
        assert text in done.stdout
    for text in ("permission denied", "is an older copy"):
        assert text in done.stderr


def test_the_pooler_of_the_page_is_the_one_that_is_tested():
    (settings,) = blocks("ini")
    for line in settings.split("\n"):
        assert line.replace("5432", "{server}").replace("= transaction", "= {mode}") in pooler_module.SETTINGS


def test_its_messages_are_those_of_the_package():
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCES.glob("*.py"))
    joined = re.sub(r'"\n\s+f?"', "", source)
    (table,) = re.findall(r"the message says\n(.*?)\nWho can read what", PAGE, flags=re.DOTALL)
    messages = re.findall(r"^   \* - ``(.*)``$", table, flags=re.MULTILINE)
    assert len(messages) > 12
    assert [each for each in messages if each not in joined] == []
