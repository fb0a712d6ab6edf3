"""The value of an operand that addresses nothing (spec 05 §5.1.1).

ABSENT is not JSON `null`: it equals nothing, not even itself as an operand, and never appears in an artifact.
It is the pointer walker's own "not there", so a walked value needs no translation.
"""

from typing import Final, TypeAlias

from eval_quality.value.pointer import MISSING, Missing

Absent: TypeAlias = Missing
ABSENT: Final = MISSING

__all__ = ["ABSENT", "Absent"]
