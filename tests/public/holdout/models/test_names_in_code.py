"""A class of a notebook: a variable that its code reads is part of the model, a mere name is not."""

import textwrap

import numpy as np
import pytest

from sklearn_ada import Holdout

X = np.random.default_rng(0).random((200, 2))
Y = (X[:, 0] > 0.4).astype(int)

CELL = """
import functools
import numpy as np

class Threshold:
    def __init__(self, p=0.5):
        self.p, self.q, self.classes_ = p, p, np.array([0, 1])

    def predict(self, X):
        return (X[:, 0] > {}).astype(int)
"""


def notebook(cell, p=0.5):
    """Return what a notebook holds once a cell was run, with a variable p that was there before."""
    names = {"__name__": "notebook", "p": p}
    exec(compile(textwrap.dedent(cell), "<cell>", "exec"), names)
    return names


def are_one(folder, first, *later):
    """Return of each later model whether it is answered by what is on record of the first."""
    holdout = Holdout(X, Y, ledger=folder / "ledger.db")
    models = (model() if callable(model) else model for model in (first, *later))
    asked = [holdout.certify(model, scoring="accuracy", guess=0.9) for model in models]
    assert not asked[0].repeated
    return [answer.repeated for answer in asked[1:]]


def changed(names, **variables):
    """Return a function that returns the notebook's model after variables were changed."""

    def then():
        names.update(variables)
        return names["model"]

    return then


NOT_READ = {
    "an attribute": "self.p",
    "an attribute of an attribute": "type('', (), {'p': self.q}).p",
    "an attribute in a lambda": "(lambda: self.p)()",
    "an attribute in a comprehension": "[self.p for _ in range(1)][0]",
    "an attribute in a generator": "next(self.p for _ in range(1))",
    "an attribute in a text": "float(f'{self.p}')",
    "a name of getattr": "getattr(self, 'p')",
    "a keyword": "dict(p=self.q)['p']",
    "a parameter of a lambda": "(lambda p: p)(self.q)",
    "a default of a lambda": "(lambda p=self.q: p)()",
    "a variable of a comprehension": "[p for p in (self.q,)][0]",
    "a variable around a lambda": "(lambda p: (lambda: p))(self.q)()",
    "a variable that is given a value": "((lambda: (p := self.q, p)[1])())",
}
READ = {
    "by its name": "p",
    "in a lambda": "(lambda: p)()",
    "in a lambda in a lambda": "(lambda: (lambda: p))()()",
    "in a comprehension": "[p for _ in range(1)][0]",
    "in a generator": "next(p for _ in range(1))",
    "in a condition of a comprehension": "len([1 for q in (0.5, 0.7) if q <= p]) / 2",
    "in a text": "float(f'{p}')",
    "as a default of a lambda": "(lambda q=p: q)()",
    "as a keyword": "dict(q=p)['q']",
    "beside an attribute of its name": "(self.p + p) / 2",
}


@pytest.mark.parametrize("form", NOT_READ)
def test_a_name_that_is_no_variable_of_the_notebook_makes_no_other_model(tmp_path, form):
    names = notebook(CELL.format(NOT_READ[form]) + "\nmodel = Threshold()")
    assert are_one(tmp_path, names["model"], changed(names, p=0.6)) == [True]


@pytest.mark.parametrize("form", READ)
def test_a_variable_that_is_read_does(tmp_path, form):
    names = notebook(CELL.format(READ[form]) + "\nmodel = Threshold()")
    assert are_one(tmp_path, names["model"], changed(names, p=0.6)) == [False]


BLOCKS = {
    "a function within": ("def limit():\n    return p\nreturn limit()", True),
    "a variable of its name": ("p = self.q\nreturn p", False),
    "a variable of a function within": ("def limit():\n    p = self.q\n    return p\nreturn limit()", False),
    "a variable around a function": ("p = self.q\ndef limit():\n    return p\nreturn limit()", False),
    "a variable of a loop": ("for p in (self.q,):\n    pass\nreturn p", False),
    "a class within": ("class Inner:\n    q = p\nreturn Inner.q", True),
    "a name in a class within": ("class Inner:\n    p = 0.5\nreturn Inner.p", False),
    "a method of a class within": (
        "class Inner:\n    def q(self):\n        return p\nreturn Inner().q()",
        True,
    ),
    "a global statement": ("global p\nreturn p", True),
    "an attribute that is set": ("self.p = self.q\nreturn self.p", False),
    "a decorator": ("@functools.lru_cache(int(p * 10))\ndef limit():\n    return 0.5\nreturn limit()", True),
    "an error that is caught": ("try:\n    raise KeyError\nexcept KeyError:\n    return p", True),
}


@pytest.mark.parametrize("block", BLOCKS)
def test_so_it_is_in_functions_and_classes_within_a_method(tmp_path, block):
    body, is_read = BLOCKS[block]
    method = "\n    def limit(self):\n" + textwrap.indent(body, " " * 8)
    names = notebook(CELL.format("self.limit()") + method + "\nmodel = Threshold()")
    assert are_one(tmp_path, names["model"], changed(names, p=0.6)) == [not is_read]


HELPERS = {
    "a function": ("def helper():\n    return p", "helper()", True),
    "a function of a function": (
        "def inner():\n    return p\ndef helper():\n    return inner()",
        "helper()",
        True,
    ),
    "a function that reads an attribute": ("def helper(model):\n    return model.p", "helper(self)", False),
    "a function within functools.partial": (
        "helper = functools.partial(lambda q: p + q, 0)",
        "helper()",
        True,
    ),
    "a method of another class": ("class Helper:\n    def q(self):\n        return p", "Helper().q()", True),
    "a property of another class": ("class Helper:\n    p = property(lambda self: 0.5)", "Helper().p", False),
    "a base class": ("class Helper:\n    @staticmethod\n    def q():\n        return p", "Helper.q()", True),
}


@pytest.mark.parametrize("helper", HELPERS)
def test_and_in_what_a_model_uses(tmp_path, helper):
    cell, used, is_read = HELPERS[helper]
    names = notebook("import functools\n" + cell + CELL.format(used) + "\nmodel = Threshold()")
    assert are_one(tmp_path, names["model"], changed(names, p=0.6)) == [not is_read]


DEFINED = {
    "a default": CELL.replace("(self, X)", "(self, X, q=p)").format("q") + "\nmodel = Threshold()",
    "an attribute of the class": CELL.format("self.level") + "\n    level = p\nmodel = Threshold()",
    "a closure": "def made(p):"
    + textwrap.indent(CELL.format("p"), "    ")
    + "\n    return Threshold()\nmodel = made(p)",
}


@pytest.mark.parametrize("how", DEFINED)
def test_what_a_definition_has_read_counts_with_the_value_that_it_had(tmp_path, how):
    names, other = notebook(DEFINED[how]), notebook(DEFINED[how], p=0.6)["model"]
    assert are_one(tmp_path, names["model"], changed(names, p=0.6), other) == [True, False]
