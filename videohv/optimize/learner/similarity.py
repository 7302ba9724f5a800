"""How alike texts are, by their words: no model, no network."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\w+")


class Similarity:
    """Cosine of TF-IDF vectors, with document frequencies from the texts that it is made with.

    Args:
        texts: Those to be compared with.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [_words(text) for text in texts]
        seen = Counter(word for words in counts for word in words)
        self._rarity = {word: math.log((1 + len(texts)) / (1 + n)) + 1.0 for word, n in seen.items()}
        self._vectors = [self._vector(words) for words in counts]

    def nearest(self, text: str, count: int) -> list[int]:
        """The places of so many texts that are most alike, the most alike first; of equal ones the earlier first."""
        asked = self._vector(_words(text))
        alike = [sum(weight * other.get(word, 0.0) for word, weight in asked.items()) for other in self._vectors]
        return sorted(range(len(alike)), key=lambda place: (-alike[place], place))[:count]

    def _vector(self, words: Counter[str]) -> dict[str, float]:
        weights = {word: n * self._rarity[word] for word, n in words.items() if word in self._rarity}
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()} if length else {}


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))
