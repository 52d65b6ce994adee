"""Questions: everything about one is fixed before the holdout is looked at. One module for each mechanism."""
