"""Benchmark runs: every question asked once, on disk before it counts, and what the figures are worth."""

from videohv.evaluate.benchmark import run_benchmark
from videohv.evaluate.compare import compare
from videohv.evaluate.journal import read_rows, read_traces
from videohv.evaluate.manifest import Manifest, read_manifest
from videohv.evaluate.opened import Run
from videohv.evaluate.row import Row
from videohv.evaluate.runner import Ending, Progress
from videohv.evaluate.summary import RunSummary, summarise

__all__ = [
    "Ending",
    "Manifest",
    "Progress",
    "Row",
    "Run",
    "RunSummary",
    "compare",
    "read_manifest",
    "read_rows",
    "read_traces",
    "run_benchmark",
    "summarise",
]
