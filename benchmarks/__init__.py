"""Measurements: validity against published figures, speed against named peers."""
