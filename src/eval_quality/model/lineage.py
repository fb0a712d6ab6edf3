"""The three members that open every published artifact (spec 02 §4.2).

That `parent_digest` is None exactly when `revision_count` is 0, and that the stamp is one this build reads, are not
rules of the shape: the first belongs to chain validation, the second to `model.stamp`.
"""

from eval_quality.model.primitives import Count, Digest, Positive
from eval_quality.model.record import Record


class Artifact(Record):
    """A published artifact: its stamp and its place in a chain of revisions."""

    schema_version: Positive
    parent_digest: Digest | None
    revision_count: Count
