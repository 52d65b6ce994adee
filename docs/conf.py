"""Sphinx configuration."""

from pathlib import Path

from sklearn_ada import __version__
from sklearn_ada.metrics.registry import classify_scorers

project = "sklearn_ada"
copyright = "the sklearn_ada developers"
release = version = __version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
autosummary_generate = True
numpydoc_show_class_members = False
html_theme = "pydata_sphinx_theme"
exclude_patterns = ["_build"]
default_role = "code"

# docs/metrics.rst includes the table of the scikit-learn that the documentation is built with.
_rows = [("scorer", "kind", "certified by"), *classify_scorers()]
_generated = Path(__file__).parent / "generated"
_generated.mkdir(exist_ok=True)
(_generated / "scorers.csv").write_text("".join(f'"{a}","{b}","{c}"\n' for a, b, c in _rows))
