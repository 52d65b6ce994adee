"""What can be done with a holdout, one module for each: ask, select, declare, open a round, add rows."""
