"""Stable medians: a metric on many disjoint subsamples, of which the median is drawn."""
