"""Published captions carry markers, odd spaces and loops: one function turns each into plain text."""

from __future__ import annotations

import re

_MAX_CHARS = 1000
_LONGEST_LOOP = 40  # words

_WEARER = re.compile(r"^#\s*C\s+C\b\s*", re.IGNORECASE)
_MARKER = re.compile(r"^#\s*[A-Za-z](?:\s+|$)")
_INNER = re.compile(r"(?<=\s)#\s*[OC]\s+(?=\S)", re.IGNORECASE)
_UNSURE = re.compile(r"#\s*unsure\b", re.IGNORECASE)


def normalise(raw: str) -> str:
    """One published caption as plain text.

    * White space of every kind (line breaks, U+00A0) becomes single spaces, none at the ends.
    * Narration markers (Ego4D, LaViLa) go: `#C C looks around` becomes `C looks around` (C wears the camera) and
      `#O A man X walks` becomes `A man X walks`, in every spelling (`#c c`, `# C C`) and inside a sentence too.
    * `# unsure` and `#unsure`, which stand for a thing the narrator could not name, become `(unsure)`.
    * A text of over 1,000 characters is a model caught in a loop: repeated runs of words are kept once, and what is
      still too long is cut at 1,000 characters, ending in `…`.

    Doing it twice changes nothing more.
    """
    # Half a surrogate pair is legal in JSON and in no text that has to be stored or sent.
    text = " ".join(raw.encode("utf-16", "surrogatepass").decode("utf-16", "replace").split())
    before = ""
    while text != before:
        before = text
        text = _MARKER.sub("", _WEARER.sub("C ", text, count=1), count=1) if text.startswith("#") else text
        text = _INNER.sub("", text)
    text = _UNSURE.sub("(unsure)", text).strip()
    if len(text) > _MAX_CHARS:
        text = " ".join(_without_loops(text.split()))
    if len(text) > _MAX_CHARS:
        text = text[: _MAX_CHARS - 1].rsplit(" ", 1)[0].rstrip() + "…"
    return text


def _without_loops(words: list[str]) -> list[str]:
    """Drop every run of at most 40 words that repeats the run right before it."""
    kept: list[str] = []
    for word in words:
        kept.append(word)
        for length in range(1, min(_LONGEST_LOOP, len(kept) // 2) + 1):
            if kept[-length:] == kept[-2 * length : -length]:
                del kept[-length:]
                break
    return kept
