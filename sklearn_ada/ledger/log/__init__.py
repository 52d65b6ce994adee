"""What all ledgers share: a log of records, each chained to the one before, with one writer at a time."""
