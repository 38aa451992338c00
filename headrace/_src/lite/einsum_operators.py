"""`tf.einsum` as products of batches of matrices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headrace._src.core import dtypes
from headrace._src.lite.building import Unsupported, converts
from headrace._src.lite.models import LiteTensor

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class _Factor(NamedTuple):
    """A tensor whose axes have letters."""

    tensor: LiteTensor
    letters: str


@converts("Einsum")
def _einsum(builder, step):
    """Factors are multiplied one after the other; a letter that only one has, and not the result, is summed first."""
    factors, result = _parsed(builder, step)
    product = _Einsum(builder, factors, result)
    while len(product.factors) > 1:
        product.multiply()
    product.finish(step.outputs[0])


def _parsed(builder, step):
    """The factors and the letters of the result; `...` becomes letters of its own."""
    left, result = step.attrs["equation"].replace(" ", "").split("->")
    parts = left.split(",")
    tensors = [builder.tensor(x) for x in step.inputs]
    if any(tensor.shape is None for tensor in tensors):
        raise Unsupported("ranks must be known when the model is converted")
    free = [letter for letter in _LETTERS if letter not in step.attrs["equation"]]
    widths = [len(x.shape) - len(p.replace("...", "")) if "..." in p else 0 for p, x in zip(parts, tensors)]
    if len({width for width, part in zip(widths, parts) if "..." in part}) > 1:
        raise Unsupported("factors of an ellipsis must have as many axes")
    extra = "".join(free[: max(widths, default=0)])
    parts = [part.replace("...", extra) for part in parts]
    result = result.replace("...", extra)
    if any(len(set(one)) != len(one) for one in (*parts, result)):
        raise Unsupported("a letter stands twice in a factor")
    return [_Factor(x, part) for x, part in zip(tensors, parts)], result


class _Einsum:
    def __init__(self, builder, factors, result):
        self._builder = builder
        self._result = result
        self._sizes: dict[str, int | None] = {}
        self._sources: dict[str, tuple[LiteTensor, int]] = {}  # where a size can be read when the model runs
        for tensor, letters in factors:
            for axis, letter in enumerate(letters):
                size = tensor.shape[axis]
                if size is not None or letter not in self._sizes:
                    self._sizes[letter] = size
                self._sources.setdefault(letter, (tensor, axis))
        self.factors = [self._summed_alone(number, factors) for number in range(len(factors))]

    def _summed_alone(self, number, factors):
        """A factor without the letters that nothing else has."""
        tensor, letters = factors[number]
        others = set(self._result).union(*(f.letters for place, f in enumerate(factors) if place != number))
        alone = [axis for axis, letter in enumerate(letters) if letter not in others]
        if not alone:
            return factors[number]
        kept = "".join(letter for letter in letters if letter in others)
        axes = self._builder.constant(alone, dtypes.int32)
        total = self._builder.compute(
            "SUM", [tensor, axes], [self._sizes[x] for x in kept], tensor.dtype, "ReducerOptions", keepDims=False
        )
        return _Factor(total, kept)

    def multiply(self):
        """Let one factor be the product of the first two."""
        (a, left), (b, right), *rest = self.factors
        later = set(self._result).union(*(factor.letters for factor in rest))
        batch = [x for x in left if x in right and x in later]
        summed = [x for x in left if x in right and x not in later]
        rows, columns = ([x for x in one if x not in other] for one, other in ((left, right), (right, left)))
        grouped = any(len(group) != 1 for group in (rows, summed, columns))
        groups = [batch] if grouped else [[x] for x in batch]  # axes of the batch need not become one
        first = self._as_matrices(_Factor(a, left), [*groups, rows, summed])
        second = self._as_matrices(_Factor(b, right), [*groups, summed, columns])
        dims = [self._size(group) for group in [*groups, rows, columns]]
        product = self._builder.compute("BATCH_MATMUL", [first, second], dims, a.dtype, "BatchMatMulOptions")
        order = "".join([*batch, *rows, *columns])
        if grouped:
            product = self._reshaped(product, [[x] for x in order])
        self.factors = [_Factor(product, order), *rest]

    def finish(self, output):
        """Let the only factor, with its axes in the right order, be the result."""
        ((tensor, letters),) = self.factors
        places = self._builder.constant([letters.index(x) for x in self._result], dtypes.int32)
        self._builder.emit("TRANSPOSE", [tensor, places], [output], "TransposeOptions")

    def _as_matrices(self, factor, groups):
        """A factor with its letters in groups, each one axis."""
        tensor, letters = factor
        order = [letter for group in groups for letter in group]
        if order != list(letters):
            places = self._builder.constant([letters.index(letter) for letter in order], dtypes.int32)
            tensor = self._builder.compute(
                "TRANSPOSE", [tensor, places], [self._sizes[x] for x in order], tensor.dtype, "TransposeOptions"
            )
        return tensor if all(len(group) == 1 for group in groups) else self._reshaped(tensor, groups)

    def _size(self, letters):
        found = [self._sizes[letter] for letter in letters]
        return None if None in found else int(np.prod(found, dtype=np.int64))

    def _reshaped(self, tensor, groups):
        """A tensor with one axis for each group of letters."""
        dims = [self._size(group) for group in groups]
        if sum(size is None for size in dims) <= 1:
            return self._builder.reshaped(tensor, dims)
        shape = self._builder.joined([self._run_time_size(group) for group in groups])
        return self._builder.compute("RESHAPE", [tensor, shape], dims, tensor.dtype, "ReshapeOptions")

    def _run_time_size(self, letters):
        """The size of a group, as a vector of one number."""
        builder, total = self._builder, None
        for letter in letters:
            size = self._letter_size(letter)
            total = size if total is None else builder.compute("MUL", [total, size], [1], dtypes.int32, "MulOptions")
        return builder.constant([1], dtypes.int32) if total is None else total

    def _letter_size(self, letter):
        builder, size = self._builder, self._sizes[letter]
        if size is not None:
            return builder.constant([size], dtypes.int32)
        tensor, axis = self._sources[letter]
        shape = builder.compute("SHAPE", [tensor], [len(tensor.shape)], dtypes.int32, "ShapeOptions", outType=2)
        begin, one = builder.constant([axis], dtypes.int32), builder.constant([1], dtypes.int32)
        return builder.compute("SLICE", [shape, begin, one], [1], dtypes.int32, "SliceOptions")
