"""One job of `benchmarks.frames` in a process of its own: it prints what it cost as a line of JSON.

python -m benchmarks.frame_jobs PART NAME CLIP FILE [--seed N]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.frame_meter import Measured, Unavailable
from benchmarks.frame_readers import READERS
from benchmarks.frame_requests import REQUESTS
from benchmarks.frame_specs import SPECS, Spec

MISSING = 3
"""Exit status of a job for which something is not installed; it says what in the last line of stderr."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part")
    parser.add_argument("name")
    parser.add_argument("clip", choices=[spec.name for spec in SPECS])
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    try:
        done = run(args.part, args.name, args.file, next(s for s in SPECS if s.name == args.clip), args.seed)
    except Unavailable as missing:
        print(missing, file=sys.stderr)
        sys.exit(MISSING)
    print(json.dumps(done._asdict()))


def run(part: str, name: str, path: Path, spec: Spec, seed: int = 0) -> Measured:
    """Runs a job in this process."""
    if part == "sampling":
        return READERS[name](path, spec)
    return REQUESTS[part, name](path, spec, seed)


if __name__ == "__main__":
    main()
