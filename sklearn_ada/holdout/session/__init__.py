"""The session of a holdout: its rows, policy, ledger and asker, and what guards a look at the rows."""
