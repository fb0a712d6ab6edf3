"""Would this evaluation have caught a known bug? Ask it, and see.

    python examples/notes-api/demo.py      (or `make demo` at the top of the checkout)

It runs the two experiments of this folder: the same service and the same planted defect, judged by a contract that
reads back what was written, and by one that believes the answer. Both services really run. The run directories stay
below `.eval-quality`; nothing else is written.
"""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.executable).with_name("eval-quality")

EXPERIMENTS = (
    ("A contract that reads back what was written", HERE / "experiment.yaml", 0),
    ("The same, believing what the service answers", HERE / "response-only.experiment.yaml", 2),
)
"""What each shows, its file, and the exit code it is expected to have: 2 says that the evaluation failed."""


def main():
    plant()
    codes = [run(title, experiment) for title, experiment, _ in EXPERIMENTS]
    say("")
    say("One bug, one service, two evaluations. Both pass on the sound service, and nobody could have told them apart:")
    say("only the planted bug shows that the second one proves nothing about changes being kept.")
    return 0 if codes == [expected for *_, expected in EXPERIMENTS] else 1


def plant():
    """Show the one line that is replaced."""
    mutation = tomllib.loads((HERE / "mutations" / "forgets-changes.toml").read_text(encoding="utf-8"))
    say("A notes service keeps changed notes. In a copy of it one line is replaced:")
    say("")
    say(f"    - {mutation['find']}")
    say(f"    + {mutation['replace']}")
    say("")
    say("The damaged copy still answers every change with ok and the new title. It keeps the old one.")


def run(title, experiment):
    """Run one experiment; its page goes to standard error, so that is what is shown."""
    say("")
    say(f"== {title}")
    say("")
    command = [PROGRAM, "run", experiment, "--progress", "plain", *isolation()]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


def isolation():
    """Processes are isolated where bubblewrap is installed; where it is not, say so and go on."""
    return [] if shutil.which("bwrap") else ["--confine", "none"]


def say(line):
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
