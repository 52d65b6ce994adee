"""The results page, made of the JSON files of all figures: nothing on it is typed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.validity.figures.results import FOLDER, MODULES, Claim, Table, load, module_of

__all__ = ["render", "write_page"]

_HEAD = """\
Results
=======

Figures of the literature, computed again, with the certificates of this package beside them: a sentence and a
picture each; settings, tables and what was to be shown unfold beneath. *Published* is what ``publish()``
gives; what a paper reports stands under *in the literature*. The page is written by ``python -m
benchmarks.validity.figures`` from the JSON files beside the pictures; nothing on it is typed by hand.
``--full`` is the form shown here unless a figure says otherwise; without it a figure has few repetitions.
"""
_FOLD = [".. raw:: html", "", "   <details><summary>Numbers and settings</summary>", ""]
_END_OF_FOLD = [".. raw:: html", "", "   </details>", ""]


def render(folder: Path = FOLDER) -> str:
    """Return the page for all figures that have a JSON file."""
    written = {name: load(name, folder) for name in MODULES}
    found = {name: each for name, each in written.items() if each is not None}
    sections = [_section(name, each) for name, each in found.items()]
    return "\n".join([_HEAD, *sections])


def write_page(folder: Path = FOLDER) -> Path:
    """Write the page next to the folder of results, and return where."""
    path = folder.parent / f"{folder.name}.rst"
    path.write_text(render(folder), encoding="utf-8")
    return path


def _section(name: str, written: dict[str, Any]) -> str:
    module = module_of(name)
    shown = module.shown(written["result"])
    commit = f"commit {written['commit']}; " if written.get("commit") else ""
    versions = ", ".join(f"{package} {version}" for package, version in written["versions"].items())
    title = module.TITLE
    picture = [f".. image:: {FOLDER.name}/{name}.svg", f"   :alt: {title}", ""]
    lines = [title, "-" * len(title), "", shown.sentence, "", *picture]
    lines += [*_FOLD, shown.settings, ""]
    for table in shown.tables:
        lines += [*_table(table), ""]
    if shown.claims:
        lines += [*_table(_claims(shown.claims)), ""]
    for remark in shown.remarks:
        lines += [remark, ""]
    lines += [
        f"*Form: {written['form']}; seed {written['seed']}; {written['date']}; {written['seconds']:,} "
        f"seconds; {commit}{versions}.*",
        "",
        *_END_OF_FOLD,
    ]
    return "\n".join(lines)


def _claims(claims: Sequence[Claim]) -> Table:
    rows = [[claim.expected, claim.found, "yes" if claim.met else "**no**"] for claim in claims]
    return Table("What was to be shown", ("expected", "found", "met"), rows)


def _table(table: Table) -> list[str]:
    """Return a table in reStructuredText."""
    lines = [f".. list-table:: {table.caption}", "   :header-rows: 1", ""]
    for row in (table.header, *table.rows):
        for number, cell in enumerate(row):
            lines.append(f"   {'* -' if number == 0 else '  -'} {cell}".rstrip())
    return lines
