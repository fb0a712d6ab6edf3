"""Facts about a parsed contract that compile, coverage, seal and pre-flight all need (spec 03 §5)."""
