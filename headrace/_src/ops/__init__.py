"""Every op that is a function of arrays, one file a family, and its public function."""

from headrace._src.ops import operators as operators  # gives `Tensor` its operators
from headrace._src.ops import ragged_dispatch as ragged_dispatch  # dense functions take ragged tensors
