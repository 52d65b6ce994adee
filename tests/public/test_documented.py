"""Every public name has a docstring, an example and, for a theorem, a source; every parameter has a line.

Public is what `sklearn_ada` exports, the methods of its classes, and what the floors beneath export for use
alone: accounting, guarantees, mechanisms, planning and testing.
"""

import dataclasses
import importlib
import inspect
import re

import pytest

import sklearn_ada
from sklearn_ada import testing
from sklearn_ada.holdout import Cost, HoldoutReport

SECTIONS = re.MULTILINE | re.DOTALL
FLOORS = ("accounting", "guarantees", "mechanisms", "planning")
TOP = {name: getattr(sklearn_ada, name) for name in sklearn_ada.__all__}
RETURNED = {"holdout.Cost": Cost, "holdout.HoldoutReport": HoldoutReport}
TESTING = {f"testing.{name}": getattr(testing, name) for name in testing.__all__}
ALONE = {
    f"{floor}.{name}": getattr(importlib.import_module(f"sklearn_ada.{floor}"), name)
    for floor in FLOORS
    for name in importlib.import_module(f"sklearn_ada.{floor}").__all__
}
SOURCE = re.compile(
    r"\b(?:1[89]|20)\d\d\b|[Tt]heorem|[Ll]emma|[Pp]roof|[Ll]ecture \d|inequality|Clopper|union bound"
    r"|`sklearn_ada\.guarantees"
)
DEFINITIONS = {
    f"{floor}.{name}"
    for floor, names in {
        "accounting": "failed_unsealing_nats largest_unsealing_nats unsealing_nats released_ends_nats",
        "guarantees": "choose_half_cell class_count_nats class_mean_size ln_declared ln_share plan_checks "
        "plan_certifies planned_ln_deltas planned_questions round_weight smallest_integer urn_nats "
        "wilson_deviation uniform_code_level",
        "mechanisms": "Grid StatefulMechanism candidate_width exact_quantile grid_quantile guess_error",
    }.items()
    for name in names.split()
}
"""What states nothing that would need a source: a price by its formula, a plan, a plain computation."""

PUBLIC = {**TOP, **RETURNED, **TESTING, **ALONE}


def is_error(item):
    return inspect.isclass(item) and issubclass(item, BaseException)


def undocumented_parameters(function, doc):
    """Return the parameters that have no line of their own in a section of numpydoc for them."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    lined = {"self", "cls", "args", "kwargs"}
    for heading, lines in re.findall(
        r"^(\w[\w ]*)\n-{3,}\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", doc, flags=SECTIONS
    ):
        if heading in ("Parameters", "Other Parameters", "Attributes"):
            for names in re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :|$)", lines, flags=re.MULTILINE):
                lined |= {name.strip(" *") for name in names.split(",")}
    return [name for name in parameters if name not in lined]


def methods_of(item):
    """Return the public methods and properties that a class defines itself or has from the package."""
    found = {}
    for base in reversed(item.__mro__) if inspect.isclass(item) else ():
        if base.__module__.startswith("sklearn_ada"):
            found |= {name: value for name, value in vars(base).items() if not name.startswith("_")}
    return found


def gaps_of(name, item):
    """Return what one public name lacks, as lines of text."""
    doc, gaps = inspect.getdoc(item) or "", []
    if not doc:
        gaps.append(f"{name}: docstring")
    if is_error(item) or not callable(item):
        return gaps
    of_results = dataclasses.is_dataclass(item) or hasattr(item, "_fields")  # shown where they are made
    if ">>>" not in doc and not of_results and not getattr(item, "_is_protocol", False):
        gaps.append(f"{name}: example")
    gaps += [f"{name}: parameter {missing}" for missing in undocumented_parameters(item, doc)]
    for method, value in methods_of(item).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if not (inspect.isfunction(function) or isinstance(function, property)):
            continue
        text = inspect.getdoc(function) or ""
        gaps += [] if text else [f"{name}.{method}: docstring"]
        if inspect.isfunction(function):
            missing = undocumented_parameters(function, text)
            gaps += [f"{name}.{method}: parameter {each}" for each in missing]
    return gaps


def lacks_source(item):
    """Return whether neither the docstring nor that of its module says where its statement is from."""
    module = inspect.getmodule(item)
    return not SOURCE.search(f"{inspect.getdoc(item)} {module.__doc__ if module else ''}")


@pytest.mark.parametrize("name", PUBLIC)
def test_nothing_public_lacks_a_docstring_an_example_or_a_line_for_a_parameter(name):
    assert gaps_of(name, PUBLIC[name]) == []


def test_what_states_something_names_its_source():
    states = {
        name
        for name, item in ALONE.items()
        if not name.startswith("planning") and callable(item) and not is_error(item)
        and not dataclasses.is_dataclass(item)  # a parameter set, or a result of what has a source
        and not hasattr(item, "_fields")
    }  # fmt: skip
    without = {name for name in states if lacks_source(PUBLIC[name])}
    assert without <= DEFINITIONS
    assert set(ALONE) >= DEFINITIONS  # no name that is gone is excused


def bare(width):
    return width


def partly(width, height):
    """Return the area.

    Parameters
    ----------
    width : float

    Examples
    --------
    >>> 1
    1
    """


class Lonely:
    """A class.

    >>> 1
    1
    """

    def area(self, height):
        """Return the area."""

    @property
    def name(self):
        return ""


@pytest.mark.parametrize(
    ("item", "gaps"),
    [(bare, ["x: docstring", "x: example", "x: parameter width"]), (partly, ["x: parameter height"])],
)
def test_missing_parts_of_a_docstring_are_found(item, gaps):
    assert gaps_of("x", item) == gaps


def test_methods_that_lack_something_are_found(monkeypatch):
    monkeypatch.setattr(Lonely, "__module__", "sklearn_ada.example")
    assert gaps_of("x", Lonely) == ["x.area: parameter height", "x.name: docstring"]
    assert lacks_source(Lonely)
