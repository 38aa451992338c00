"""Arithmetic, functions of elements, comparisons, reductions and segments, and Python's operators."""
