"""What a page could try, or run into, beyond the usual: over a real socket."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Model, Serve
from tests.support.clips import make_clip
from tests.support.server import Failure, FakeServer, Fault
from tests.support.serving import Reply, Served, serving
from videohv.app import Desk, Jobs, Places
from videohv.app.kept import Kept, as_ended
from videohv.lm import make_lm
from videohv.lm.roles import using

TOKEN = "a-token-of-the-tests-0123456789"
KEY = "planted/in+the page-4711"


@pytest.fixture
def page(serve: Serve) -> Served:
    return serve(away=0.2)


def post(page: Served, **changes: Any) -> Reply:
    video = page.api("/videos")["videos"][0]["id"]
    given = {"video": video, "question": "what?", "options": ["a ball", "a cube"], **changes}
    return page.ask("/api/v1/jobs", "POST", given)


def pieces_of(page: Served, path: str, **headers: str) -> http.client.HTTPResponse:
    """A reply whose body is still to come."""
    wire = http.client.HTTPConnection("127.0.0.1", page.port, timeout=20)
    wire.request("GET", path, headers=headers)
    return wire.getresponse()


@pytest.mark.parametrize("name", ["store", "captioner", "name", "settings", "self"])
def test_only_settings_are_set(page: Served, tmp_path: Path, name: str) -> None:
    reply = post(page, settings={name: str(tmp_path / "written.sqlite3")})
    assert (reply.status, f"settings.{name}" in reply.json["error"]) == (400, True), reply.body
    assert not (tmp_path / "written.sqlite3").exists()


def test_settings_reach_the_method(page: Served) -> None:
    reply = post(page, settings={"rounds": 1, "without": ["clue"]}, abstain=True)
    page.follow(reply.json["id"])
    settings = page.ask(f"/api/v1/jobs/{reply.json['id']}/trace").json["settings"]
    assert (settings["rounds"], settings["without"], settings["may_abstain"]) == (1, ["clue"], True)


def test_files_that_are_no_videos_are_never_served(page: Served, films: Path) -> None:
    for name in ("notes.html", "key.pem", "page.js"):
        (films / name).write_text("<script>alert(1)</script>")
        assert page.ask("/api/v1/videos", "POST", {"path": name}).status == 415
        known = hashlib.sha256(os.fsencode((films / name).resolve())).hexdigest()[:20]
        assert page.ask(f"/api/v1/videos/{known}/file").status == 404
    (films / "text.mp4").write_text("<script>alert(1)</script>")
    assert page.ask("/api/v1/videos", "POST", {"path": "text.mp4"}).status == 415


def test_a_video_is_served_as_one_whatever_it_holds(page: Served, films: Path) -> None:
    (films / "a.mp4").write_text("<script>alert(1)</script>")
    video = page.api("/videos")["videos"][0]
    headers = page.ask(f"/api/v1/videos/{video['id']}/file").headers
    assert (video["name"], headers["content-type"], headers["x-content-type-options"]) == (
        "a.mp4",
        "video/mp4",
        "nosniff",
    )


def test_a_stream_that_is_only_asked_about_keeps_no_connection_busy(page: Served, model: Model) -> None:
    model.gate.clear()
    job = post(page).json
    wire = http.client.HTTPConnection("127.0.0.1", page.port, timeout=10)
    for path in (f"/api/v1/jobs/{job['id']}/events", "/api/v1/events?client=x"):
        wire.request("HEAD", path)
        reply = wire.getresponse()
        assert (reply.status, reply.read()) == (200, b"")
    wire.request("GET", "/api/v1/about")
    assert wire.getresponse().status == 200
    wire.close()


@pytest.mark.parametrize("last", ["²", "-1", "1.5", "9" * 6_000, "", "nan"])
def test_an_odd_last_event_is_none(page: Served, last: str) -> None:
    job = post(page).json
    page.follow(job["id"])
    reply = page.ask(f"/api/v1/jobs/{job['id']}/events", headers={"Last-Event-ID": last})
    assert reply.body.startswith(b"id: ")


def test_every_error_is_json(page: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "error" in page.ask("/nowhere").json
    assert page.ask("/api/v1/about", "DELETE").status == 405
    assert "error" in page.ask("/api/v1/about", "DELETE").json

    def broken(self: Places, most: int = 1) -> Any:
        raise KeyError("sk-secret-of-mine")

    monkeypatch.setattr(Places, "list", broken)
    reply = page.ask("/api/v1/videos")
    assert (reply.status, "KeyError" in reply.json["error"]) == (500, True)
    assert b"secret" not in reply.body


def test_other_pages_may_only_lead_here(page: Served) -> None:
    other = {"Sec-Fetch-Site": "cross-site"}
    assert page.ask("/", headers={**other, "Sec-Fetch-Mode": "navigate"}).status == 200
    for mode in ("no-cors", "cors", "websocket"):
        for path in ("/api/v1/about", "/api/v1/events?client=x", "/assets/app.js"):
            assert page.ask(path, headers={**other, "Sec-Fetch-Mode": mode}).status == 403
    assert page.ask("/api/v1/about", headers={"Sec-Fetch-Site": "same-site"}).status == 403
    assert page.ask("/api/v1/about", headers={"Origin": "http://[::1"}).status == 403


def test_cookies_of_other_ports_do_no_harm(serve: Serve) -> None:
    one, two = serve(token=TOKEN), serve(token=TOKEN[::-1])
    cookies = [
        page.ask(f"/?token={token}").headers["set-cookie"].partition(";")[0]
        for page, token in ((one, TOKEN), (two, TOKEN[::-1]))
    ]
    assert len({cookie.partition("=")[0] for cookie in cookies}) == 2
    both = f'user="2|1:0|10:1|{{}}; odd[]=(x); {cookies[0]}; {cookies[1]}'
    assert [page.ask("/", headers={"Cookie": both}).status for page in (one, two)] == [200, 200]
    assert one.ask("/", headers={"Cookie": cookies[1]}).status == 401


@pytest.mark.parametrize("path", ["/%0d%0aSet-Cookie:%20x=1", "/%5cevil.example", "//evil.example", "/%2fevil.example"])
def test_the_token_leads_nowhere_else(serve: Serve, path: str) -> None:
    moved = serve(token=TOKEN).ask(f"{path}?token={TOKEN}")
    assert (moved.status, moved.headers["set-cookie"].startswith("videohv-")) == (303, True)
    place = moved.headers["location"]
    assert place.startswith("/")
    assert place[1] not in "/\\"
    assert TOKEN not in place


def test_a_long_name_in_any_script_is_taken(page: Served, clip: Path, tmp_path: Path) -> None:
    reply = page.put("%E6%98%A0" * 300 + ".mp4", clip.read_bytes())
    assert reply.status == 201, reply.body
    assert set(reply.json["name"].removesuffix(".mp4")) == {"映"}


def test_uploads_at_the_same_time_share_their_room(tmp_path: Path, films: Path) -> None:
    places = Places([films], tmp_path / "in", upload_bytes=10)
    uploads = [places.upload(f"{i}.mp4") for i in range(6)]
    for upload in uploads[:4]:
        upload.write(b"1234567890")
    with pytest.raises(ValueError, match="no room left"):
        uploads[4].write(b"1")
    uploads[0].drop()
    uploads[4].write(b"1234567890")
    for upload in uploads:
        upload.drop()
    assert not list((tmp_path / "in").iterdir())


def test_a_refusal_is_heard_while_the_upload_is_still_being_sent(page: Served, tmp_path: Path) -> None:
    for size in ({"Content-Length": str(8 << 20)}, {}):
        wire = http.client.HTTPConnection("127.0.0.1", page.port, timeout=20)
        pieces = (bytes(1 << 16) for _ in range(128))
        wire.request(
            "PUT",
            "/api/v1/uploads/big.mp4",
            pieces,
            {**size, **({} if size else {"Transfer-Encoding": "chunked"})},
            encode_chunked=not size,
        )
        reply = wire.getresponse()
        assert (reply.status, b"are possible" in reply.read()) == (413, True)
        wire.close()
    assert not list((tmp_path / "uploads").iterdir())


def test_a_list_that_is_not_whole_says_so(films: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (films / "link.mp4").symlink_to(films / "party.mp4")
    found, more = Places([films]).list()
    assert ([one.name for one in found], more) == (["party.mp4"], False)
    monkeypatch.setattr("videohv.app.places._MOST_VISITED", 1)
    assert Places([films]).list() == ((), True)


def test_it_has_ended_only_when_it_is_kept(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    page, go_on, add = serve(), threading.Event(), Kept.add

    def slowly(self: Kept, ended: Any) -> None:
        go_on.wait(10)
        add(self, ended)

    monkeypatch.setattr(Kept, "add", slowly)
    job = post(page).json
    reply = pieces_of(page, f"/api/v1/jobs/{job['id']}/events")
    for line in reply:
        if b'"kind": "answer"' in line:
            break
    assert page.api(f"/jobs/{job['id']}")["state"] == "running"
    go_on.set()
    assert b"event: end" in reply.read()


def test_a_full_disk_costs_no_place(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    page = serve(jobs={"at_once": 1})

    def full(self: Kept, ended: Any) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(Kept, "add", full)
    for _ in range(2):
        assert page.until(post(page).json["id"], "answered")


def test_closing_ends_all_streams(films: Path, model: Model) -> None:
    model.gate.clear()
    with FakeServer(model) as server:
        lm = make_lm(server.spec())
        with using(lm, lm):
            jobs = Jobs()
        with serving(Desk(Places([films]), jobs)) as page:
            job = post(page).json
            paths = (f"/api/v1/jobs/{job['id']}/events", "/api/v1/events?client=x")
            streams = [pieces_of(page, path) for path in paths]
            jobs.close()
            ends = [stream.read() for stream in streams]
            assert b'"state": "cancelled"' in ends[0]
            assert ends[1] in (b"", b": still here\n\n")
            assert post(page).status == 429
        model.gate.set()


def test_a_key_is_in_no_reply(films: Path, tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGE_KEY", KEY)
    model.say = lambda request: Fault(
        Failure.SERVER_ERROR, status=400, message=f"bad key {KEY}: {request.authorization}"
    )
    kept = Kept(tmp_path / "kept")
    bodies: list[bytes] = []
    with FakeServer(model) as server:
        lm = make_lm(server.spec(key_env="PAGE_KEY")).copy(cache=False)
        with using(lm, lm):
            jobs = Jobs(on_end=lambda job: kept.add(as_ended(job)))
        with serving(Desk(Places([films]), jobs, kept, models=[("lm", "fake-model")])) as page:
            bodies += [page.ask(path).body for path in ("/", "/api/v1/about", "/api/v1/videos")]
            job = post(page).json
            bodies += [page.ask(f"/api/v1/jobs/{job['id']}/events").body]
            assert page.until(job["id"], "failed")["error"]
            for end in ("", "/trace", "/report", "/report?inline=1"):
                reply = page.ask(f"/api/v1/jobs/{job['id']}{end}")
                assert reply.status == 200
                bodies.append(reply.body)
            bodies.append(page.ask("/api/v1/jobs").body)
        assert any(KEY in request.authorization for request in server.requests)
    bodies += [path.read_bytes() for path in (tmp_path / "kept").iterdir()]
    for form in (KEY, json.dumps(KEY)[1:-1], KEY.replace("/", "%2F").replace("+", "%2B").replace(" ", "%20")):
        assert not [body for body in bodies if form.encode() in body]


def test_many_at_once_all_come_to_their_end(serve: Serve, clip: Path, films: Path) -> None:
    make_clip(films / "second.mp4", frames=40, fps=10.0, size=(160, 120))
    page = serve(jobs={"at_once": 3})
    made: list[dict[str, Any]] = []
    lock = threading.Lock()

    def client(name: str) -> None:
        for i in range(3):
            video = page.api("/videos")["videos"][i % 2]["id"]
            reply = page.ask(
                "/api/v1/jobs",
                "POST",
                {"video": video, "question": f"{name} {i}?", "options": ["a", "b"], "client": name},
            )
            with lock:
                made.append(reply.json)

    threads = [threading.Thread(target=client, args=(f"c{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 12
    assert {page.follow(job["id"])[-1].value["state"] for job in made} == {"answered"}
    until = time.monotonic() + 10
    while [t for t in threading.enumerate() if t.name == "videohv-job"]:
        assert time.monotonic() < until
        time.sleep(0.01)
