"""Asking a holdout, one module for each way: one question, many, a choice, a round, the final answer."""
