"""What the README shows, runs."""

import re
from pathlib import Path

import sklearn_ada

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_ten_lines_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(code.strip().splitlines()) <= 10
    exec(code, {})
    out = capsys.readouterr().out
    assert "all intervals hold together with 95%" in out
    assert (tmp_path / "digits.db").exists()


def test_names_in_the_readme_exist():
    called = set(re.findall(r"\b([A-Z]\w+(?:CV|Scorer))\(", README)) - {"GridSearchCV"}
    assert called
    assert called <= set(sklearn_ada.__all__)
