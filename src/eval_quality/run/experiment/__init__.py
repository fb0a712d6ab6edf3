"""The experiment folder: authored documents in, one checked, immutable description of the run out (spec 12 §12.3-12.8)."""
