"""Frames out of video files: by time, exact, and with no more held than a few frames."""

from videohv.video.decoder import Decoder, decoders, get_decoder
from videohv.video.decord_decoder import DecordDecoder
from videohv.video.frame import Frame, Pictures, pictures
from videohv.video.identity import content_hash
from videohv.video.pyav_decoder import PyAVDecoder
from videohv.video.video import Video

__all__ = [
    "Decoder",
    "DecordDecoder",
    "Frame",
    "Pictures",
    "PyAVDecoder",
    "Video",
    "content_hash",
    "decoders",
    "get_decoder",
    "pictures",
]
