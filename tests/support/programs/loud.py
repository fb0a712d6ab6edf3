"""Prints 100 kB."""

print("x" * 100_000)
