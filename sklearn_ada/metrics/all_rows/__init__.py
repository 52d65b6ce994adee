"""Metrics such as R2 and MCC that only an interval of all rows certifies: the value alone bounds nothing."""
