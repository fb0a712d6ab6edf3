"""The twin run as use cases: start or resume one, score it again, check it (spec 12 §12.2, spec 13 §13.7)."""
