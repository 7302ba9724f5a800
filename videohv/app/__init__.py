"""The page where people ask, and the same as an HTTP API and as an MCP server."""

from videohv.app.desk import Ask, Desk
from videohv.app.job import Job, State
from videohv.app.jobs import Jobs
from videohv.app.places import Places

__all__ = ["Ask", "Desk", "Job", "Jobs", "Places", "State"]
