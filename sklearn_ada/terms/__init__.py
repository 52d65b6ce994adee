"""What is fixed before a question is put: policy, privacy, rows and models."""
