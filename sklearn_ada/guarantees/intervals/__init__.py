"""Confidence intervals for one question that was fixed in advance: what every certificate is made of.

Here are those for a mean or a share of the rows, mostly named after their theorems; those that are made for
one metric, such as F-beta or R^2, are in `sklearn_ada.guarantees.intervals.of_metrics`.

Each function takes ``ln_delta``, the natural logarithm of the failure probability, so that a certificate can
be asked for delta = e^-2000. Each side of an interval gets ``delta / 2``. An answer that is known only up to
a cell passes both ends of the cell; an exact answer passes the same value twice. Ends are rounded outwards,
so nothing returned is narrower than the truth.
"""
