"""Other methods on the same data, models, retries and traces, to compare with."""

from videohv.modules.rivals.captions import Captions
from videohv.modules.rivals.direct import Direct
from videohv.modules.rivals.retrieval import Retrieval

__all__ = ["Captions", "Direct", "Retrieval"]
