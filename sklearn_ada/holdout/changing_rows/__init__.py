"""What becomes of a holdout when its rows change: found again, compared, kept out of training, added to."""
