"""What is to become better, and what is told to those who learn from it."""
