"""Functions with their 1.x signatures, by subject."""
