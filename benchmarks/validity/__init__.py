"""Coverage and the figures of published experiments."""
