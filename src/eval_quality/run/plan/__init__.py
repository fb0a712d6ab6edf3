"""Executing an interaction plan: what each step sends, in which order, and what comes back (spec 12 §12.13)."""
