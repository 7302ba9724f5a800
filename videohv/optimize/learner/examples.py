"""Questions as DSPy's optimizers take them: `dspy.Example`s whose inputs are what a program is called with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import dspy

from videohv.errors import InputError, VideoError
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.jobs import Job
from videohv.types import Caption
from videohv.video import Video


class SharedCaptions(tuple[Caption, ...]):
    """The captions of a video, once for all examples about it.

    DSPy prints, copies, hashes and dumps examples as it likes, some of that into prompts. These are never copied, and
    print as one short line.
    """

    about: str

    @classmethod
    def of(cls, captions: Iterable[Caption], about: str) -> Self:
        """Captions of the video that is called `about`."""
        made = cls(captions)
        made.about = about
        return made

    def __repr__(self) -> str:
        return f"<{len(self)} captions of {self.about}>"

    def __hash__(self) -> int:
        return hash((len(self), self.about))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, tuple) and tuple.__eq__(self, other))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Any:
        return (type(self).of, (tuple(self), self.about))

    def toDict(self) -> str:
        """The short line."""
        return repr(self)


def examples_of(jobs: Iterable[Job], inputs: Inputs) -> tuple[dspy.Example, ...]:
    """Questions with what there is for them.

    An example has `question` (a `Question`, which carries the right option) and, as far as there are any, `captions`,
    `video` and `speech`; all of them are inputs. Captions and opened videos are shared by the examples of one video.

    Args:
        jobs: Questions, in the order of the examples.
        inputs: Where captions and videos are found.

    Raises:
        InputError: There is nothing to answer a question from, or what there is can't be read; names the question.
    """
    captions: dict[str, SharedCaptions | None] = {}
    videos: dict[str, Video | None] = {}
    made = []
    for job in jobs:
        question = job.shown
        name = question.video or question.id
        if name not in captions:
            try:
                given = inputs.of(job)
            except (InputError, VideoError) as error:
                raise InputError(f"question {question.id!r}: {error}") from error
            captions[name] = SharedCaptions.of(given.captions, name) if given.captions is not None else None
            videos[name] = given.video
        fields: dict[str, Any] = {
            "question": question,
            "captions": captions[name],
            "video": videos[name],
            "speech": SharedCaptions.of(job.speech, f"what is said in {name}") if job.speech else None,
        }
        there = {field: value for field, value in fields.items() if value is not None}
        if there.keys() == {"question"}:
            raise InputError(f"question {question.id!r}: {inputs.why_nothing(question)}")
        made.append(dspy.Example(**there).with_inputs(*there))
    return tuple(made)
