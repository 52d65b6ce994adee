"""What is agreed before the first question, and what an answer may then say."""
