"""A process killed during `score` leaves the old evidence or the new one, never a part (spec 11 §15 test 20)."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eval_quality.app.behavior.store import EVIDENCE_NAME
from support.skills_repo import answers_file, opened, right_answers, scored, small_repository, wrong_answers


@pytest.mark.slow
def test_s15_20_a_killed_score_leaves_whole_files(tmp_path: Path) -> None:
    root = small_repository(tmp_path, 4, 8)
    scored(root, wrong_answers(opened(root)))
    old = (root / EVIDENCE_NAME).read_bytes()
    path = answers_file(root / "right.json", right_answers(opened(root)))
    words = [sys.executable, "-m", "eval_quality", "behavior-eval", "score", path, "--root", str(root)]
    whole = 0
    for delay in (0.15, 0.25, 0.35, 0.45, 0.6, 5.0):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait(20)
        data = (root / EVIDENCE_NAME).read_bytes()
        passed = json.loads(data)["passed"]
        assert data == old or passed == 160
        whole += passed == 160
    assert whole >= 1
