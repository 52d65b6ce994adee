"""Sphinx configuration."""

from importlib import import_module
from pathlib import Path

import sklearn_ada
from sklearn_ada import __version__
from sklearn_ada.metrics.registry import classify_scorers

project = "sklearn_ada"
copyright = "the sklearn_ada developers"
release = version = __version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
autosummary_generate = True
numpydoc_show_class_members = False
autodoc_typehints = "none"  # the types are in the sections of parameters
toc_object_entries_show_parents = "hide"
html_title = "sklearn_ada"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_js_files = [("names.js", {"defer": "defer"})]
html_theme_options = {"collapse_navigation": True}
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "pictures",
    "gallery_scripts",
    "sg_execution_times.rst",
    "gallery/sg_execution_times.rst",
]
sphinx_gallery_conf = {
    "examples_dirs": "gallery_scripts",
    "gallery_dirs": "gallery",
    "subsection_order": [f"gallery_scripts/{level}" for level in ("quickstart", "analysis", "papers")],
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
}
default_role = "code"

# docs/metrics.rst includes the table of the scikit-learn that the documentation is built with.
_rows = [("scorer", "kind", "certified by"), *classify_scorers()]
_generated = Path(__file__).parent / "generated"
_generated.mkdir(exist_ok=True)
(_generated / "scorers.csv").write_text("".join(f'"{a}","{b}","{c}"\n' for a, b, c in _rows))

# docs/api.rst leads to a page for every floor below the holdout, with all of its public names.
for _floor in ("accounting", "guarantees", "mechanisms", "planning"):
    _names = sorted(set(import_module(f"sklearn_ada.{_floor}").__all__) - set(sklearn_ada.__all__))
    _lines = [f"sklearn_ada.{_floor}", "=" * (len(_floor) + 12), ""]
    _lines += [f".. automodule:: sklearn_ada.{_floor}", "   :no-index:", ""]
    _lines += [f".. currentmodule:: sklearn_ada.{_floor}", "", ".. autosummary::", "   :toctree: .", ""]
    (_generated / f"{_floor}.rst").write_text("\n".join([*_lines, *(f"   {name}" for name in _names), ""]))
