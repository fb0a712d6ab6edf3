"""The experiment folder: authored documents in, one checked description of the run out (spec 12 §12.3-12.8)."""
