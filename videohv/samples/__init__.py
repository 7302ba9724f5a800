"""The sample clip that `videohv demo` asks about.

`big_buck_bunny_trailer.mp4` (55 s, 640x360) is cut from *Big Buck Bunny*, © 2008 Blender Foundation,
www.bigbuckbunny.org, licensed under Creative Commons Attribution 3.0 (CC BY 3.0).
"""

from __future__ import annotations

from pathlib import Path

from videohv.types import Question

CLIP = Path(__file__).parent / "big_buck_bunny_trailer.mp4"

QUESTIONS = (
    Question(
        id="title-cards",
        text="Which animals does the text on the title cards announce?",
        options=(
            "a bunny, a bird and three rodent pests",
            "a cat, a dog and two mice",
            "a horse, a cow and a pig",
            "only a bear",
        ),
        answer_index=0,
    ),
    Question(
        id="last-card",
        text="What does the title card near the end of the trailer say is coming?",
        options=("winter", "a storm", "revenge", "a wedding"),
        answer_index=2,
    ),
)
"""Two questions whose answers can be read off the clip."""
