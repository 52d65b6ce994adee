"""A certificate as a page to read and print, and writing it to a file.

The page is one file without scripts and links. All that stands in it came from records, where a name may be
anything: every text is escaped.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import pathlib
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sklearn_ada._checks import bad_parameter
from sklearn_ada._table import counted, percent, printable
from sklearn_ada.holdout.records.conversation import Conversation
from sklearn_ada.holdout.report.certificate import certificate_of, prefix_of
from sklearn_ada.ledger import Ledger

__all__ = ["export_certificate", "page_of"]

_ROWS = 200
"""How many answers a page shows, the last ones; the JSON has them all."""


def export_certificate(ledger: Ledger[Conversation], path: str | os.PathLike[str]) -> pathlib.Path:
    """Write the certificate of a ledger and return where it is; see `Holdout.export`."""
    target = pathlib.Path(path)
    ending = target.suffix.lower()
    if ending not in (".html", ".json"):
        fix = "Write both: the page to read, the JSON to verify."
        raise bad_parameter("path", "Holdout.export", "a file ending in .html or .json", str(path), fix)
    prefix = prefix_of(ledger)
    certificate = certificate_of(prefix)
    if ending == ".html":
        published = [record.seq for record in prefix.records if record.body.get("final")]
        text = page_of(certificate, published)
    else:
        text = json.dumps(certificate, indent=1, allow_nan=False)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_text(text + "\n", encoding="utf-8")
        os.replace(beside, target)  # nobody finds half of it
    finally:
        beside.unlink(missing_ok=True)
    return target


def page_of(certificate: dict[str, Any], published: Iterable[int] = ()) -> str:
    """Return the certificate as HTML, with the date and the versions that made the page.

    Those are no part of the certificate, which is made again from the ledger to be verified.

    Parameters
    ----------
    certificate : dict
        As `certificate_of` makes it.
    published : iterable of int, default=()
        Records in which an exact value was published, which the page marks.
    """
    holdout, asked, revealed = certificate["holdout"], certificate["asked"], certificate["revealed"]
    level = percent(holdout["confidence_level"])
    answers = certificate["answers"]
    given = [each for each in answers if each["value"] is not None]
    targets = {target: number for number, target in enumerate(certificate["targets"], 1)}
    shown = answers[-_ROWS:]
    cut = (
        f"<p>The last {_ROWS} of {len(answers):,}; the JSON has them all.</p>" if len(answers) > _ROWS else ""
    )
    questions = ", ".join(counted(asked[purpose], purpose) for purpose in ("check", "certify"))
    facts = [
        ("Holdout", f"{holdout['rows_now']:,} rows, fingerprint {holdout['fingerprint'][:16]}"),
        ("Asked", f"{questions}, {asked['refused']} refused"),
        ("Answered", f"{counted(len(given), 'value')}, {level} that all intervals hold together"),
        ("Revealed", f"{revealed['nats']:.4g} nats (information about the rows, natural logarithms)"),
        (
            "Answers",
            f"{holdout['answers'] or 'exact'}, by {holdout['route'].replace('_', ' ')}, class counts "
            f"{_CLASS_COUNTS[holdout['class_mix']]}",
        ),
        ("Tolerance", "none" if holdout["tolerance"] is None else f"half-width {holdout['tolerance']:g}"),
        ("Asked by", ", ".join(_who(name, times) for name, times in asked["asked by"].items()) or "nobody"),
        ("State", "closed: nothing new is answered" if revealed["closed"] else "open"),
        ("Exported", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {_versions()}"),
    ]
    finals = set(published)
    known = dict.fromkeys(each["reason"] for each in shown if each["value"] is None)
    reasons = {reason: _letters(number) for number, reason in enumerate(known)}
    rows = "".join(_row(each, targets, reasons, finals) for each in shown)
    head = "".join(f"<th>{name}</th>" for name in _HEAD)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Certificate of holdout {_e(holdout["fingerprint"][:12])}</title>
<style>{_STYLE}</style></head><body>
<h1>Certificate of a reusable holdout</h1>
<p class="statement">{_e(certificate["statement"])}</p>
<dl>{"".join(f"<dt>{name}</dt><dd>{_e(text)}</dd>" for name, text in facts)}</dl>
<h2>What was asked and answered</h2>{cut}
<div class="wide" tabindex="0" role="region" aria-label="Answers">
<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>
{_listed("Why there is no value", known, "ol", ' type="a"')}
{_listed("Targets: what the values are scores of", certificate["targets"], "ol")}
{_listed("Theorems", certificate["theorems"], "ul")}
{_listed("Assumptions, which nobody can check from the holdout alone", certificate["assumptions"], "ul")}
<h2>Verify it</h2>
<p>Head of the ledger: <code>{_e(certificate["head"])}</code></p>
<p>With the ledger, and this certificate exported as JSON, all of it is computed again from the records by
<code>python -m sklearn_ada ledger verify FILE --certificate certificate.json</code></p>
</body></html>"""


_CLASS_COUNTS = {"conditional": "known to whoever asks", "priced": "paid for"}


def _versions() -> str:
    """Return the versions of what computed the answers, of those that are installed."""
    found = []
    for name in ("sklearn-ada", "scikit-learn", "numpy", "scipy"):
        with contextlib.suppress(PackageNotFoundError):  # run from its sources
            found.append(f"{name} {version(name)}")
    return ", ".join([f"Python {platform.python_version()}", *found])


_HEAD = ("#", "Model", "Metric", "Guess", "Value", "Interval", "Verdict", "Nats", "Target", "By")


def _row(each: dict[str, Any], targets: dict[str, int], reasons: dict[str, str], finals: set[int]) -> str:
    low, high = each["interval"]
    value = each["value"]
    ends = (
        f"[{_number(low, '-∞')}, {_number(high, '∞')}]"
        if value is not None
        else f"none ({reasons[each['reason']]})"
    )
    is_final = each["index"] in finals
    said = "PUBLISHED" if is_final else each["kind"] if each["kind"] in ("sealed", "unsealed") else ""
    verdict = f"{said}: {each['verdict']}" if said else each["verdict"]
    cells = (
        each["index"],
        each["model"] or "",
        each["metric"] or "",
        _number(each["guess"]),
        _number(value),
        ends,
        verdict + (", VACUOUS" if each["vacuous"] and value is not None else ""),
        f"{each['nats']:.3g}",
        targets.get(each["target"], ""),
        " ".join(filter(None, (each["who"], each["label"]))),
    )
    kind = ' class="apart"' if value is None or each["vacuous"] else ' class="published"' if is_final else ""
    return f"<tr{kind}>" + "".join(f"<td>{_e(cell)}</td>" for cell in cells) + "</tr>"


def _listed(title: str, texts: Iterable[str], tag: str, kind: str = "") -> str:
    items = "".join(f"<li>{_e(text)}</li>" for text in texts)
    return f"<h2>{title}</h2><{tag}{kind}>{items}</{tag}>" if items else ""


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ... as browsers number a list."""
    more, last = divmod(number, 26)
    return (_letters(more - 1) if more else "") + chr(ord("a") + last)


def _who(name: str, times: int) -> str:
    return f"{'no name given' if name == '?' else name} ({times:,})"


def _number(value: float | None, missing: str = "") -> str:
    return missing if value is None else f"{value:.4g}"


def _e(text: object) -> str:
    return html.escape(printable(str(text)))


_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;color:#111;background:#fff}
body{max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.05rem;margin:1.2rem 0 .3rem}
.statement{border-left:4px solid #1a5fb4;padding:.3rem .8rem;font-size:1.05rem;margin:.5rem 0 1rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}dt{font-weight:600}dd{margin:0}
.wide{overflow-x:auto}table{min-width:46rem;border-collapse:collapse;width:100%;font-size:12px}
th,td{border-bottom:1px solid #bbb;padding:.2rem .35rem;text-align:left;vertical-align:top}
td{white-space:nowrap}td:nth-child(2),td:nth-child(3),td:nth-child(10){white-space:normal;overflow-wrap:anywhere}
tr.apart{color:#555;font-style:italic}tr.published{font-weight:700;outline:2px solid #1a5fb4}
td:nth-child(4),td:nth-child(5),td:nth-child(8){font-variant-numeric:tabular-nums}
code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}ol,ul{margin:.2rem 0;padding-left:1.4rem}
@media print{table{min-width:0}body{margin:0;max-width:none;font-size:10.5px}table{font-size:8.5px}
thead{display:table-header-group}
tr{break-inside:avoid}h2{break-after:avoid}}
"""
