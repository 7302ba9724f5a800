"""The pictures of the pages in `docs/images`, taken of the real page and a real report in a Chromium.

    python -m docs.screenshots [--all FOLDER]

It serves `videohv app` for the sample clip and asks it one question. The captions and the replies of the models are
those of `docs.sample_film`, so that the pictures are the same wherever they are made: they show the page,
not what a model can do. `--all` puts every state of the page into a folder instead, at both widths and in both themes,
to be looked at after a change. Needs the packages of `.[dev]`, chromium and chromedriver.
"""

from __future__ import annotations

import argparse
import base64
import io
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from docs.sample_film import OPTIONS, QUESTION, Film
from tests.support.browser import Browser, browsing
from tests.support.server import FakeServer
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
TALL, TALL_REPORT = 1000, 1560
"""Pixels of the pictures in the documentation; whole pages would be too tall to be read there."""


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
        shoot(browser, IMAGES / f"report-{theme}.png", WIDTHS["wide"], TALL_REPORT)


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
