from __future__ import annotations

import pytest

from videohv.captioners import TagCaptioner, captioner, captioner_names, get_captioner, registry
from videohv.errors import InputError


@pytest.fixture(autouse=True)
def _own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))


def test_the_offline_default_is_registered_through_the_same_seam() -> None:
    assert "tags" in captioner_names()
    assert isinstance(get_captioner("tags"), TagCaptioner)


def test_a_users_captioner_is_found_by_its_name() -> None:
    made = object()

    @captioner("mine")
    def factory() -> object:
        return made

    assert get_captioner("mine") is made
    assert captioner_names() == tuple(sorted(captioner_names()))
    assert "mine" in captioner_names()


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no captioner is called 'tag'; known captioners: .*tags"):
        get_captioner("tag")


def test_a_name_is_not_taken_away_but_may_be_registered_again() -> None:
    captioner("tags")(TagCaptioner)
    with pytest.raises(InputError, match=r"'tags' is already registered by videohv.captioners.tags.TagCaptioner"):

        @captioner("tags")
        class Other(TagCaptioner):
            pass

    assert type(get_captioner("tags")) is TagCaptioner
