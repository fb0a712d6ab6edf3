"""A small run whose process can be killed at any instant: `worker.py <run directory> <log> [create]`.

Twelve trials on four threads. Each writes a line to the log when it is executed, works for a moment, keeps an
attachment, captures; in the end the artifacts are published from the captures and the run is done.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eval_quality.run.store.directory import Run
from eval_quality.run.store.journal import Item
from eval_quality.value.digest import digest_value

NAMES = [f"trial/a/P-{probe:03d}/{trial}" for probe in (1, 2, 3, 4) for trial in (1, 2, 3)]
PLAN = "sha256:" + "7" * 64


def body_of(name: str) -> dict[str, object]:
    """What a trial always answers."""
    return {"itemId": name, "digest": digest_value([name] * 20, "Body")}


def trial(run: Run, log: int, name: str) -> None:
    token = run.journal.begin(name, reserved_calls=1)
    os.write(log, f"{name}\n".encode())
    scratch = run.workspace(name)
    (scratch / "answer").write_text(name)
    time.sleep(0.002)
    digest = run.blobs.put(f"transcript of {name}".encode(), private=True)
    run.journal.capture(token, body_of(name), {"wall": time.monotonic()}, {"transcript": digest}, calls=1)
    run.journal.event("item.captured", {"itemId": name})
    run.discard_workspace(scratch)


def main() -> None:
    directory = Path(sys.argv[1])
    log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    if "create" in sys.argv and not (directory / "run.json").exists():
        run = Run.create(directory, {"experimentId": "kill"})
    else:
        run = Run.open(directory)
    with run:
        run.journal.plan([Item(name, "trial") for name in NAMES], PLAN)
        if run.journal.state() != "done":
            for state in ("qualifying", "measuring"):
                if run.journal.state() in ("planned", "qualifying"):
                    run.journal.enter(state)
            with ThreadPoolExecutor(4) as threads:
                list(threads.map(lambda name: trial(run, log, name), run.journal.pending()))
            run.journal.enter("sealing")
            for capture in run.journal.captures():
                run.publish_json(f"cells/{capture.item_id}.json", capture.body, "SealedRunRecord")
            run.publish_json("summary.json", [c.body_digest for c in run.journal.captures()], "Summary")
            run.journal.enter("done")
    print("done")


if __name__ == "__main__":
    main()
