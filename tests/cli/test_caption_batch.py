"""`videohv caption --batch`, from the command line to the fake server and back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.batch_server import FakeBatchServer, Plan
from tests.support.batches import describe, make_clips, times_in
from videohv.cli import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    make_clips(folder, [7, 3])
    (folder / "notes.txt").write_text("no video")
    return folder


@pytest.fixture
def server() -> Iterator[FakeBatchServer]:
    with FakeBatchServer(describe) as made:
        yield made


def batch(server: FakeBatchServer, *more: object, spec: str | None = None) -> list[str]:
    return ["caption", "--batch", "--vision-lm", spec or server.spec(), *map(str, more)]


def test_a_folder_is_submitted_collected_and_then_found_by_the_live_command(
    folder: Path, server: FakeBatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(batch(server, "--videos", folder)) == 0
    out, err = capsys.readouterr()
    assert "part 1: submitted as batch_1, 3 requests" in err
    assert "3 requests; the same command collects them when they are over" in err
    assert not out
    assert run(batch(server, "--videos", folder)) == 0
    assert "3 of 3 replies stored" in (said := capsys.readouterr().err)
    assert "all are in the store" in said
    assert run(["caption", str(folder / "clip1.mp4"), "--lm", server.spec(images="true")]) == 0
    assert "0:02  the scene at 2" in capsys.readouterr().out
    assert not server.requests


def test_waiting_ends_with_everything_in_the_store(
    folder: Path, server: FakeBatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.plan = lambda number, lines: Plan(polls=2)
    assert run(batch(server, folder / "clip0.mp4", folder / "clip1.mp4", "--wait", "--poll", 0.01)) == 0
    err = capsys.readouterr().err
    assert "1 batch in flight: 0 of 3 requests answered" in err
    assert "all are in the store" in err


def test_what_failed_for_good_is_named_by_video_and_time(
    folder: Path, server: FakeBatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda request: "mumble" if times_in(request)[0] == 5 else describe(request)
    arguments = batch(server, folder, "--wait", "--poll", 0.01)
    assert run(arguments) == 1
    out, err = capsys.readouterr()
    assert f"failed  {folder / 'clip0.mp4'} at 0:05–0:06: the reply could not be" in out
    assert "--retry-failed" in err
    assert run(arguments) == 1, "as long as they are missing"
    server.answer = describe
    assert run([*arguments, "--retry-failed"]) == 0


def test_what_failed_of_other_videos_is_not_this_commands_failure(
    folder: Path, server: FakeBatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda request: "mumble" if times_in(request)[0] == 5 else describe(request)
    assert run(batch(server, folder / "clip0.mp4", "--wait", "--poll", 0.01)) == 1
    capsys.readouterr()
    assert run(batch(server, folder / "clip1.mp4", "--wait", "--poll", 0.01)) == 0
    assert "clip0" not in capsys.readouterr().out


def test_a_video_that_cannot_be_read_is_named_and_exits_with_1(
    folder: Path, server: FakeBatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(batch(server, folder, folder / "not there.mp4", "--wait", "--poll", 0.01)) == 1
    err = capsys.readouterr().err
    assert "not there.mp4: there is no such file" in err
    assert "3 of 3 replies stored" in err


def test_an_estimate_is_not_sent_without_a_yes(
    folder: Path, server: FakeBatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(batch(server, folder, "--estimate")) == 2
    err = capsys.readouterr().err
    assert "would send    3 requests in at least 1 batch: 10 frames of 2 videos" in err
    assert "price         not known" in err
    assert "24 hours" in err
    assert "nothing was sent: with --estimate somebody must agree" in err
    assert not server.shelf.calls
    assert run(batch(server, folder, "--estimate", "--yes")) == 0
    assert server.calls("POST /v1/batches") == 1
    assert run(batch(server, folder, "--estimate")) == 0
    assert "nothing: all that is wanted is in the store or in flight" in capsys.readouterr().err


@pytest.mark.parametrize("agreed", [True, False])
def test_on_a_terminal_an_estimate_is_asked_about(
    folder: Path, server: FakeBatchServer, monkeypatch: pytest.MonkeyPatch, agreed: bool
) -> None:
    asked = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda text, **options: (asked.append(text), agreed)[1])
    assert run(batch(server, folder, "--estimate")) == 0
    assert asked == ["Send it?"]
    assert bool(server.shelf.batches) is agreed


def test_a_price_is_said_where_it_is_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    monkeypatch.setattr("videohv.cli.batch.check_ready", lambda team: None)
    assert run(["caption", "--batch", "--vision-lm", "openai/gpt-4o-mini", str(folder), "--estimate"]) == 2
    err = capsys.readouterr().err
    assert "85,000 of pictures (the model's published rule)" in err
    assert "about $0.01 (batch rates of DSPy's list: $0.075 and $0.3 a million tokens)" in err


def test_the_key_is_in_no_file_and_no_line(
    folder: Path,
    server: FakeBatchServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cache: Path,
) -> None:
    key = "of-the-lab-0123456789"
    monkeypatch.setenv("LAB_KEY", key)
    server.key = key
    server.plan = lambda number, lines: Plan(polls=1)
    spec = server.spec(key_env="LAB_KEY")
    state = cache / "here"
    assert run(batch(server, folder, "--state", state, spec=spec)) == 0
    assert run(batch(server, folder, "--state", state, "--wait", "--poll", 0.01, spec=spec)) == 0
    server.key = "another-one"
    (state / "journal.sqlite3").unlink()
    assert run(batch(server, folder / "clip0.mp4", "--fps", "2", "--state", state, spec=spec)) == 1
    out, err = capsys.readouterr()
    assert "the key is not accepted" in err
    assert key not in out + err
    files = [file for file in cache.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if key.encode() in file.read_bytes()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch"], "--batch needs a model that sees images"),
        (["--batch", "--vision-lm", "SERVER", "--out", "x.json"], "captions go to the store first"),
        (["--batch", "--vision-lm", "SERVER", "--captioner", "tags"], "only a vision LM captions in batches"),
        (["--batch", "--vision-lm", "openai/gpt-4o-mini"], "needs a key"),
        (["--batch", "--vision-lm", "SERVER?images=false"], "--batch needs a model that sees images"),
        (["--wait"], "belong to --batch"),
        (["--state", "x"], "belong to --batch"),
        (["--out", "x.json"], "--out takes the captions of one video"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    folder: Path, server: FakeBatchServer, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, blind = server.spec(), server.spec(images="false")
    given = [blind if a == "SERVER?images=false" else plain if a == "SERVER" else a for a in arguments]
    assert run(["caption", str(folder), *given]) == 2
    assert message in capsys.readouterr().err
    assert not server.shelf.calls


def test_no_video_is_one_line(server: FakeBatchServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(batch(server)) == 2
    assert "no video is named" in capsys.readouterr().err
    assert run(batch(server, "--videos", tmp_path / "nowhere")) == 2
    assert "is not a folder" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert run(batch(server, tmp_path / "empty")) == 2
    assert "there is no video in" in capsys.readouterr().err


def test_several_videos_are_captioned_live_too(
    folder: Path, server: FakeBatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.mp4").write_bytes(b"no video")
    try:
        assert run(["caption", "--videos", str(folder), "--lm", server.spec(images="true")]) == 1
    finally:
        (folder / "broken.mp4").unlink()
    out, err = capsys.readouterr()
    assert out.count("# ") == 2
    assert "0:06  the scene at 6" in out
    assert "broken.mp4" in err


def test_each_set_of_captions_has_a_state_of_its_own(folder: Path, server: FakeBatchServer, cache: Path) -> None:
    server.models = ("fake-model", "another")
    run(batch(server, folder))
    run(batch(server, folder, "--fps", "0.5"))
    run(batch(server, folder, spec=server.spec("another")))
    assert len(list((cache / "batches").iterdir())) == 3
    assert server.calls("POST /v1/batches") == 3


def test_an_interrupt_says_how_to_go_on(
    folder: Path, server: FakeBatchServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    server.plan = lambda number, lines: Plan(polls=1)
    monkeypatch.setattr("videohv.batch.gather.Gatherer.collect", interrupt)
    assert run(batch(server, folder, "--wait")) == 130
    assert "run the same command to go on" in capsys.readouterr().err
