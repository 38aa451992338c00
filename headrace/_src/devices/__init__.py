"""Devices: which there are, and how a program wants to see them."""
