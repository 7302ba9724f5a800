"""DSPy's teleprompters, one a file, behind `videohv.optimize.registry`."""
