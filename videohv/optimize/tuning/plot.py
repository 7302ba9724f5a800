"""The Pareto front as a picture: one SVG file that needs nothing beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from videohv.optimize.tuning.front import Tried, pareto

_WIDTH, _HEIGHT = 720, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 30, 50, 60
_FRONT, _BEATEN, _LINES = "#1b6ca8", "#9aa5b1", "#d9dee3"


def front_svg(tried: Sequence[Tried], title: str) -> str:
    """Accuracy over tokens a question: the front joined by steps with its intervals, the others in grey.

    Pointing at a dot shows its settings.

    Args:
        tried: All of them; those that failed are left out.
        title: Above the picture.
    """
    scored = [one for one in tried if one.accuracy is not None and one.tokens is not None]
    front = pareto(scored)
    highest = max((one.tokens or 0.0 for one in scored), default=0.0)
    ticks = _ticks(highest)
    axes = _Axes(ticks[-1] or 1.0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" font-family="sans-serif" font-size="12">',
        f"<title>{_text(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="24" font-size="15">{_text(title)}</text>',
        *axes.grid(ticks),
    ]
    if front:
        parts.append(f'<path d="{axes.steps(front)}" fill="none" stroke="{_FRONT}" stroke-width="1.5"/>')
    parts += [axes.dot(one, _BEATEN, 3.5) for one in scored if one not in front]
    for one in front:
        parts += [axes.interval(one), axes.dot(one, _FRONT, 5), axes.label(one)]
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Axes:
    """From tokens and accuracies to places in the picture."""

    def __init__(self, most: float) -> None:
        self._most = most

    def grid(self, ticks: Sequence[float]) -> Iterator[str]:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        for tick in ticks:
            x = self._x(tick)
            yield f'<line x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom}" stroke="{_LINES}"/>'
            yield f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{tick:,.0f}</text>'
        for percent in range(0, 101, 20):
            y = self._y(percent / 100)
            yield f'<line x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}" stroke="{_LINES}"/>'
            yield f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{percent} %</text>'
        yield f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 14}" text-anchor="middle">tokens a question</text>'
        middle = (_TOP + bottom) / 2
        yield f'<text transform="translate(18 {middle}) rotate(-90)" text-anchor="middle">accuracy</text>'

    def steps(self, front: Sequence[Tried]) -> str:
        places = [self._place(one) for one in front]
        path = f"M{places[0][0]} {places[0][1]}"
        return path + "".join(f"H{x}V{y}" for x, y in places[1:])

    def interval(self, one: Tried) -> str:
        assert one.accuracy is not None
        x, low, high = self._place(one)[0], self._y(one.accuracy.low), self._y(one.accuracy.high)
        return f'<line x1="{x}" x2="{x}" y1="{low}" y2="{high}" stroke="{_FRONT}" stroke-opacity="0.45"/>'

    def dot(self, one: Tried, colour: str, radius: float) -> str:
        assert one.accuracy is not None
        x, y = self._place(one)
        settings = ", ".join(f"{name}={value}" for name, value in one.settings.items())
        told = f"trial {one.number}: {100 * one.accuracy.value:.1f} %, {one.tokens:,.0f} tokens; {settings}"
        return f'<circle cx="{x}" cy="{y}" r="{radius:g}" fill="{colour}"><title>{_text(told)}</title></circle>'

    def label(self, one: Tried) -> str:
        x, y = self._place(one)
        return f'<text x="{x + 8}" y="{y - 8}" fill="{_FRONT}">{one.number}</text>'

    def _place(self, one: Tried) -> tuple[float, float]:
        assert one.accuracy is not None
        return self._x(one.tokens or 0.0), self._y(one.accuracy.value)

    def _x(self, tokens: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * tokens / self._most, 1)

    def _y(self, accuracy: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * accuracy, 1)


def _ticks(highest: float) -> list[float]:
    """Round numbers from 0 to above the highest, four to eight of them."""
    if highest <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(highest / 4))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if highest / (power * factor) <= 6)
    return [step * i for i in range(math.ceil(highest / step) + 1)]


def _text(text: str) -> str:
    return escape("".join(c for c in text if c.isprintable()))
