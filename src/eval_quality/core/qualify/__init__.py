"""The gate every probe passes before it may count (spec 08 §1)."""

from eval_quality.core.qualify.gate import QualifiedProbe, SealedProbes, qualify_probe, seal_probes
from eval_quality.core.qualify.home import HomeOperation, resolve_home_operation
from eval_quality.core.qualify.result import QUALIFICATION_FAILURES, QualificationFailure, QualificationResult

__all__ = [
    "QUALIFICATION_FAILURES",
    "HomeOperation",
    "QualificationFailure",
    "QualificationResult",
    "QualifiedProbe",
    "SealedProbes",
    "qualify_probe",
    "resolve_home_operation",
    "seal_probes",
]
