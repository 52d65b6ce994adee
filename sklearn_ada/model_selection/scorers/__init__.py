"""Drop-in scorers, the split that they take guesses from, and whom they refuse to serve."""
