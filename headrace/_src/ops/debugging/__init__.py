"""Assertions, printing, checks and dumps of what ops compute."""
