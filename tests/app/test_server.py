"""The HTTP API over a real socket, with a real server for the models."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Model, Serve
from tests.support.reported import a_large_run
from tests.support.server import Failure, Fault
from tests.support.serving import Served
from videohv.types import Trace

TOKEN = "a-token-of-the-tests-0123456789"


@pytest.fixture
def page(serve: Serve) -> Served:
    return serve(away=0.2)


def the_video(page: Served) -> str:
    name: str = page.api("/videos")["videos"][0]["id"]
    return name


def asked(page: Served, **changes: Any) -> dict[str, Any]:
    given = {"video": the_video(page), "question": "what?", "options": ["a ball", "a cube"], **changes}
    job: dict[str, Any] = page.api("/jobs", "POST", given)
    return job


def refused(page: Served, path: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, str]:
    reply = page.ask(f"/api/v1{path}", method, body, {name.replace("_", "-"): text for name, text in headers.items()})
    return reply.status, reply.json["error"]


def test_ask_and_follow_to_the_answer(page: Served) -> None:
    job = asked(page)
    assert job["state"] in ("queued", "running")
    heard = page.follow(job["id"])
    kinds = [message.value["kind"] for message in heard if message.kind == "step"]
    order = ["captions", "summary", "hypotheses", "windows", "evidence", "check", "answer"]
    assert [kind for kind in kinds if kind in order and kind != "progress"] == order
    numbers = [message.number for message in heard if message.number is not None]
    assert numbers == sorted(set(numbers))
    assert heard[-1].kind == "end"
    assert heard[-1].value["answer"]["text"] == "a ball"
    ended = page.api(f"/jobs/{job['id']}")
    assert ended == heard[-1].value
    assert (ended["state"], ended["status"]) == ("answered", "VERIFIED")
    trace = page.ask(f"/api/v1/jobs/{job['id']}/trace")
    assert "attachment" in trace.headers["content-disposition"]
    assert Trace.model_validate_json(trace.body).answer is not None
    report = page.ask(f"/api/v1/jobs/{job['id']}/report")
    assert report.body.startswith(b"<!doctype html>")
    assert b"data:image/jpeg" in report.body
    shown = page.ask(f"/api/v1/jobs/{job['id']}/report?inline=1")
    assert "sandbox" in shown.headers["content-security-policy"]
    assert "content-disposition" not in shown.headers


def test_a_broken_stream_goes_on_where_it_was(page: Served) -> None:
    job = asked(page)
    whole = [m for m in page.follow(job["id"]) if m.kind == "step"]
    middle = whole[len(whole) // 2]
    rest = [m for m in page.follow(job["id"], after=middle.number) if m.kind == "step"]
    assert rest == whole[len(whole) // 2 + 1 :]


def test_a_second_question_uses_the_captions_that_are_there(page: Served, model: Model) -> None:
    page.follow(asked(page)["id"])
    first = model.roles.count("captioner")
    assert first
    page.follow(asked(page, question="and what else?")["id"])
    assert model.roles.count("captioner") == first


def test_it_is_stopped_in_the_middle(page: Served, model: Model) -> None:
    model.gate.clear()
    job = asked(page)
    page.until(job["id"], "running")
    stopped = page.api(f"/jobs/{job['id']}", "DELETE")
    assert stopped["state"] == "cancelled"
    assert page.follow(job["id"])[-1].kind == "end"
    model.gate.set()
    time.sleep(0.2)
    assert "answer" not in model.roles
    assert page.api(f"/jobs/{job['id']}", "DELETE")["state"] == "cancelled"


def test_a_page_that_is_closed_takes_its_questions_with_it(page: Served, model: Model) -> None:
    import http.client

    model.gate.clear()
    here = http.client.HTTPConnection("127.0.0.1", page.port)
    here.request("GET", "/api/v1/events?client=tab")
    assert here.getresponse().status == 200
    mine, other = asked(page, client="tab"), asked(page)
    page.until(mine["id"], "running")
    here.close()
    assert page.until(mine["id"], "cancelled")["error"] == "stopped: its page was closed"
    assert page.api(f"/jobs/{other['id']}")["state"] == "running"


def test_a_page_that_is_loaded_anew_keeps_them(serve: Serve, model: Model) -> None:
    import http.client

    page = serve(away=0.6)
    model.gate.clear()
    first = http.client.HTTPConnection("127.0.0.1", page.port)
    first.request("GET", "/api/v1/events?client=tab")
    first.getresponse()
    job = asked(page, client="tab")
    first.close()
    second = http.client.HTTPConnection("127.0.0.1", page.port)
    second.request("GET", "/api/v1/events?client=tab")
    second.getresponse()
    time.sleep(1.0)
    assert page.api(f"/jobs/{job['id']}")["state"] == "running"
    second.close()


def test_one_that_hangs_holds_nobody_up(serve: Serve, model: Model) -> None:
    page = serve(jobs={"at_once": 1, "seconds": 0.5, "grace": 0.1})
    model.gate.clear()
    stuck = asked(page)
    assert "ran longer than" in page.until(stuck["id"], "failed")["error"]
    model.gate.set()
    assert page.until(asked(page)["id"], "answered")


def test_a_failure_of_the_model_is_no_answer(page: Served, model: Model) -> None:
    model.say = lambda request: Fault(Failure.REFUSAL)
    job = asked(page)
    ended = page.until(job["id"], "failed")
    assert (ended["answer"], ended["outcome"]) == (None, "content_filtered")
    assert ended["error"]


def test_uploads(page: Served, clip: Path, tmp_path: Path) -> None:
    reply = page.put("my%20film.mp4", clip.read_bytes())
    assert reply.status == 201
    video = reply.json
    assert (video["name"], video["width"], video["height"], video["playable"]) == ("my film.mp4", 320, 240, True)
    assert page.until(asked(page, video=video["id"])["id"], "answered")
    assert page.put("no.mp4", b"not a video").status == 415
    assert page.put("no.exe", clip.read_bytes()).status == 415
    assert page.put("big.mp4", bytes(2 << 20)).status == 413
    assert len(list((tmp_path / "uploads").iterdir())) == 1


def test_an_upload_that_breaks_off_leaves_nothing(page: Served, tmp_path: Path) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", page.port)) as wire:
        wire.sendall(b"PUT /api/v1/uploads/x.mp4 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc")
        time.sleep(0.2)
    for _ in range(100):
        if not list((tmp_path / "uploads").iterdir()):
            return
        time.sleep(0.02)
    raise AssertionError(list((tmp_path / "uploads").iterdir()))


def test_the_file_is_served_in_ranges_and_as_frames(page: Served, clip: Path) -> None:
    video = the_video(page)
    part = page.ask(f"/api/v1/videos/{video}/file", headers={"Range": "bytes=100-199"})
    assert (part.status, part.body) == (206, clip.read_bytes()[100:200])
    picture = page.ask(f"/api/v1/videos/{video}/frame?at=2.5")
    assert (picture.headers["content-type"], picture.body[:2]) == ("image/jpeg", b"\xff\xd8")
    for at in ("", "x", "-1", "nan", "1e9"):
        assert page.ask(f"/api/v1/videos/{video}/frame?at={at}").status == 400
    assert page.ask("/api/v1/videos/0000/frame?at=1").status == 404


def test_only_allowed_files_are_opened(page: Served, films: Path, clip: Path) -> None:
    assert page.api("/videos", "POST", {"path": "party.mp4"})["name"] == "party.mp4"
    assert page.api("/videos", "POST", {"path": str(films / "party.mp4")})["name"] == "party.mp4"
    (films / "out.mp4").symlink_to(clip)
    for path in ("../films/../../etc/passwd", str(clip), "out.mp4", "/etc/passwd", "", "party.mp4\0"):
        status, error = refused(page, "/videos", "POST", {"path": path})
        assert (status, "may be read" in error) == (400, True), path
    for path in (
        "/assets/../server.py",
        "/assets/%2e%2e/server.py",
        "/assets/..%2f..%2fserver.py",
        "/assets/server.py",
    ):
        assert page.ask(path).status == 404, path


def test_a_subtitle_file_that_leads_elsewhere_is_left_out(page: Served, films: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.srt").write_text("1\n00:00:00,000 --> 00:00:05,000\nthe secret word\n")
    (films / "party.srt").symlink_to(tmp_path / "secret.srt")
    job = asked(page)
    heard = page.follow(job["id"])
    assert "secret word" not in json.dumps([m.value for m in heard])
    assert "may not be read" in json.dumps([m.value for m in heard])


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"settings": {"rounds": 99}}, 400, "rounds"),
        ({"settings": {"nonsense": 1}}, 400, "nonsense"),
        ({"options": ["only one"]}, 400, "2 to 26"),
        ({"question": "  "}, 400, "question is empty"),
        ({"question": "x" * 5_000}, 400, "question"),
        ({"options": ["a", "x" * 5_000]}, 400, "options[1]"),
        ({"method": "guess"}, 400, "no method"),
        ({"captioner": "nobody"}, 400, "captioner"),
        ({"program": "../../etc/passwd"}, 400, "no shipped program"),
        ({"video": "nope"}, 400, "no video"),
        ({"extra": 1}, 400, "extra"),
        ({"options": [1, 2]}, 400, "options"),
    ],
)
def test_what_cannot_be_asked_is_named(page: Served, changes: dict[str, Any], status: int, said: str) -> None:
    given = {"video": the_video(page), "question": "what?", "options": ["a", "b"], **changes}
    got, error = refused(page, "/jobs", "POST", given)
    assert (got, said in error) == (status, True), error


def test_garbage_bodies(page: Served) -> None:
    kind = {"Content-Type": "application/json"}
    for body in (b"", b"{", b"[]", b"\xff", b'{"path": 3}', b"[" * 100_000):
        assert page.ask("/api/v1/videos", "POST", body, kind).status == 400, body[:10]
    assert page.ask("/api/v1/videos", "POST", b" " * (2 << 20), kind).status == 413
    assert page.ask("/api/v1/videos", "POST", b'{"path": "x"}', {"Content-Type": "text/plain"}).status == 415


def test_too_many_at_once_are_refused(serve: Serve, model: Model) -> None:
    page = serve(jobs={"at_once": 1, "waiting_of_one": 2})
    model.gate.clear()
    for _ in range(3):
        asked(page, client="me")
    status, error = refused(
        page, "/jobs", "POST", {"video": the_video(page), "question": "?", "options": ["a", "b"], "client": "me"}
    )
    assert (status, "try again later" in error) == (429, True)


def test_other_pages_and_other_names_are_refused(page: Served) -> None:
    assert refused(page, "/about", Host="evil.example")[0] == 403
    assert refused(page, "/about", Origin="http://evil.example")[0] == 403
    assert refused(page, "/about", Origin="null")[0] == 403
    assert page.api("/about", Origin=page.address)
    assert page.api("/about", Host=f"localhost:{page.port}")
    assert refused(page, "/jobs/x", "DELETE", Sec_Fetch_Site="cross-site")[0] == 403


def test_without_the_token_nothing_is_served(serve: Serve) -> None:
    page = serve(token=TOKEN)
    for path in ("/", "/assets/app.js", "/api/v1/about", "/api/v1/videos", "/nowhere", "/?token=wrong"):
        assert page.ask(path).status == 401, path
    assert page.ask("/api/v1/about", headers={"Authorization": "Bearer wrong"}).status == 401
    assert page.ask("/api/v1/about", headers={"Authorization": f"Bearer {TOKEN}"}).status == 200
    moved = page.ask(f"//evil.example/?token={TOKEN}&x=1")
    assert (moved.status, moved.headers["location"]) == (303, "/evil.example/?x=1")
    cookie = moved.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert page.ask("/", headers={"Cookie": cookie.partition(";")[0]}).status == 200


def test_every_reply_is_strict(page: Served) -> None:
    for path in ("/", "/assets/app.js", "/api/v1/about", "/nowhere", "/api/v1/jobs/none"):
        headers = page.ask(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert "unsafe" not in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_what_was_asked_before_a_restart_can_be_opened(serve: Serve, films: Path) -> None:
    first = serve()
    job = asked(first)
    first.follow(job["id"])
    second = serve()
    assert [one["id"] for one in second.api("/jobs")["jobs"]] == [job["id"]]
    assert second.api(f"/jobs/{job['id']}")["answer"]["text"] == "a ball"
    assert second.ask(f"/api/v1/jobs/{job['id']}/report").status == 200
    (films / "party.mp4").unlink()
    assert second.ask(f"/api/v1/jobs/{job['id']}/report").status == 200
    assert second.ask("/api/v1/jobs/..%2f..%2fetc/trace").status == 404
    assert second.ask(f"/api/v1/jobs/{job['id']}/events").status == 404


def test_runs_can_be_looked_at(serve: Serve, tmp_path: Path) -> None:
    a_large_run(tmp_path / "runs" / "ego" / "one", 20)
    page = serve(runs=tmp_path / "runs")
    assert page.api("/runs")["runs"] == ["ego/one"]
    assert page.ask("/api/v1/runs/ego/one/report?inline=1").status == 200
    assert page.ask("/api/v1/runs/..%2fkept/report").status == 400
