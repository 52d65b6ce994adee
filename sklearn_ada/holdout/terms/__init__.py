"""What all questions have in common: the policy, what one of them may spend, and what an answer can be."""
