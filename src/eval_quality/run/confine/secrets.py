"""Secrets: the one way in, and what happens to every byte on its way out (spec 13 §13.12).

In: only the names that the experiment lists are read from the host's environment, once. A missing one, or one that is
too short to be found again reliably, is `secret-unusable`.

Out, by value: each secret, as it is and as JSON, percent encoding, base64 at every alignment and hexadecimal of either
case would write it, becomes `[redacted:<NAME>]`. By name, in logs, transcripts and events but not in observations: the
value of a key that says it is a credential becomes `[redacted:by-name]`.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Final, NamedTuple
from urllib.parse import quote, quote_plus

from eval_quality.run.errors import AuthoringProblem, ExperimentFailure
from eval_quality.value.kind import is_array, is_object

LEAST_LENGTH: Final = 8
"""Characters; a shorter value occurs by accident."""

BY_NAME: Final = "[redacted:by-name]"

CREDENTIAL_NAMES: Final = (
    r"(?i)(authorization|cookie|credential|passw(or)?d|private[-_]?key|secret|session[-_]?(id|key|token)"
    r"|(access|api|auth|bearer|refresh)[-_]?(key|token)|^token$)"
)

_LEAST_ENCODED: Final = 8
"""An encoded fragment shorter than this is not looked for: it would hit unrelated text."""


class Secrets(NamedTuple):
    """The declared secrets of a run: name -> value. Printing one shows its name only."""

    values: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self.values)})"

    def redactor(self, redact_names: Iterable[str] = ()) -> "Redactor":
        """The redaction of these secrets; `redact_names` are further patterns for names of credentials."""
        return Redactor(self.values, redact_names)


def read_secrets(names: Iterable[str], environment: Mapping[str, str]) -> Secrets:
    """The declared secrets from the host's environment.

    Raises `ExperimentFailure` (`secret-unusable`) that names every unusable one and never a value.
    """
    values: dict[str, str] = {}
    problems: list[AuthoringProblem] = []
    for name in sorted(set(names)):
        value = environment.get(name)
        if value is None:
            problems.append(_unusable(name, "it is not set"))
        elif len(value) < LEAST_LENGTH:
            problems.append(_unusable(name, f"it has fewer than {LEAST_LENGTH} characters and could not be redacted"))
        else:
            values[name] = value
    if problems:
        raise ExperimentFailure(problems)
    return Secrets(values)


def _unusable(name: str, why: str) -> AuthoringProblem:
    return AuthoringProblem("secret-unusable", "Experiment.secrets.env", f"{name}: {why}")


class Redactor:
    """Replaces secrets in everything that leaves memory. `count` says how many were found so far."""

    def __init__(self, values: Mapping[str, str], redact_names: Iterable[str] = ()) -> None:
        found: dict[str, str] = {}
        for name, value in sorted(values.items()):
            for form in spellings(value):
                found.setdefault(form, name)
        # The longest first, so that a secret that holds another is replaced whole.
        forms = sorted(found, key=lambda form: (-len(form), form))
        self._names = found
        self._pattern = re.compile("|".join(map(re.escape, forms))) if forms else None
        self._credentials = [re.compile(CREDENTIAL_NAMES), *(re.compile(pattern) for pattern in redact_names)]
        self.count = 0

    def text(self, text: str) -> str:
        """The text with every secret replaced."""
        return text if self._pattern is None else self._pattern.sub(self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        self.count += 1
        return f"[redacted:{self._names[match[0]]}]"

    def data(self, data: bytes) -> bytes:
        """Bytes with every secret replaced; what is not UTF-8 between them is kept as it is."""
        return self.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def value(self, value: Any) -> Any:
        """A JSON value with every secret replaced in keys and strings, as observations are redacted."""
        return self._walk(value, by_name=False)

    def log(self, value: Any) -> Any:
        """The same, and the value of every member whose name says that it is a credential replaced whole."""
        return self._walk(value, by_name=True)

    def _walk(self, value: Any, by_name: bool) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if is_array(value):
            return [self._walk(member, by_name) for member in value]
        if is_object(value):
            return {
                self.text(key): BY_NAME if by_name and self._is_credential(key) else self._walk(member, by_name)
                for key, member in value.items()
            }
        return value

    def _is_credential(self, name: str) -> bool:
        return any(pattern.search(name) for pattern in self._credentials)


def spellings(secret: str) -> set[str]:
    """Every text in which the secret may show: plain, JSON, percent, hexadecimal, base64 at each alignment."""
    data = secret.encode("utf-8", "surrogateescape")
    forms = {
        secret,
        encode_basestring(secret)[1:-1],
        encode_basestring_ascii(secret)[1:-1],
        quote(data, safe=""),
        quote(data),
        quote_plus(data),
        data.hex(),
        data.hex().upper(),
    }
    forms |= {form.replace("%", "%25") for form in set(forms)}
    for alignment in range(3):
        # What three bytes in a row always become, whatever stands before and after the secret.
        padded = b"\0" * alignment + data
        whole = base64.b64encode(padded).decode()
        # Sextets that depend on the bytes before or after are left out.
        start = (alignment * 8 + 5) // 6
        end = len(padded) * 8 // 6
        for encoded in (whole, base64.urlsafe_b64encode(padded).decode()):
            forms.add(encoded[start:end])
    return {form for form in forms if len(form) >= _LEAST_ENCODED}
