"""Graphs of what every replica of a strategy does: traced once, run on all of them."""
