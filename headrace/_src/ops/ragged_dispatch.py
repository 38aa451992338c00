"""Loads all that teaches tensors and dense functions about ragged tensors: operators, indexing, functions."""

from headrace._src.ops import ragged_elementwise as ragged_elementwise
from headrace._src.ops import ragged_indexing as ragged_indexing
from headrace._src.ops import ragged_operators as ragged_operators
