"""A finding about a skill repository, as data (spec 11 §2.2, §5.2, §14)."""

from collections.abc import Iterable
from typing import NamedTuple

ERROR = "ERROR"
WARN = "WARN"


class Finding(NamedTuple):
    """One located problem. `where` is a file path or a scenario id, `message` states what is wanted."""

    level: str
    code: str
    skill_id: str
    where: str
    message: str

    def line(self) -> str:
        """One line for a person."""
        place = f"{self.skill_id}: {self.where}" if self.where else self.skill_id
        return f"{self.level} {self.code}: {place}: {self.message}"

    def value(self) -> dict[str, str]:
        """The JSON form."""
        return {
            "level": self.level,
            "code": self.code,
            "skillId": self.skill_id,
            "where": self.where,
            "message": self.message,
        }


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that refuse a corpus."""
    return [finding for finding in findings if finding.level == ERROR]
