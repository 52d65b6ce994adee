"""What can be done with a holdout: each module is one thing that is asked of it, charged and recorded."""
