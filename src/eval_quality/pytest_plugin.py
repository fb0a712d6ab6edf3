"""pytest hooks of the package."""
