"""The search over the loop's own settings."""
