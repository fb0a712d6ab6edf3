"""The `eval-quality` program.

`--version` is answered here, with nothing imported but `sys` and the constant; everything else is
`cli/dispatch.py`'s. An interrupt ends the program quietly at any moment, imports included.
"""

import sys

GENERATION_0 = 100_000
"""Objects made before the collector looks at them; the interpreter's own choice is 700."""


def entry() -> None:
    """Run the command line of this process and exit."""
    try:
        if sys.argv[1:2] in (["--version"], ["-V"]) and _printed_version():
            return
        import gc

        # A command is short and makes many objects that live until it ends. Looking for cycles among them, again and
        # again while it runs and once more at exit, was a sixth of a `compile`.
        gc.set_threshold(GENERATION_0, 50, 1000)
        from eval_quality.cli.dispatch import main

        code = main(sys.argv[1:])
        gc.freeze()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _printed_version() -> bool:
    """Print the version; False when standard output did not take it, which the dispatcher then reports."""
    from eval_quality._version import VERSION

    try:
        sys.stdout.write(f"{VERSION}\n")
        sys.stdout.flush()
    except (AttributeError, OSError):
        return False
    return True
