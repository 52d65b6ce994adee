"""What people see of a holdout: what was asked, what it cost, and what is left."""
