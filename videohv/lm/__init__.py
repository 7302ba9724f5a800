"""Language models: backends by name, the embedded engine, and the ledger of what was spent."""

from __future__ import annotations

import os

# Without this, DSPy's first look at prices and abilities asks the network and waits for it.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")

from videohv.lm.about import context_tokens, describe, lm_name, sees_images
from videohv.lm.backends import default_lm, make_lm

__all__ = ["context_tokens", "default_lm", "describe", "lm_name", "make_lm", "sees_images"]
