"""Statistics over counted outcomes (spec 15)."""
