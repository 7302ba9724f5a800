"""What turns frames into text, and the run that captions a whole video once."""

from videohv.captioners.registry import Captioner, captioner, captioner_names, get_captioner
from videohv.captioners.run import caption_video
from videohv.captioners.tags import TagCaptioner

__all__ = ["Captioner", "TagCaptioner", "caption_video", "captioner", "captioner_names", "get_captioner"]
