"""What answers are rounded to: grids, cells around a guess, buckets, and the lattice of noisy answers."""
