"""A ledger in one SQLite file, its lock, and the temporary ledgers of a session."""
