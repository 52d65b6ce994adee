"""Running a search and asking the holdout: about every candidate, or about the winner only."""
