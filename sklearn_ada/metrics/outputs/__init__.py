"""What a model says of rows: how it is asked, what a metric takes of that, and how it is kept."""
