"""Pages in a notebook: one look for searches, holdouts, answers, reports and plans.

It serves in the light and in the dark, as colours are those of the page around it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping

_LOOK = """<style>
.sklearn-ada{line-height:1.4;max-width:60em;margin:.5em 0}
.sklearn-ada p{margin:.4em 0}
.sklearn-ada summary{cursor:pointer}
.sklearn-ada table{border-collapse:collapse;margin:.4em 0;font-size:inherit;color:inherit;background:none}
.sklearn-ada tr,.sklearn-ada th,.sklearn-ada td{color:inherit;background:none!important;border:0}
.sklearn-ada th,.sklearn-ada td{text-align:left;vertical-align:top;padding:.2em 1.2em .2em 0;
border-bottom:1px solid rgba(128,128,128,.35)}
.sklearn-ada td{white-space:normal}
.sklearn-ada .facts td{overflow-wrap:anywhere}
</style>"""


def framed(*parts: str) -> str:
    """Return parts of a page in the look that all pages have."""
    return f'<div class="sklearn-ada">{_LOOK}{"".join(parts)}</div>'


def paragraph(*lines: str, strong: int = 0) -> str:
    """Return lines of text, so many of the first ones strong."""
    shown = [_text(line.strip()) for line in lines if line]
    shown[:strong] = [f"<b>{line}</b>" for line in shown[:strong]]
    return f"<p>{'<br>'.join(shown)}</p>" if shown else ""


def facts(named: Mapping[str, str]) -> str:
    """Return texts by name, a row each."""
    rows = (f"<tr><th>{_text(n)}</th><td>{_text(text)}</td></tr>" for n, text in named.items())
    return f'<table class="facts">{"".join(rows)}</table>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return rows of text beneath their head."""
    named = "".join(f"<th>{_text(name)}</th>" for name in head)
    cells = ("".join(f"<td>{_text(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{named}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def folded(summary: str, *parts: str) -> str:
    """Return parts that unfold beneath a line."""
    return f"<details><summary>{_text(summary)}</summary>{''.join(parts)}</details>"


def _text(text: str) -> str:
    return html.escape(text).replace("+-", "±")  # which every page can show
