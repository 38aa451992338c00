"""Loads all that teaches tensors and dense functions about ragged tensors: operators, indexing, functions."""

from headrace._src.ops import ragged_elementwise as ragged_elementwise
from headrace._src.ops import ragged_functions as ragged_functions
from headrace._src.ops import ragged_indexing as ragged_indexing
from headrace._src.ops import ragged_joining as ragged_joining
from headrace._src.ops import ragged_operators as ragged_operators
from headrace._src.ops import ragged_reductions as ragged_reductions
from headrace._src.ops import ragged_selecting as ragged_selecting
