"""Sealed run records, checked against themselves and the run that made them (spec 08 §2)."""

from eval_quality.core.ingest.stage import ValidatedObservations, configuration_digest, ingest, ingest_trial

__all__ = ["ValidatedObservations", "configuration_digest", "ingest", "ingest_trial"]
