"""Certificates of the median over subsamples, for metrics that are not means.

The holdout is cut once into disjoint subsamples, the metric is computed on each, and the median is answered:
exactly (`exact_median`, by description length) or drawn privately (`stable_median`, by a transfer theorem).
"""
