"""Sphinx configuration."""

import os
import sys
from importlib import import_module
from inspect import isclass
from pathlib import Path

from sphinx.util.logging import getLogger

import sklearn_ada
from sklearn_ada import __version__
from sklearn_ada.metrics import classify_scorers

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "sklearn_ada"
copyright = "the sklearn_ada developers"
release = version = __version__
extensions = [
    *("sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"),
    *("sphinx_copybutton", "formulas", "pages"),
]
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True  # only what is typed is copied, without prompts and output
html_math_renderer = "mathml"
autosummary_generate = True
numpydoc_show_class_members = False
autodoc_member_order = "bysource"  # in the order of use
autodoc_typehints = "none"  # the types are in the sections of parameters
toc_object_entries_show_parents = "hide"
html_title = "sklearn_ada"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_logo = html_favicon = "_static/logo.svg"
html_css_files = ["wide.css"]
html_js_files = [("names.js", {"defer": "defer"})]
html_theme_options = {"collapse_navigation": True, "logo": {"text": f"sklearn_ada {version}"}}
if _repository := os.environ.get("REPOSITORY_URL"):  # a public host sets it in its workflow
    html_theme_options["icon_links"] = [
        {"name": "Repository", "url": _repository, "icon": "fa-solid fa-code-branch"}
    ]
html_context = {"default_mode": "auto"}
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_extensions",
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
    "remove_config_comments": True,
    "reset_modules": ("matplotlib", "seaborn", "pages.look"),
    "reset_modules_order": "both",
    "thumbnail_size": (640, 420),
    "write_computation_times": False,
}
default_role = "code"

# docs/metrics.rst includes the tables of the scikit-learn that the documentation is built with.
_generated = Path(__file__).parent / "generated"
_generated.mkdir(exist_ok=True)
_tables: dict[str, list[tuple[str, str, str]]] = {"yes": [], "with": [], "no": []}
for _row in classify_scorers():
    _refused = _row[1] == "refused" or _row[2].startswith("refused")
    _needs = any(words in _row[2] for words in ("guess_from=:", "declared range", "clipped to the range"))
    _tables["no" if _refused else "with" if _needs else "yes"].append(_row)
for _name, _rows in _tables.items():
    _lines = [f'"{a}","{b}","{c}"\n' for a, b, c in [("scorer", "kind", "certified by"), *_rows]]
    (_generated / f"scorers_{_name}.csv").write_text("".join(_lines))

# docs/api.rst leads to a page for every floor below the holdout, with all of its public names.
FLOORS = ("accounting", "guarantees", "mechanisms", "planning")
for _floor in FLOORS:
    _names = sorted(set(import_module(f"sklearn_ada.{_floor}").__all__) - set(sklearn_ada.__all__))
    _lines = [f"sklearn_ada.{_floor}", "=" * (len(_floor) + 12), ""]
    _lines += [f".. automodule:: sklearn_ada.{_floor}", "   :no-index:", ""]
    _lines += [f".. currentmodule:: sklearn_ada.{_floor}", "", ".. autosummary::", "   :toctree: .", ""]
    (_generated / f"{_floor}.rst").write_text("\n".join([*_lines, *(f"   {name}" for name in _names), ""]))

DESCRIBED = (property, classmethod, staticmethod)  # parameters are in the docstring of the class


def public_names():
    """Return every public name, and every public method that a class has from this package, by full name."""
    found = {f"sklearn_ada.{name}": getattr(sklearn_ada, name) for name in sklearn_ada.__all__}
    for floor in FLOORS:
        module = import_module(f"sklearn_ada.{floor}")
        alone = set(module.__all__) - set(sklearn_ada.__all__)
        found |= {f"sklearn_ada.{floor}.{name}": getattr(module, name) for name in alone}
    for name, item in list(found.items()):
        for base in item.__mro__ if isclass(item) else ():
            if base.__module__.startswith("sklearn_ada."):
                own = {
                    each
                    for each, value in vars(base).items()
                    if callable(value) or isinstance(value, DESCRIBED)
                }
                found |= {f"{name}.{each}": None for each in own if not each.startswith("_")}
    return set(found)


def complain_of_what_is_missing(app, env):
    """Warn, which ends the build, of each public name or method without an entry in the reference."""
    routed = (
        "get_metadata_routing",
        "set_fit_request",
        "set_predict_request",
        "set_score_request",
        "set_callbacks",
    )
    for name in sorted(public_names() - set(env.get_domain("py").objects)):
        if not name.endswith(routed):  # scikit-learn's own
            getLogger(__name__).warning("%s has no entry in the reference", name)


def setup(app):
    """Have the reference checked."""
    app.connect("env-check-consistency", complain_of_what_is_missing)
