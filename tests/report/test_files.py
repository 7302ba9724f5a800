from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.support.clips import make_clip
from tests.support.html import Read
from tests.support.reported import a_large_run
from tests.support.traces import a_check, a_look, a_round, a_trace, evidence
from videohv.cli.ask import as_result
from videohv.errors import DecodeError, InputError, VideoError
from videohv.report import report_answer, report_comparison, report_run
from videohv.report.files import read_trace_file, video_at_hand
from videohv.report.pictures import MOST, beside, thumbnails
from videohv.types import Observation, Trace
from videohv.video import Video
from videohv.video.jpeg import size_of


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "a clip: 1.mp4", frames=60, fps=10.0, size=(640, 480))


def of(clip: Path) -> Trace:
    seen = (Observation(time=2.5, text="a hand"), Observation(time=59.0, text="past the end"))
    look = a_look(a_check(), (evidence(1, 4, times=(1.5, 2.5, 3.5), observations=seen),))
    return a_trace(1, a_round(look), video=Video(clip).info)


def test_evidence_has_small_pictures_of_its_moments(clip: Path) -> None:
    made = thumbnails(of(clip), Video(clip))
    assert sorted(made) == [1.5, 2.5, 3.5]
    for uri in made.values():
        jpeg = base64.b64decode(uri.removeprefix("data:image/jpeg;base64,"))
        assert min(size_of(jpeg)) == 180
        assert len(jpeg) <= 16_000


def test_what_was_seen_goes_before_what_was_only_looked_at(clip: Path) -> None:
    many = tuple(i / 20 for i in range(100))
    seen = (Observation(time=2.02, text="a hand"),)
    trace = a_trace(1, a_round(a_look(None, (evidence(0, 5, times=many, observations=seen),))))
    made = thumbnails(trace, Video(clip))
    assert len(made) <= MOST
    assert 2.02 in made
    assert min(made) < 0.5
    assert max(made) > 4.5
    assert list(thumbnails(trace, Video(clip), most=1)) == [2.02]


def test_a_report_plays_only_what_lies_beside_it(clip: Path, tmp_path: Path) -> None:
    assert beside(clip, tmp_path / "out.html") == "./a%20clip%3A%201.mp4"
    assert beside(clip, tmp_path.parent / "out.html") == f"./{tmp_path.name}/a%20clip%3A%201.mp4"
    assert beside(clip, tmp_path / "elsewhere" / "out.html") == ""


def test_the_report_of_an_answer(clip: Path, tmp_path: Path) -> None:
    out = report_answer(of(clip), tmp_path / "out.html", clip)
    read = Read(out.read_text(encoding="utf-8"))
    assert len(read.all("img")) == 3
    assert read.of("player")[0].attributes["data-src"] == "./a%20clip%3A%201.mp4"
    assert str(tmp_path) not in out.read_text(encoding="utf-8")


def test_pictures_of_another_video_are_no_evidence(clip: Path, tmp_path: Path) -> None:
    other = make_clip(tmp_path / "other.mp4", frames=20)
    with pytest.raises(InputError, match="another file"):
        report_answer(of(clip), tmp_path / "out.html", other)
    with pytest.raises(VideoError):
        report_answer(of(clip), tmp_path / "out.html", tmp_path / "absent.mp4")
    assert not (tmp_path / "out.html").exists()


def test_an_answer_is_reported_without_pictures_when_none_can_be_decoded(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise DecodeError("clip: no frame")

    monkeypatch.setattr("videohv.report.files.thumbnails", fail)
    read = Read(report_answer(of(clip), tmp_path / "out.html", clip).read_text(encoding="utf-8"))
    assert "No pictures of the evidence: clip: no frame" in read.text
    assert not read.all("img")


def test_a_video_is_found_by_its_name_and_content_only(clip: Path, tmp_path: Path) -> None:
    trace = of(clip)
    assert video_at_hand(trace, tmp_path / "nowhere", tmp_path) == clip
    assert video_at_hand(trace, tmp_path / "nowhere") is None
    clip.write_bytes(clip.read_bytes() + b"\0")
    assert video_at_hand(trace, tmp_path) is None
    assert video_at_hand(a_trace(), tmp_path) is None


def test_trace_files_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(a_trace().model_dump_json(), encoding="utf-8")
    assert read_trace_file(path) == a_trace()
    path.write_text(as_result(a_trace()), encoding="utf-8")
    assert read_trace_file(path) == a_trace()
    path.write_text(a_trace(7).model_dump_json(), encoding="utf-8")
    with pytest.raises(InputError, match="answers option 7, and the question has 3"):
        read_trace_file(path)
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read as JSON"):
        read_trace_file(path)
    path.write_text('{"question": 1}', encoding="utf-8")
    with pytest.raises(InputError, match=r"trace\.json is no trace"):
        read_trace_file(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_trace_file(tmp_path / "absent.json")


def test_reports_of_runs_are_the_same_each_time_and_appear_whole(tmp_path: Path) -> None:
    run = a_large_run(tmp_path / "run", 12)
    first = report_run(run, tmp_path / "1.html").read_bytes()
    assert report_run(run, tmp_path / "2.html").read_bytes() == first
    with pytest.raises(InputError, match="holds no run"):
        report_run(tmp_path, tmp_path / "3.html")
    with pytest.raises(InputError, match="holds no run"):
        report_comparison(run, tmp_path, tmp_path / "3.html")
    with pytest.raises(InputError, match="cannot be written"):
        report_run(run, tmp_path / "absent" / "3.html")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1.html", "2.html", "run"]
