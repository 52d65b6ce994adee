"""Questions to a holdout: one module for each mechanism that answers."""
