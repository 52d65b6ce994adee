"""The median, or another quantile, of a metric's values on subsamples: exact, or drawn privately."""
