"""Requests through OpenAI's Batch API: for half the price, within a day, without holding a connection.

The videos of a benchmark are captioned by

    export OPENAI_API_KEY=…
    videohv caption --videos DIR --batch --vision-lm openai/gpt-4o-mini --estimate

which first says what it would send and what that costs, and asks. Without `--estimate` it sends at once. It returns
when everything is submitted; the same command, now or tomorrow, collects what is over, sends what failed once more, and
says what is still in flight. With `--wait` it stays until nothing is. It may be stopped anywhere, `kill -9` included.
Captions go into the caption store, where `videohv ask`, `videohv caption` and `VideoHV` find them.

Any server that has the Batch API will do: `--vision-lm 'openai-compatible/MODEL?api_base=http://host:8000&key_env=NAME'`.

The parts: `wire` stops a DSPy call where it would leave the process; a `BatchJob` (`work`) makes requests and reads
replies, and `captions` and `summaries` are the two there are; `outbox` packs requests into files, `send` and `gather`
speak to the `server`, `journal` remembers, and `run` puts them in order.
"""

from videohv.batch.captions import CaptionJob
from videohv.batch.journal import Journal
from videohv.batch.outbox import Limits
from videohv.batch.run import Report, run_batch
from videohv.batch.server import BatchServer
from videohv.batch.summaries import SummaryJob
from videohv.batch.work import BatchJob, Ending, Line, Reading, Request, Whole

__all__ = [
    "BatchJob",
    "BatchServer",
    "CaptionJob",
    "Ending",
    "Journal",
    "Limits",
    "Line",
    "Reading",
    "Report",
    "Request",
    "SummaryJob",
    "Whole",
    "run_batch",
]
