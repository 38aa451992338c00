"""Composite tensors that users declare themselves."""
