"""Sparse tensors: the type, how it is made, and what functions do with it."""
