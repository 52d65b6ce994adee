"""Pages of classes and functions begin with an example, and have no heading without text."""

import importlib.util
from pathlib import Path

import pytest

PLACE = Path(__file__).parents[2] / "docs" / "_extensions" / "pages.py"
SPEC = importlib.util.spec_from_file_location("pages", PLACE)
pages = importlib.util.module_from_spec(SPEC)
pytest.importorskip("sphinx")
SPEC.loader.exec_module(pages)

ONE = [">>> holdout = 1", ""]
MORE = ["With another:", "", ">>> holdout = 2", ""]
END = ["..", "    !! processed by numpydoc !!"]  # which numpydoc appends to every docstring


@pytest.mark.parametrize("after", [[], [":Raises:", "", "    ValueError", "        If.", ""]])
@pytest.mark.parametrize("more", [[], MORE])
def test_only_an_example_that_is_left_stands_under_more_examples(more, after):
    lines = ["Do.", "", ":Parameters:", "", "    x : int", "", *after, pages.EXAMPLES, "", *ONE, *more, *END]
    pages.reorder(None, "class", "Holdout", None, None, lines)
    said = [line for line in lines if line and line not in END]
    example = [pages.EXAMPLES, ONE[0]]
    rest = [".. rubric:: More examples", *filter(None, more)] if more else []
    expected = ["Do.", *example, ":Parameters:", "    x : int", *rest, *filter(None, after)]
    assert said == expected
