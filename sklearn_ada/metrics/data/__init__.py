"""What rows and labels are, however they are held: in arrays, frames and lists, in files, or in Dask."""
