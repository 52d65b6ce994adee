"""A ledger as a book in a PostgreSQL database, for workers on several machines."""
