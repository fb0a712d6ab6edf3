"""`python -m eval_quality` is the `eval-quality` program."""

from eval_quality.cli.main import entry

entry()
