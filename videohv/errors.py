"""Every error that videohv raises on purpose.

All of them derive from `VideoHVError`, carry a message that says what was wrong, where, and what to do, and are safe
to print: no message ever contains a key or a prompt. The command line turns each into one line and an exit code.
"""

from __future__ import annotations


class VideoHVError(Exception):
    """Base of all errors of this package."""


class InputError(VideoHVError, ValueError):
    """What the caller gave cannot be used: options, captions, settings, a file of the wrong form."""


class VideoError(VideoHVError):
    """A video file cannot be read. The message names the file."""


class NotVideo(VideoError):
    """The file is missing, empty, not a media file, or has no picture stream that could be decoded."""


class DecodeError(VideoError):
    """The file is a video, but the wanted frames could not be decoded."""


class ModelError(VideoHVError):
    """A model could not be found, fetched, verified or loaded."""


class ProgramError(VideoHVError):
    """A saved program could not be found or does not fit this version of the signatures."""


class OptimizerFailed(VideoHVError):
    """An optimizer ended without a better program. The message says why; what was learnt before is kept."""


class SubmitError(VideoHVError):
    """A benchmark's server did not take a submission. The message has its answer."""


class MissingExtra(VideoHVError, ImportError):
    """An optional dependency is not installed. The message names the extra to install."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}: install it with  pip install 'videohv[{extra}]'")


class Cancelled(VideoHVError):
    """The caller asked a running question to stop. What was computed before stays in the stores and caches."""
