"""Strings: editing, splitting, matching, hashing, Unicode."""
