"""The package version, alone in its module so that `--version` imports nothing else."""

VERSION = "0.1.0"
