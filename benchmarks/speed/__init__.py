"""How long things take, against named peers."""
