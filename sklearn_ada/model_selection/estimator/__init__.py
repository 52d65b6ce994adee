"""What scikit-learn asks of an estimator that wraps a search."""
