from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.signs import stop_sign, title
from videohv.captioners import TagCaptioner
from videohv.captioners.detector import Detection
from videohv.video import Frame


class Things:
    identity = "things"

    def __init__(self, *things: Detection) -> None:
        self.things = things
        self.calls = 0

    def detect(self, rgb: NDArray[np.uint8]) -> tuple[Detection, ...]:
        self.calls += 1
        return self.things


class Words:
    identity = "words"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.calls = 0

    def read(self, rgb: NDArray[np.uint8]) -> str:
        self.calls += 1
        return self.texts[(self.calls - 1) % len(self.texts)]


def thing(label: str, score: float = 0.9, left: float = 0.4, width: float = 0.2, height: float = 0.5) -> Detection:
    return Detection(label, score, left, 0.1, left + width, 0.1 + height)


def frames(*pictures: NDArray[np.uint8], step: float = 1.0) -> list[Frame]:
    return [Frame(wanted=i * step, time=max(0.0, i * step - 0.02), rgb=rgb) for i, rgb in enumerate(pictures)]


def texts(captioner: TagCaptioner, given: list[Frame]) -> list[str]:
    return [caption.text for caption in captioner.caption(given)]


GREY = np.full((90, 160, 3), 120, np.uint8)
GREY[40:50, 60:90] = 150  # not plain, so that things are looked for
TITLE, OTHER = title("An unlucky bird"), title("Revenge is coming")


def test_real_models_on_drawn_frames() -> None:
    captioner = TagCaptioner()
    captions = list(captioner.caption(frames(stop_sign(160, 150, 80), TITLE, TITLE, title(""))))
    assert [caption.time for caption in captions] == [0, 1, 2, 3]
    assert captions[0].text.startswith("1 stop sign; text: ")
    assert "STOP" in captions[0].text
    assert captions[1].text == 'text: "An unlucky bird"; very dark; mostly black; scene change'
    assert captions[2].text == 'text: "An unlucky bird"; very dark; mostly black; still'
    assert captions[3].text == "plain black picture"
    (seen,) = captioner.observe(frames(stop_sign(460, 150, 100)))
    assert seen.text.startswith("1 stop sign (right); text: ")


@pytest.mark.parametrize(
    ("things", "text"),
    [
        ((thing("person"), thing("person"), thing("car")), "2 people, 1 car"),
        ((thing("car"), thing("person"), thing("dog", 0.4)), "1 person, 1 car, perhaps 1 dog"),
        ((thing("person", 0.4), thing("person", 0.5)), "1 person, perhaps 1 person"),
        ((thing("bus"), thing("bus"), thing("bench"), thing("bench")), "2 buses, 2 benches"),
        ((thing("knife"), thing("knife"), thing("sheep"), thing("sheep")), "2 sheep, 2 knives"),
    ],
)
def test_things_are_counted_in_one_order(things: tuple[Detection, ...], text: str) -> None:
    assert texts(TagCaptioner(Things(*things), Words("")), frames(GREY)) == [f"{text}; mostly grey"]


def test_observations_say_where_and_how_large() -> None:
    things = (
        thing("person", left=0.7),
        thing("person", left=0.0, width=0.5, height=0.8),
        thing("cup", 0.4, 0.45, 0.05, 0.05),
    )
    given = frames(GREY)
    (seen,) = TagCaptioner(Things(*things), Words('say "hi"')).observe([Frame(wanted=2.0, time=1.96, rgb=GREY)])
    assert seen.text == "2 people (left large, right), perhaps 1 cup (centre small); text: \"say 'hi'\"; mostly grey"
    assert seen.time == 1.96
    crowd = TagCaptioner(Things(*[thing("person", left=i / 10) for i in range(6)]), Words("")).observe(given)
    assert crowd[0].text.startswith("6 people (left, left, left, centre, …)")


def test_text_is_read_when_strokes_change_and_repeated_in_between() -> None:
    words = Words("one", "two", "three")
    captions = texts(TagCaptioner(Things(), words), frames(TITLE, TITLE, TITLE, OTHER, OTHER, title(""), OTHER))
    assert [caption.split(";")[0] for caption in captions] == [
        *['text: "one"'] * 3, *['text: "two"'] * 2, "plain black picture", 'text: "three"'
    ]  # fmt: skip
    assert words.calls == 3


def test_observations_read_every_frame() -> None:
    words = Words("one", "two")
    seen = TagCaptioner(Things(), words).observe(frames(TITLE, TITLE))
    assert [observation.text.split(";")[0] for observation in seen] == ['text: "one"', 'text: "two"']


def test_frames_far_apart_are_not_compared() -> None:
    words = Words("one", "two")
    captions = texts(TagCaptioner(Things(), words), frames(TITLE, TITLE, step=60))
    assert words.calls == 2
    assert all("still" not in caption and "change" not in caption for caption in captions)
    assert "change" not in TagCaptioner(Things(), words).observe(frames(TITLE, GREY, step=60))[1].text


def test_nothing_is_looked_for_in_plain_pictures_and_no_caption_is_empty() -> None:
    things, words = Things(thing("dog")), Words("ghost")
    assert texts(TagCaptioner(things, words), frames(np.zeros((90, 160, 3), np.uint8))) == ["plain black picture"]
    assert things.calls == words.calls == 0
    rng = np.random.default_rng(1)
    mix = np.concatenate([np.full((90, 30, 3), rgb, np.uint8) for rgb in rng.permutation(np.eye(3) * 250)], axis=1)
    mix = np.concatenate([mix, np.full((90, 60, 3), 120, np.uint8)], axis=1)
    mix[:, 90:120] = (240, 230, 40)
    assert texts(TagCaptioner(Things(), Words("")), frames(mix)) == ["nothing recognised"]


def test_captions_stream() -> None:
    taken: list[int] = []

    def endless() -> Iterator[Frame]:
        number = 0
        while True:
            taken.append(number)
            yield Frame(wanted=float(number), time=float(number), rgb=GREY)
            number += 1

    captions = TagCaptioner(Things(), Words("")).caption(endless())
    assert [next(captions).time for _ in range(3)] == [0.0, 1.0, 2.0]
    assert taken == [0, 1, 2]


def test_the_identity_names_wording_and_models(monkeypatch: pytest.MonkeyPatch) -> None:
    default: Any = TagCaptioner().identity
    assert default.startswith("tags-1 nanodet-g-416-coco rapidocr-")
    assert TagCaptioner(Things(), Words("")).identity == "tags-1 things words"
