"""Run by the tests in a process of its own, which its server kills: caption clips through a batch, waiting."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.batches import Rig
from videohv.batch import BatchServer, Limits, run_batch


class Address:
    """As much of the fake server as a rig needs, from outside its process."""

    def __init__(self, address: str) -> None:
        self.address = address

    def spec(self) -> str:
        return f"openai-compatible/fake-model?api_base={self.address}&retries=0"


if __name__ == "__main__":
    address, folder, *clips = sys.argv[1:]
    rig = Rig(Path(folder), [Path(clip) for clip in clips], Address(address))  # type: ignore[arg-type]
    with rig.journal() as journal:
        run_batch(
            rig.job(),
            BatchServer(address, "none", pause=lambda seconds: None),
            journal,
            limits=Limits(requests=2),
            wait=True,
            poll=0.0,
            pause=lambda seconds: None,
            settle=0.0,
        )
