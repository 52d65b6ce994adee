"""Formulas that docstrings write as code are typeset on pages, and code is left alone."""

import importlib.util
from pathlib import Path

import pytest
from docutils.utils.math.latex2mathml import tex2mathml

PLACE = Path(__file__).parents[2] / "docs" / "_extensions" / "formulas.py"
SPEC = importlib.util.spec_from_file_location("formulas", PLACE)
formulas = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(formulas)


@pytest.mark.parametrize(
    ("code", "tex"),
    [
        ("1 - beta", r"1-\beta "),
        ("L_j", "L_{j}"),
        ("b exp(-L_j)", r"b\,\exp (-L_{j})"),
        ("beta * pi * exp(-L)", r"\beta \,\pi \,\exp (-L)"),
        ("P[S >= A] <= b e^-L", r"\mathrm{P}[S\ge A]\le be^{-L}"),
        ("sqrt(ln(2/delta) / 2n)", r"\sqrt{\ln (2/\delta )/2n}"),
        ("1/(2 noise_multiplier^2)", r"1/(2\,\mathrm{noise\_multiplier}^{2})"),
        ("t_{p_i}", "t_{p_{i}}"),
        ("n_optimal <= m", r"n_{\mathrm{optimal}}\le m"),
        ("C(k, 1) + ... + C(k, r)", r"C(k,1)+\ldots +C(k,r)"),
    ],
)
def test_formulas_are_found_and_written_in_tex_that_a_browser_gets(code, tex):
    assert formulas.is_formula(code)
    assert formulas.tex(code) == tex
    assert "<math" in tex2mathml(tex)


@pytest.mark.parametrize(
    "code",
    [
        *("X", "ledger", 'answers="coarse"', "holdout.publish(model)", "python -m sklearn_ada plan --rows 9"),
        *("tests/laws/test_coverage.py", "settings='fill'", "best_score_", "None", "class_mix={0: 1}"),
        *("-ln[(1 - e0) w(k) / sum of w over the cell]", "publish()", "max_hits"),
        *("sklearn_ada.guarantees", "low_count"),
    ],
)  # fmt: skip
def test_code_and_words_are_no_formulas(code):
    assert not formulas.is_formula(code)
