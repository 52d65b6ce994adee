"""Typeset formulas: what docstrings write as code, readable in a terminal, is mathematics on a page."""

from __future__ import annotations

import re
import string

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

GREEK = {
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "eta",
        "theta",
        "lambda",
        "mu",
        "pi",
        "rho",
        "sigma",
        "tau",
    ),
    *("phi", "xi", "Delta", "Phi"),
}
FUNCTIONS = {"exp", "ln", "log", "tanh", "cosh", "sinh", "max", "min"}
NAMES = {
    **{name: rf"\{name} " for name in (*GREEK, *FUNCTIONS)},
    **{name: rf"\mathrm{{{name}}}" for name in ("kl", "KL", "Bin", "E", "P", "Pr")},
    "in": r"\in ",
    "epsilon": r"\varepsilon ",
    "phi": r"\varphi ",
    "inf": r"\inf ",
    "sum": r"\sum ",
    "prod": r"\prod ",
    "**": "^",
    "<=": r"\le ",
    ">=": r"\ge ",
    "->": r"\to ",
    "*": r"\,",
    "#": r"\#",
    "{": r"\{",
    "}": r"\}",
    "...": r"\ldots ",
}
TOKEN = re.compile(r"\s*(\.\.\.|<=|>=|->|\*\*|[A-Za-z]{2,}(?:_[A-Za-z]{2,})+|[A-Za-z]+\d*|\d*\.?\d+|.)")
LONGEST = 40  # characters of TeX that surely fit on a phone
PAGES = ("theory/", "mechanisms/", "certificate", "validity", "generated/sklearn_ada.")
KNOWN = {*GREEK, *FUNCTIONS, "sqrt", "sum", "prod", "inf", "kl", "KL", "Bin"}
CODE = re.compile(r"""["`:\\@&$]|\w\.\w*[a-z]|^'|[^\s<>=]=[^\s=]|\w\(\)|==|--|\b(?:True|False|None|NaN)\b""")
WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")
NAME = re.compile(r"[A-Za-z]{2,}(_[A-Za-z]{2,})+")
SURE = re.compile(r"[<>]=|\^|\b(?:exp|ln|sqrt|kl)\b|[PE]\[|" + rf"\b(?:{'|'.join(GREEK)})\b")


def is_formula(text: str) -> bool:
    """Return whether code is mathematics: letters, numbers and known functions, and more than a name."""
    if CODE.search(text) or NAME.fullmatch(text) or not re.search(r"[-+/*^<>=_|\[( ]", text.strip()):
        return False
    pairs = WORDS.findall(text)
    if any(not set(pair.split()) & KNOWN for pair in pairs):
        return False
    words = re.findall(r"[A-Za-z_]{2,}", text)
    named = [w for w in words if w not in KNOWN and not re.fullmatch(r"[a-z]{2}|.?_\w", w)]
    rest = [w for w in named if "_" not in w or w.split("_")[0] not in KNOWN | set(string.ascii_letters)]
    return not rest or (bool(SURE.search(text)) and bool(re.search(r"[-+/*^<>=]", text)))


def tex(text: str) -> str:
    """Return a formula in TeX."""
    return "".join(_parts(TOKEN.findall(text.strip())))


def _parts(tokens: list[str]) -> list[str]:
    """Return tokens in TeX, with what is beneath a root, a subscript or an exponent in braces."""
    written, place = [], 0
    while place < len(tokens):
        token, before = tokens[place], tokens[place - 1 : place]
        place += 1
        if len(token) > 1 and token[0].isalpha() and before and (before[0].isalnum() or before == [")"]):
            written.append(r"\,")
        if token in ("_", "^", "**", "sqrt"):
            end = _end_of_argument(tokens, place)
            inner = tokens[place:end]
            if inner[:1] in (["("], ["{"]):
                inner = inner[1:-1]
            written.append(f"{_one(token)}{{{''.join(_parts(inner))}}}")
            place = end
        else:
            written.append(_one(token))
    return written


def _one(token: str) -> str:
    """Return one token in TeX."""
    if token in NAMES:
        return NAMES[token]
    if token == "sqrt":
        return r"\sqrt"
    if numbered := re.fullmatch(r"([A-Za-z])(\d+)", token):
        return "{}_{{{}}}".format(*numbered.groups())
    return rf"\mathrm{{{token}}}".replace("_", r"\_") if re.fullmatch(r"[A-Za-z_]{3,}", token) else token


def _end_of_argument(tokens: list[str], start: int) -> int:
    """Return where the argument that begins at a token ends: with its bracket, or after one name."""
    place = start + (tokens[start : start + 1] == ["-"])
    if tokens[place : place + 1] not in (["("], ["{"]):
        return place + 1
    depth = 0
    for end in range(place, len(tokens)):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(tokens[end], 0)
        if depth == 0:
            return end + 1
    return len(tokens)


def typeset(app, document, docname):
    """Replace the formulas of a page of theory."""
    if not docname.startswith(PAGES) and "guarantees" not in docname and "accounting" not in docname:
        return
    for node in list(document.findall(nodes.literal)):
        if is_formula(node.astext()):
            node.replace_self(nodes.math("", tex(node.astext())))
    for block in list(document.findall(nodes.literal_block)):
        if is_formula(block.astext()) and "language" not in block:
            block.replace_self(nodes.math_block("", tex(block.astext()), nowrap=False, number=None))


def _inline(self, node):
    shown = tex2mathml(node.astext())
    is_long = len(node.astext()) > LONGEST
    self.body.append(f'<span class="formula">{shown}</span>' if is_long else shown)
    raise nodes.SkipNode


def _block(self, node):
    shown = tex2mathml(node.astext()).replace("<math ", '<math display="block" ', 1)
    self.body.append(f'<div class="formula">{shown}</div>')
    raise nodes.SkipNode


def setup(app):
    """Have formulas typeset by the browser itself, which needs no script from elsewhere."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("doctree-resolved", typeset)
    return {"parallel_read_safe": True}
