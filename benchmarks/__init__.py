"""Measurements: each module prints figures made in one run, `python -m benchmarks.NAME`. Nothing here is a test."""
