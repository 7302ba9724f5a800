"""The pictures of the pages in `docs/images`, taken of the real page and a real report in a Chromium.

    python -m docs.screenshots [--all FOLDER]

It serves `videohv app` for the sample clip and asks it one question. The captions and the replies of the models are
written here, true to what the clip shows, so that the pictures are the same wherever they are made: they show the page,
not what a model can do. `--all` puts every state of the page into a folder instead, at both widths and in both themes,
to be looked at after a change. Needs the packages of `.[dev]`, chromium and chromedriver.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.support.benchmark import seen
from tests.support.browser import Browser, browsing
from tests.support.engine import Seen, letters
from tests.support.server import FakeServer, Request
from tests.support.serving import Served, serving
from videohv.app import Desk, Jobs, Places
from videohv.app.kept import Kept, Runs, as_ended
from videohv.lm import make_lm
from videohv.lm.roles import using
from videohv.samples import CLIP

IMAGES = Path(__file__).parent / "images"
MOST_BYTES = 300_000
WIDTHS = {"wide": 1280, "phone": 390}
THEMES = ("light", "dark")
TALL = 1000
"""Pixels of the pictures in the documentation; whole pages would be too tall to be read there."""

QUESTION = "What does the bunny do first after it has come out of its burrow?"
OPTIONS = (
    "It runs after a butterfly",
    "It stretches its arms and yawns",
    "It eats an apple",
    "It turns around and goes back to sleep",
)
HYPOTHESES = (
    "Outside the burrow the bunny moves across the meadow behind a butterfly.",
    "The bunny stands upright before the burrow with both arms spread and its mouth wide open.",
    "The bunny holds an apple to its mouth in front of the burrow.",
    "After a look outside, the bunny is in the dark of the burrow again with its head down.",
)
PREDICTIONS = ("running, arms swinging", "spread wide, empty", "holding an apple", "tucked in, inside the burrow")
SHOWN = (
    (0, "a black screen"),
    (1, "pink clouds over a green meadow with trees"),
    (4, "a meadow; the words “The Blender Foundation and Peach Project presents”"),
    (6, "a meadow with the title “Big Buck Bunny”"),
    (10, "a black screen"),
    (11, "a plump bird stands on a branch; the words “An unlucky bird”"),
    (14, "a black screen"),
    (15, "the bunny sleeps curled up in the dark of its burrow"),
    (17, "the bunny begins to stir in its burrow; the words “A (slightly overweight) bunny”"),
    (21, "the bunny lifts its head in the burrow, eyes half closed"),
    (23, "the bunny looks out of its burrow"),
    (24, "the bunny sits in the opening of the burrow, wide awake, ears up"),
    (25, "the bunny squeezes out of the burrow on its hands, head down"),
    (26, "the bunny is out of the burrow and pushes itself up"),
    (27, "the bunny stands upright, both arms stretched up and out, eyes closed"),
    (28, "the bunny stands with both arms spread wide and its mouth wide open: it yawns"),
    (29, "the bunny lowers one arm and lifts the other hand to its head"),
    (30, "the bunny rubs its eyes with one hand, its hands are empty"),
    (31, "the bunny stands before the burrow, arms down, and smiles"),
    (32, "a black screen"),
    (33, "three rodents beside a tree, one close to the camera; the words “And three rodent pests”"),
    (36, "a meadow with two trees"),
    (37, "the bunny walks across the meadow"),
    (38, "the bunny leans against a tree and holds its head"),
    (42, "three rodents stand under a tree, far away"),
    (44, "the bunny turns and stares into the camera"),
    (47, "the picture fades to brown"),
    (48, "the bunny's face close up, eyes narrowed; the words “Revenge is coming…”"),
    (52, "a black screen"),
    (53, "the words “Made with MoviePy”"),
)
SUMMARIES = (
    (0, "Clouds and a meadow; at 6 s the title. A bird on a branch at 11 s. From 15 s the bunny sleeps and looks out."),
    (24, "The bunny leaves its burrow at 25 s and is in front of it from 26 s to 31 s."),
    (32, "Three rodents by a tree from 33 s; the bunny at a tree from 38 s; “Revenge is coming…” at 48 s."),
)


class Film:
    """The models: what they would say of the clip, held up at a step if that is wanted."""

    def __init__(self) -> None:
        self.hold = ""
        self.go_on = threading.Event()

    def __call__(self, request: Request) -> str:
        what = seen(request)
        if what.role == self.hold:
            self.go_on.wait(60)
        return json.dumps(_REPLIES[what.role](what))


def _sights(what: Seen, name: str) -> dict[str, Any]:
    times = [float(part.strip().removesuffix("s").strip()) for part in what.inputs["times"].split(",")]
    shown = [max((at, text) for at, text in SHOWN if at <= time + 0.02)[1] for time in times]
    return {name: [{"time": time, "seen": text} for time, text in zip(times, shown, strict=True)]}


def _summary(what: Seen) -> dict[str, Any]:
    first = float(re.findall(r"\[([\d.]+)", what.inputs["captions"])[0])
    return {"summary": max((at, text) for at, text in SUMMARIES if at <= first)[1]}


def _pairs(what: Seen, name: str, texts: tuple[str, ...], **more: Any) -> list[dict[str, Any]]:
    return [{"option": letter, name: text, **more} for letter, text in zip("ABCD", texts, strict=True)]


def _verdicts(*said: tuple[str, str]) -> list[dict[str, str]]:
    return [{"option": letter, "why": why, "support": how} for letter, (how, why) in zip("ABCD", said, strict=True)]


def _check(what: Seen) -> dict[str, Any]:
    if "yawns" not in what.inputs["evidence"]:
        return {
            "rationale": "From 15 s to 24 s the bunny sleeps, wakes and looks out, but it is still inside the burrow. "
            "What it does with its arms outside is not seen yet.",
            "verdicts": _verdicts(
                *[("unclear", "nothing outside the burrow was seen")] * 3,
                ("refuted", "at 24 s it is awake and on its way out"),
            ),
            "status": "PARTIAL",
            "wanted": [{"start": 25, "end": 31}],
        }
    return {
        "rationale": "At 27 s the bunny stands before the burrow with both arms stretched, at 28 s its mouth is wide "
        "open, and at 30 s it rubs its eyes. No butterfly and no apple are in any frame from 25 s to 31 s.",
        "verdicts": _verdicts(
            ("refuted", "it stays in front of the burrow, and no butterfly is seen"),
            ("supported", "both arms are spread at 27 s and 28 s, the mouth is wide open at 28 s"),
            ("refuted", "its hands are empty at 28 s and 30 s"),
            ("refuted", "at 31 s it still stands outside, awake"),
        ),
        "status": "VERIFIED",
        "wanted": [],
    }


_REPLIES = {
    "captioner": lambda what: _sights(what, "captions"),
    "look": lambda what: _sights(what, "sights"),
    "summary": _summary,
    "thinker": lambda what: {"hypotheses": _pairs(what, "statement", HYPOTHESES, plausibility=0.4)},
    "judge": lambda what: {
        "comparison": "All of them show the bunny near its burrow; they differ in what its arms and hands do.",
        "clue": "What the bunny's arms and hands do in the first seconds in front of the burrow",
        "predictions": _pairs(what, "expectation", PREDICTIONS),
        "quality": "DISTINCT",
    },
    "locate": lambda what: {"windows": [{"start": 15, "end": 24}]},
    "check": _check,
    "answer": lambda what: {
        "verdicts": [
            {"option": o, "why": "as checked", "support": "supported" if o == "B" else "refuted"} for o in letters(what)
        ],
        "conflicts": [],
        "reasoning": "The bunny gets up in front of the burrow, spreads both arms at 27 s and yawns at 28 s, before it "
        "does anything else.",
        "answer": "B",
        "confidence": 0.93,
    },
}


@contextmanager
def page_of(film: Film, home: Path) -> Iterator[Served]:
    """The page, served for the folder of the sample clip, with these models."""
    with ExitStack() as stack:
        server = stack.enter_context(FakeServer(film))
        kept = Kept(home / "kept")
        blind, seeing = make_lm(server.spec()), make_lm(server.spec("seeing", images="true"))
        # Kept replies would not be held up.
        with using(blind.copy(cache=False), seeing.copy(cache=False)):
            jobs = Jobs(on_end=lambda job: kept.add(as_ended(job)))
        models = [("lm", "a language model"), ("vision", "a vision model")]
        places = Places([CLIP.parent], home / "uploads")
        yield stack.enter_context(serving(Desk(places, jobs, kept, Runs(None), models)))
        film.go_on.set()


def fill(browser: Browser) -> None:
    """Choose the clip and type the question."""
    browser.wait("document.querySelectorAll('#listed option').length > 1 && document.querySelector('#method').value")
    browser.run(
        "const list = document.querySelector('#listed'); list.value = list.querySelectorAll('option')[1].value;"
        "list.dispatchEvent(new Event('change'));"
    )
    browser.wait("document.querySelector('#video').readyState >= 2")
    browser.run(
        "document.querySelector('#question').value = arguments[0];"
        "while (document.querySelectorAll('#options input').length < arguments[1].length)"
        "  document.querySelector('#add').click();"
        "document.querySelectorAll('#options input').forEach((field, i) => { field.value = arguments[1][i]; });",
        QUESTION,
        list(OPTIONS),
    )


def ask(browser: Browser) -> None:
    """Press the button."""
    browser.run("document.querySelector('#go').click()")


def load_pictures(browser: Browser) -> None:
    """Have even those loaded that are below what is shown."""
    browser.run("document.querySelectorAll('#steps img').forEach((picture) => { picture.loading = 'eager'; })")
    browser.wait("[...document.querySelectorAll('#steps img')].every((picture) => picture.complete)", 60)


def answered(browser: Browser) -> None:
    """Wait for the answer and the pictures, and show the moment that decides."""
    browser.wait("document.querySelector('#answer-text')", 60)
    load_pictures(browser)
    browser.run("document.querySelector('#steps button[aria-label=\"Show 0:28\"]').click(); scrollTo(0, 0)")
    browser.wait("!document.querySelector('#video').seeking")


def shoot(browser: Browser, file: Path, width: int, tall: int = 0) -> None:
    """A picture of the page from its top: `tall` pixels of it, or all."""
    tall = tall or int(browser.run("return document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": width, "height": tall, "scale": 1}
    made = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(small(base64.b64decode(made["data"])))
    print(f"{file}  {file.stat().st_size / 1000:.0f} kB")


def small(png: bytes) -> bytes:
    """The same picture, in as many colours as fit into `MOST_BYTES`."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    for colours in (256, 128, 64, 32):
        out = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        if out.tell() <= MOST_BYTES:
            break
    return out.getvalue()


def every_state(browser: Browser, page: Served, film: Film, folder: Path) -> None:
    """All states of the page at both widths and in both themes."""
    for name, width in WIDTHS.items():
        for theme in THEMES:
            where = f"{name}-{theme}.png"
            browser.open(page.address, width=width, theme=theme)
            browser.wait("document.querySelector('#method').value && document.querySelector('#recent li')")
            shoot(browser, folder / f"empty-{where}", width)
            fill(browser)
            shoot(browser, folder / f"filled-{where}", width)
            film.hold = "answer"
            film.go_on.clear()
            ask(browser)
            browser.wait("document.querySelectorAll('#steps .chip').length === 2", 60)
            load_pictures(browser)
            shoot(browser, folder / f"running-{where}", width)
            film.go_on.set()
            answered(browser)
            shoot(browser, folder / f"answered-{where}", width)


def for_the_documentation(browser: Browser, page: Served, film: Film, home: Path) -> None:
    """The page and the report of its answer, in both themes."""
    film.go_on.set()
    for theme in THEMES:
        browser.open(page.address, theme=theme)
        fill(browser)
        ask(browser)
        answered(browser)
        shoot(browser, IMAGES / f"app-{theme}.png", WIDTHS["wide"], TALL)
    job = page.api("/jobs")["jobs"][0]["id"]
    report = home / "report.html"
    report.write_bytes(page.ask(f"/api/v1/jobs/{job}/report").body)
    for theme in THEMES:
        browser.open(report, theme=theme)
        shoot(browser, IMAGES / f"report-{theme}.png", WIDTHS["wide"], TALL)


def main() -> None:
    """Read the arguments and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every state of the page into this folder instead")
    given = parser.parse_args()
    film = Film()
    with tempfile.TemporaryDirectory() as home, page_of(film, Path(home)) as page, browsing(Path(home, "me")) as shown:
        if given.all is not None:
            every_state(shown, page, film, given.all)
        else:
            for_the_documentation(shown, page, film, Path(home))


if __name__ == "__main__":
    main()
