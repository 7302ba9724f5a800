"""A desk with one clip, whose models are a fake server's."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.benchmark import seen
from tests.support.browser import Browser, browsing
from tests.support.clips import make_clip
from tests.support.desk_page import DeskPage
from tests.support.engine import default_reply
from tests.support.server import FakeServer, Fault, Request
from tests.support.serving import Served, serving
from videohv.app import Desk, Jobs, Places
from videohv.app.kept import Kept, Runs, as_ended
from videohv.lm import make_lm
from videohv.lm.roles import using


class Model:
    """What the fake model replies: well-formed, or what `say` makes of a request; held up while `gate` is closed."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.say: Callable[[Request], Any] = lambda request: None
        self.roles: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> str | Fault:
        what = seen(request)
        with self._lock:
            self.roles.append(what.role)
        self.gate.wait(30)
        said = self.say(request)
        return said if isinstance(said, str | Fault) else json.dumps(said or default_reply(what))


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.gate.set()


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", frames=60, fps=10.0, size=(320, 240))


@pytest.fixture
def films(tmp_path: Path, clip: Path) -> Path:
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "party.mp4").write_bytes(clip.read_bytes())
    return folder


Serve = Callable[..., Served]


@pytest.fixture
def serve(films: Path, tmp_path: Path, model: Model) -> Iterator[Serve]:
    """Serves the page with the given settings; more than once for a restart."""
    with ExitStack() as stack:
        server = stack.enter_context(FakeServer(model))

        def start(
            *, vision: bool = True, upload_bytes: int = 1 << 20, runs: Path | None = None, **given: Any
        ) -> Served:
            blind, seeing = make_lm(server.spec()), make_lm(server.spec("seeing", images="true"))
            kept = Kept(tmp_path / "kept")
            with using(blind.copy(cache=False), seeing.copy(cache=False) if vision else None):
                jobs = Jobs(**given.pop("jobs", {}), on_end=lambda job: kept.add(as_ended(job)))
            places = Places([films], tmp_path / "uploads", upload_bytes)
            desk = Desk(places, jobs, kept, Runs(runs), [("lm", "fake-model")])
            return stack.enter_context(serving(desk, **given))

        yield start
        # Whoever still waits for the model must not hold up the end.
        model.gate.set()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A Chromium, for those tests that are marked `browser`."""
    with browsing(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def served(serve: Serve) -> Served:
    """The page, served; a question stays half a second longer than its page."""
    return serve(away=0.5)


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[DeskPage]:
    """The page, open. Whatever a test does: nothing leaves the origin, and nothing trips over the page's own policy."""
    with DeskPage(browser, served.address).watched() as shown:
        yield shown


@pytest.fixture
def hold(model: Model) -> Iterator[threading.Event]:
    """The model says nothing as to the answer until this is set."""
    go_on = threading.Event()

    def wait(request: Request) -> None:
        if seen(request).role == "answer":
            go_on.wait(30)

    model.say = wait
    yield go_on
    go_on.set()
