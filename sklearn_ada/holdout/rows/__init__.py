"""The rows of a holdout: what they are, how they are cut into subsamples, and how workers get them."""
