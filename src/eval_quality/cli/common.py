"""Flags that several commands share, so that the same word means the same everywhere (spec 10 §2.1)."""

from typing import Final

from eval_quality.cli.command import Flag

OUT: Final = Flag(
    "--out",
    "where the artifact goes: a file when it ends in .json, else a directory; standard output when absent",
    value="target",
)
STRICT: Final = Flag("--strict", "promote CONCERNS to exit 1; changes nothing for a command without a verdict")
SCORE_STRICT: Final = Flag("--strict", "promote CONCERNS to exit 1, unless they rest on the evidence alone")
CONTRACT_IN: Final = Flag("--in", "the contract; standard input when absent", value="path", reads=True)
STRICT_INPUTS: Final = Flag("--strict-inputs", "refuse operations and bindings whose inputs are not declared (default)")
NO_STRICT_INPUTS: Final = Flag("--no-strict-inputs", "allow them")
CONTRACT: Final = Flag("--contract", "the compiled contract", value="path", required=True, reads=True)
POLICY: Final = Flag("--policy", "the scoring policy", value="path", required=True, reads=True)
