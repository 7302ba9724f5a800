"""A finished run as the file that a benchmark's authors take in."""

from videohv.evaluate.export.formats import Answers, Format, export_format, export_formats
from videohv.evaluate.export.run import Export, export_run, save

__all__ = ["Answers", "Export", "Format", "export_format", "export_formats", "export_run", "save"]
