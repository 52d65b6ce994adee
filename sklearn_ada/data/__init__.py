"""What X and y may be: labels, rows and units, in memory, in files or in Dask."""
