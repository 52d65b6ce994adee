"""Which of scikit-learn's scorer strings is certified how."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.metrics import get_scorer_names

from sklearn_ada.metrics import means as scores
from sklearn_ada.metrics.base import AllRowsRule, IntervalRule, Range
from sklearn_ada.metrics.classes import ClassTable
from sklearn_ada.metrics.means import ClassMean, Mean, MicroJaccard, Ratio, RootMean
from sklearn_ada.metrics.outputs import (
    ALL_SCORES,
    CLASS_SCORES,
    LABELS,
    NUMBERS,
    POSITIVE_PROBABILITY,
    PROBABILITIES,
    SCORES,
    Response,
)
from sklearn_ada.metrics.ranking import AUC, AveragedAUC, AveragePrecision
from sklearn_ada.metrics.regression import Explained, MedianError

_UNIT, _UNBOUNDED = (0.0, 1.0), None
_AVERAGES = ("", "_macro", "_micro", "_weighted")


@dataclass(frozen=True)
class Classified:
    """A scorer with an interval of its own.

    Attributes
    ----------
    rule : IntervalRule
    range : tuple of float or None
        Bounds of one record's score; None if they must be declared.
    """

    rule: IntervalRule
    range: Range | None = _UNIT


_HITS = Classified(Mean(scores.hits, zero_one=True))

WITH_INTERVAL: dict[str, Classified] = {
    "accuracy": _HITS,
    # With one label a record the micro averages, and recall weighted by class counts, are the accuracy.
    **dict.fromkeys(("f1_micro", "precision_micro", "recall_micro", "recall_weighted"), _HITS),
    "balanced_accuracy": Classified(ClassMean()),
    "d2_brier_score": Classified(Mean(scores.d2_brier, at_class_mix=True), _UNBOUNDED),
    "d2_log_loss_score": Classified(Mean(scores.d2_log, at_class_mix=True), _UNBOUNDED),
    "f1": Classified(Ratio(1, counts_misses=True, doubled=True)),
    "jaccard": Classified(Ratio(1, counts_misses=True, doubled=False)),
    "jaccard_micro": Classified(MicroJaccard()),
    "neg_brier_score": Classified(Mean(scores.neg_brier, two_classes=True), (-1.0, 0.0)),
    "neg_log_loss": Classified(Mean(scores.neg_log), _UNBOUNDED),
    "neg_mean_absolute_error": Classified(Mean(scores.neg_absolute), _UNBOUNDED),
    "neg_mean_absolute_percentage_error": Classified(Mean(scores.neg_relative), _UNBOUNDED),
    "neg_mean_gamma_deviance": Classified(Mean(scores.neg_gamma_deviance), _UNBOUNDED),
    "neg_mean_poisson_deviance": Classified(Mean(scores.neg_poisson_deviance), _UNBOUNDED),
    "neg_mean_squared_error": Classified(Mean(scores.neg_squared), _UNBOUNDED),
    "neg_mean_squared_log_error": Classified(Mean(scores.neg_squared_log), _UNBOUNDED),
    "neg_root_mean_squared_error": Classified(RootMean(scores.neg_squared), _UNBOUNDED),
    "neg_root_mean_squared_log_error": Classified(RootMean(scores.neg_squared_log), _UNBOUNDED),
    "precision": Classified(Ratio(1, counts_misses=False, doubled=False)),
    "recall": Classified(ClassMean(positive=1)),
    "recall_macro": Classified(ClassMean(only_known=True)),
    "roc_auc": Classified(AUC()),
    **{
        f"roc_auc_{how}{end}": Classified(AveragedAUC(pairs=how == "ovo", weighted=bool(end)))
        for how in ("ovo", "ovr")
        for end in ("", "_weighted")
    },
    "top_k_accuracy": Classified(Mean(scores.top_two, zero_one=True)),
}
"""Scorers that are certified without the stable median."""

RESPONSES: dict[str, Response] = {
    **dict.fromkeys(
        (
            *("accuracy", "balanced_accuracy", "matthews_corrcoef"),
            *(f"{name}{end}" for name in ("f1", "jaccard", "precision", "recall") for end in _AVERAGES),
            *("neg_negative_likelihood_ratio", "positive_likelihood_ratio"),
            *("adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score"),
            *("fowlkes_mallows_score", "homogeneity_score", "mutual_info_score"),
            *("normalized_mutual_info_score", "rand_score", "v_measure_score"),
        ),
        LABELS,
    ),
    **dict.fromkeys(
        (
            *("d2_absolute_error_score", "explained_variance", "r2"),
            *("max_error", "neg_max_error", "neg_median_absolute_error"),
            *("neg_mean_absolute_error", "neg_mean_absolute_percentage_error"),
            *("neg_mean_gamma_deviance", "neg_mean_poisson_deviance"),
            *("neg_mean_squared_error", "neg_mean_squared_log_error"),
            *("neg_root_mean_squared_error", "neg_root_mean_squared_log_error"),
        ),
        NUMBERS,
    ),
    **dict.fromkeys(("average_precision", "roc_auc"), SCORES),
    "neg_brier_score": POSITIVE_PROBABILITY,
    **dict.fromkeys(("d2_brier_score", "d2_log_loss_score", "neg_log_loss"), PROBABILITIES),
    **{f"roc_auc_{how}{end}": CLASS_SCORES for how in ("ovo", "ovr") for end in ("", "_weighted")},
    "top_k_accuracy": ALL_SCORES,
}
"""What each scorer takes of a model, and of y."""

POSITIVE: dict[str, int | None] = {
    "average_precision": 1,
    "f1": 1,
    "jaccard": 1,
    "neg_brier_score": None,
    "precision": 1,
    "recall": 1,
}
"""Scorers of one class, and which one it is unless `Metric` is told another.

None is either: the Brier score is the same for both.
"""

NEED_EVERY_CLASS = frozenset(
    {
        *("average_precision", "d2_brier_score", "d2_log_loss_score", "matthews_corrcoef", "top_k_accuracy"),
        *(f"roc_auc_{how}{end}" for how in ("ovo", "ovr") for end in ("", "_weighted")),
    }
)
"""Scorers without a value on rows that lack a class, or with one that says nothing (such as 0)."""

_FAMILIES = {"f1": "f_beta", "jaccard": "jaccard", "precision": "precision"}

OF_ALL_ROWS: dict[str, AllRowsRule] = {
    **{
        f"{name}_{how}": ClassTable(metric, how)
        for name, metric in _FAMILIES.items()
        for how in ("macro", "weighted")
    },
    "average_precision": AveragePrecision(),
    "d2_absolute_error_score": Explained(0.5),
    "matthews_corrcoef": ClassTable("mcc"),
    "neg_median_absolute_error": MedianError(),
    "r2": Explained(),
}
"""Scorers that are certified, not checked, by an interval of all rows."""

KINDS = {
    **{Mean: "mean", RootMean: "root_mean", AUC: "auc", AveragedAUC: "auc"},
    **{ClassMean: "class_mean", Ratio: "ratio", MicroJaccard: "ratio"},
}

KNOWN_RANGES: dict[str, Range] = {
    **{f"{name}_{how}": _UNIT for name in ("f1", "jaccard", "precision") for how in ("macro", "weighted")},
    "average_precision": _UNIT,
    **dict.fromkeys(("completeness_score", "homogeneity_score", "v_measure_score"), _UNIT),
    **dict.fromkeys(("fowlkes_mallows_score", "normalized_mutual_info_score", "rand_score"), _UNIT),
    "matthews_corrcoef": (-1.0, 1.0),
}
"""Ranges of scorers that only the stable median certifies; others have none."""

REFUSED = {
    f"{name}_samples": "is for records with several labels each, and y of a Holdout is one-dimensional"
    for name in ("f1", "jaccard", "precision", "recall")
}
"""Scorers that cannot be asked of a holdout, and why."""


_PAIRS = "compares clusterings by pairs of records, which are no independent terms"
_RATIO = "is a ratio of means, for which no interval is implemented"
NO_INTERVAL: dict[str, str] = {
    **dict.fromkeys(
        (
            *("adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score"),
            *("fowlkes_mallows_score", "homogeneity_score", "mutual_info_score"),
            *("normalized_mutual_info_score", "rand_score", "v_measure_score"),
        ),
        _PAIRS,
    ),
    "explained_variance": _RATIO,
    **dict.fromkeys(("neg_negative_likelihood_ratio", "positive_likelihood_ratio"), _RATIO),
    "neg_max_error": "is decided by one record, which no sample bounds",
}
"""Scorers without an interval of their own, and why: refused unless the stable median is asked for."""


def example_range(name: str) -> tuple[int, int]:
    """Return a range that may be declared, to show where it is written: shares of a loss are up to 1.

    Examples
    --------
    >>> example_range("neg_log_loss")
    (-10, 0)
    """
    return -10, int(name.startswith("d2_"))


def classify_scorers() -> list[tuple[str, str, str]]:
    """Return (name, kind, how it is certified) for every scorer of the scikit-learn that is installed.

    Examples
    --------
    >>> classify_scorers()[0]
    ('accuracy', 'mean', 'Clopper-Pearson')
    """
    return [(name, *_classified(name)) for name in get_scorer_names()]


def _classified(name: str) -> tuple[str, str]:
    if name in REFUSED:
        return "refused", f"it {REFUSED[name]}"
    if name in OF_ALL_ROWS:
        rule = OF_ALL_ROWS[name]
        rows = ", with guess_from=" if rule.needs_rows else ""
        return "general", f"certify only{rows}: {rule.theorem}"
    if name not in WITH_INTERVAL:
        return "general", f"refused unless the stable median is asked for: it {NO_INTERVAL[name]}"
    known = WITH_INTERVAL[name]
    theorem = known.rule.theorem
    if isinstance(known.rule, ClassMean) and known.rule.positive is None:
        theorem += ", or Clopper-Pearson for each class where the guess foresees a narrower interval"
    if isinstance(known.rule, RootMean) or (isinstance(known.rule, Mean) and not known.rule.zero_one):
        theorem = f"betting with guess_from=, else {theorem}"
    if known.range is None:
        declared = f"Metric({name!r}, range={example_range(name)})"
        theorem += f"; each score clipped to the range of {declared}, or to what guess_from= suggests"
    return KINDS[type(known.rule)], theorem
