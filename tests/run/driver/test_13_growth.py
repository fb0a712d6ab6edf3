"""A subject that fills its workspace: spec 13 §13.9.4, "workspace growth"."""

from pathlib import Path

import pytest

from eval_quality.run.confine import bubblewrap
from eval_quality.run.sandbox import Unconfined
from support.experiments import write_experiment
from support.runs import edit, run

pytestmark = pytest.mark.skipif(bubblewrap.find_program() is None, reason="bubblewrap is not installed")

FILLS = """\
id = "forgets"
kind = "replace"
operator = "fill-the-disk"
file = "store.py"
find = '''    kept[key] = value
'''
replace = '''    import time
    with open("big", "wb") as big:
        big.write(b"x" * 1_000_000)
    time.sleep(40)
'''
"""


@pytest.mark.parametrize("kind", ["cli", pytest.param("mcp", marks=pytest.mark.slow), "python", "api"])
def test_s13_9_4_a_workspace_that_grows_ends_the_call_as_a_cap(kind: str, tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, kind, run="trials = 1\n")
    source = "[subject]\n"
    edit(folder / "experiment.toml", (source, f'{source}max_bytes = "64KiB"\n'))
    (folder / "mutations" / "forgets.toml").write_text(FILLS)
    ended = run(folder, tmp_path / "run", "--confine", "bwrap")
    assert ended.code == 3, ended.err
    # left alone, the subject would answer before its time is up, and the defect would be caught
    assert "mutation-unobservable" in ended.err
    assert "write (subject-cap)" in ended.err


def test_s13_9_4_unconfined_nobody_watches() -> None:
    lane = Unconfined().lane("anywhere")
    try:
        assert not Unconfined().overgrown(lane)
    finally:
        lane.close()
