"""Optimised programs: prompts and demonstrations compiled against the accuracy on a benchmark, with the proof."""
