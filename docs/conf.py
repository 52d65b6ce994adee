"""Sphinx configuration."""

from sklearn_ada import __version__

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
