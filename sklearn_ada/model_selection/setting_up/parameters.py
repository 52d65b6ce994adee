"""The parameters of `ReusableHoldoutCV`, checked before anything is fitted or charged."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_ada._checks import bad_parameter, check_integer, check_option, check_real
from sklearn_ada.holdout import Holdout, check_answers, check_name, check_promise
from sklearn_ada.model_selection.running.engines import check_search, keeps_model
from sklearn_ada.model_selection.running.masks import check_reveal
from sklearn_ada.model_selection.running.own_scores import own_scorings
from sklearn_ada.model_selection.running.simplest import check_rule
from sklearn_ada.model_selection.scorers.base import HoldoutScorer
from sklearn_ada.model_selection.scorers.splitter import ValidationSplit, is_share
from sklearn_ada.model_selection.setting_up.time_order import check_time_order
from sklearn_ada.model_selection.wrapper import Wrapper

__all__ = ["DEFAULT_ANSWERS", "check_one_output", "check_parameters"]

DEFAULT_ANSWERS = "auto"
_MECHANISMS = ("auto", "exponential_mechanism", "ladder", "stable_median", "thresholdout")


def check_parameters(wrapper: Wrapper) -> None:
    """Raise ValueError for a parameter of a `ReusableHoldoutCV` that cannot be, before anything is fitted."""
    owner = "ReusableHoldoutCV"
    is_object = hasattr(wrapper.search, "get_params") and not isinstance(wrapper.search, type)
    own = wrapper.search.get_params(deep=False) if is_object else {}
    if wrapper.random_state is not None:
        check_integer(wrapper.random_state, "random_state", owner, low=-(2**63))
    if "estimator" not in own or not hasattr(wrapper.search, "fit"):
        raise bad_parameter("search", owner, "a search such as GridSearchCV(model, grid)", wrapper.search)
    if not isinstance(wrapper.mechanism, HoldoutScorer):
        check_option(wrapper.mechanism, "mechanism", owner, _MECHANISMS)
    if wrapper.mechanism == "exponential_mechanism" and wrapper.ask in ("candidates", "winner"):
        raise bad_parameter(
            "ask", owner, "an integer with mechanism='exponential_mechanism'", wrapper.ask,
            "It says among how many of the search's best to choose.",
        )  # fmt: skip
    check_real(wrapper.validation, "validation", owner, low=0.0, high=1.0)
    check_promise(wrapper.confidence_level, wrapper.tolerance, wrapper.expected_questions, owner)
    check_option(wrapper.missing, "missing", owner, ("raise", "ignore"))
    check_answers(wrapper.answers, owner)
    check_name(wrapper.who, "who", owner)
    if not isinstance(wrapper.verbose, bool):  # as scikit-learn has it
        check_integer(wrapper.verbose, "verbose", owner, low=0)
    if wrapper.ids is not None and not isinstance(wrapper.ids, str):
        raise bad_parameter(
            "ids", owner, "None, 'index' or the name of a column", type(wrapper.ids).__name__,
            "The ids themselves are passed along with X: fit(X, y, ids=...).",
        )  # fmt: skip
    if isinstance(wrapper.holdout, Holdout) or isinstance(wrapper.mechanism, HoldoutScorer):
        given = (wrapper.confidence_level, wrapper.tolerance, wrapper.expected_questions, wrapper.ledger)
        own_names = (wrapper.missing, wrapper.answers, wrapper.seal_key, wrapper.who)
        if (*given, *own_names) != (0.95, None, None, None, "raise", DEFAULT_ANSWERS, None, None):
            raise bad_parameter(
                "holdout", owner, "a share, a mask or a splitter when a policy or a ledger is given",
                "a Holdout", "It has a policy, a ledger and a name (who) of its own.",
            )  # fmt: skip
    if wrapper.ask not in ("candidates", "winner"):
        check_integer(wrapper.ask, "ask", owner, fix="Or 'candidates', or 'winner'.")
    _check_scorers(wrapper, own)
    check_time_order(
        wrapper, own.get("cv"), is_last=not is_share(wrapper.holdout)
    )  # of others the rows will tell
    check_search(wrapper.search, wrapper.ask)
    check_option(wrapper.reveal, "reveal", owner, ("all", "winner"))
    check_reveal(wrapper)
    if not keeps_model(wrapper) and (
        wrapper.reveal == "winner" or wrapper.ask not in ("candidates", "winner")
    ):
        raise bad_parameter(
            "search", owner, "with a model in the end when ask is an integer or reveal='winner'",
            "refit=False", "Models refitted on all training rows are compared: use refit=True.",
        )  # fmt: skip
    check_rule(wrapper.one_standard_error, wrapper.search)
    alone = wrapper.ask in ("winner", 1) or wrapper.mechanism in ("exponential_mechanism", "ladder")
    if alone and wrapper.one_standard_error is not False:
        raise bad_parameter(
            "one_standard_error", owner, "False where one candidate is certified, or improvements only",
            wrapper.one_standard_error, "Use ask=5, say, or ask='candidates'.",
        )  # fmt: skip


def check_one_output(y: Any) -> None:
    """Raise ValueError for a y of several outputs: a metric of one is certified."""
    shape = np.shape(y)
    if len(shape) > 1:
        raise bad_parameter(
            "y", "ReusableHoldoutCV.fit", "one-dimensional", f"an array of shape {shape}",
            "One output is certified at a time: put the search inside, as in "
            "MultiOutputClassifier(ReusableHoldoutCV(search)) or MultiOutputRegressor(...).",
        )  # fmt: skip


def _check_scorers(wrapper: Wrapper, own: dict[str, Any]) -> None:
    """Raise unless the one scorer that asks a holdout is the mechanism, and its holdout is the only one."""
    owner = "ReusableHoldoutCV"
    if isinstance(wrapper.scoring, HoldoutScorer):
        raise bad_parameter(
            "scoring", owner, "a metric", wrapper.scoring, "Pass the scorer as mechanism=; it has a metric."
        )
    of_holdout = [one for one in own_scorings(wrapper.search) if isinstance(one, HoldoutScorer)]
    if of_holdout or isinstance(own.get("cv"), ValidationSplit):
        raise bad_parameter(
            "search", owner, "with plain metrics as its scoring, and no cv of a scorer",
            of_holdout[0] if of_holdout else own["cv"],
            "Name the plain metric, scoring='accuracy', and pass mechanism=scorer to ReusableHoldoutCV.",
        )  # fmt: skip
    if isinstance(wrapper.mechanism, HoldoutScorer):
        is_default = isinstance(wrapper.holdout, float) and wrapper.holdout == 0.25
        if wrapper.holdout is not wrapper.mechanism.holdout and not is_default:
            raise bad_parameter(
                "holdout", owner, "left out, or that of the scorer that is its mechanism", wrapper.holdout
            )
