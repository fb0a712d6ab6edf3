"""What every test may rely on."""

import signal


def pytest_configure() -> None:
    """Undo what `nohup` or a shell's `&` leaves behind: children of the tests would inherit ignored signals."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
