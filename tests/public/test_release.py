"""What a release needs agrees: versions, citation, changelog, and workflows of public hosts."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import sklearn_ada

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOSTS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ROOT / ".readthedocs.yaml"]


def read_yaml(path):
    return pytest.importorskip("yaml").safe_load(path.read_text())


def test_one_version_is_named_everywhere():
    assert PROJECT["version"] == sklearn_ada.__version__
    assert f"\n## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()
    cited = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {PROJECT['version']}\n" in cited
    assert f"\nlicense: {PROJECT['license']}\n" in cited


def test_links_of_the_changelog_lead_somewhere():
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "CHANGELOG.md").read_text())
    assert links
    assert all((ROOT / link).exists() for link in links)


@pytest.mark.parametrize("path", HOSTS, ids=lambda path: path.name)
def test_extras_and_paths_of_workflows_exist(path):
    text = path.read_text()
    extras = {name for names in re.findall(r'"\.\[([\w,-]+)\]"', text) for name in names.split(",")}
    assert extras <= PROJECT["optional-dependencies"].keys()
    named = re.findall(r"(?<![\w/.])((?:tests|docs|\.ci)/[\w/.]+)", text)
    assert all((ROOT / each).exists() for each in named)
    assert len(HOSTS) >= 4


def test_the_site_of_a_public_host_links_to_its_repository():
    configuration = (ROOT / "docs" / "conf.py").read_text()
    (variable,) = re.findall(r'_repository := os\.environ\.get\("(\w+)"\)', configuration)
    workflow = (ROOT / ".github" / "workflows" / "docs.yml").read_text()
    assert f"      {variable}: ${{{{ github.server_url }}}}/" in workflow


@pytest.mark.parametrize("path", HOSTS[:-1], ids=lambda path: path.name)
def test_commands_of_workflows_are_read_by_a_shell(path):
    jobs = read_yaml(path)["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    for command in (re.sub(r"\$\{\{.*?\}\}", "x", step["run"]) for step in steps if "run" in step):
        subprocess.run(["bash", "-n", "-c", command], check=True)
    assert all(job["timeout-minutes"] for name, job in jobs.items() if name not in ("deploy", "publish"))
