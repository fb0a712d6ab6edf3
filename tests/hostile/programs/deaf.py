"""Exits without reading its standard input."""

print("deaf")
