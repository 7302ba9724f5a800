"""The phases of a compile and what they keep."""
