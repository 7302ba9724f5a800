"""Reports as single HTML files: of one answer with its evidence, of a run, of two runs beside each other."""

from videohv.report.files import report_answer, report_comparison, report_run
from videohv.report.notebook import dataframe, notebook_html
from videohv.report.single import html_of

__all__ = ["dataframe", "html_of", "notebook_html", "report_answer", "report_comparison", "report_run"]
