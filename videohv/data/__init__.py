"""What comes from files and what is kept in them: benchmarks, captions, and their store."""

from videohv.data.captions import read_captions, write_captions
from videohv.data.card import Card
from videohv.data.dataset import Dataset, Problem
from videohv.data.exchange import export_captions, import_captions
from videohv.data.library import CaptionLibrary
from videohv.data.narration import normalise
from videohv.data.partition import Partition, overlap, partition
from videohv.data.registry import benchmark, benchmark_cards, get_benchmark, load_questions
from videohv.data.store import CaptionStore, Key
from videohv.data.subtitles import merge, read_subtitles
from videohv.data.videos import VideoFolder

__all__ = [
    "CaptionLibrary",
    "CaptionStore",
    "Card",
    "Dataset",
    "Key",
    "Partition",
    "Problem",
    "VideoFolder",
    "benchmark",
    "benchmark_cards",
    "export_captions",
    "get_benchmark",
    "import_captions",
    "load_questions",
    "merge",
    "normalise",
    "overlap",
    "partition",
    "read_captions",
    "read_subtitles",
    "write_captions",
]
