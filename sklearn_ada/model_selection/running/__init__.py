"""One search from its start to its table: engines, candidates, guesses, and the answers behind the scores."""
