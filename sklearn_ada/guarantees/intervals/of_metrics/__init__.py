"""Confidence intervals that are made for one metric, or a family of them, and named after it.

They are built from the intervals and bets for one mean in `sklearn_ada.guarantees.intervals`, whose
conventions they share. Accuracy, AUC and the mean of a loss need no more than those.
"""
