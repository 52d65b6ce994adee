"""What a holdout is asked about, a fitted model or predictions, and how it is known again."""
