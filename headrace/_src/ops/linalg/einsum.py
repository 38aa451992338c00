"""Sums of products over named axes: `tf.einsum`, `tf.tensordot`."""

import functools
import itertools
import math
import re
import string

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.lazy import jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.ops.arrays.broadcasting import BROADCAST_GRADIENT_ARGS, BROADCAST_TO, SUM
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import CONCAT, PACK
from headrace._src.ops.arrays.measuring import SHAPE, known_value
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.lowered_products import lowered_product
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.linalg.product_kernels import matrix_product
from headrace._src.ops.math.arithmetic import ADD
from headrace._src.ops.math.complex_numbers import CONJ
from headrace._src.ops.math.reductions import PROD

ELLIPSIS = "..."


@functools.cache
def _parse(equation):
    """(subscripts of each input, subscripts of the output), each a tuple of labels and at most one "..."."""
    sides = equation.split("->")
    if len(sides) != 2:
        raise errors.invalid_argument(f"Einsum: expecting exactly one '->' in equation {equation!r}.")
    inputs = tuple(_labels(part, equation) for part in sides[0].split(","))
    if len(inputs) > 2:
        raise errors.invalid_argument(
            f"Einsum: expecting 1 or 2 input subscripts in equation {equation!r}, got {len(inputs)}."
        )
    output = _labels(sides[1], equation)
    known = {label for subscripts in inputs for label in subscripts}
    for label in output:
        if label not in known and label != ELLIPSIS:
            raise errors.invalid_argument(
                f"Einsum: the output of equation {equation!r} has the label {label!r}, which no input has."
            )
    return inputs, output


def _labels(text, equation):
    before, dots, after = text.partition(ELLIPSIS)
    if "." in before or "." in after:
        raise errors.invalid_argument(f"Einsum: a '.' is not part of the one ellipsis in {equation!r}.")
    return (*before, ELLIPSIS, *after) if dots else tuple(before)


def _expand(subscripts, rank, index, equation):
    """The labels of all axes of one input; axes under the ellipsis are numbered from the right."""
    named = len(subscripts) - (ELLIPSIS in subscripts)
    if ELLIPSIS not in subscripts:
        if rank != named:
            raise errors.invalid_argument(
                f"Einsum: expected input {index} of {equation!r} to have rank {named}, got {rank}."
            )
        return list(subscripts)
    if rank < named:
        raise errors.invalid_argument(
            f"Einsum: expected input {index} of {equation!r} to have rank at least {named}, got {rank}."
        )
    at = subscripts.index(ELLIPSIS)
    return [*subscripts[:at], *range(rank - named - 1, -1, -1), *subscripts[at + 1 :]]


def _sizes(equation, shapes):
    """(labels of each input, labels of the output, size of each label); sizes may be None."""
    subscripts, output = _parse(equation)
    if len(subscripts) != len(shapes):
        raise errors.invalid_argument(
            f"Einsum: equation {equation!r} has {len(subscripts)} inputs, got {len(shapes)}."
        )
    labels = [_expand(s, len(shape), i, equation) for i, (s, shape) in enumerate(zip(subscripts, shapes))]
    sizes = {}
    for i, (axes, shape) in enumerate(zip(labels, shapes)):
        for axis, (label, size) in enumerate(zip(axes, shape)):
            if label not in sizes:
                sizes[label] = size
                continue
            known, repeats = sizes[label], isinstance(label, int)
            if repeats and known == 1:
                sizes[label] = size
            elif known is None and not (repeats and size == 1):
                sizes[label] = size
            elif None not in (size, known) and size != known and not (repeats and size == 1):
                raise errors.invalid_argument(
                    f"Einsum: expected dimension {known} for {label!r} at axis {axis} of input {i} of shape "
                    f"{tuple(shape)} in equation {equation!r}."
                )
    wide = max((label for label in sizes if isinstance(label, int)), default=-1)
    if wide >= 0 and ELLIPSIS not in output:
        raise errors.invalid_argument(
            f"Einsum: the output of {equation!r} has {wide + 1} broadcasting dimension(s), but no ellipsis."
        )
    result = []
    for label in output:
        result.extend(range(wide, -1, -1) if label == ELLIPSIS else [label])
    return labels, result, sizes


def _contract(xp, product, inputs, equation):
    """The einsum of one or two arrays; `product(a, b)` multiplies matrices."""
    labels, output, _ = _sizes(equation, [x.shape for x in inputs])
    inputs = list(inputs)
    dtype = inputs[0].dtype
    # Floats of two bytes are summed in float32, which products do by themselves.
    small = dtype.itemsize == 2 and dtype.kind in "fV" and not _is_product(labels, output)
    if small:
        inputs = [x.astype(np.float32) for x in inputs]
    for i, axes in enumerate(labels):
        others = set(output).union(*(labels[j] for j in range(len(labels)) if j != i))
        inputs[i], labels[i] = _reduce(xp, inputs[i], axes, others)
    if len(inputs) == 2:
        result, axes = _pair(xp, product, *inputs, *labels, set(output))
    else:
        result, axes = inputs[0], labels[0]
    unique = list(dict.fromkeys(output))
    result = xp.transpose(result, [axes.index(label) for label in unique])
    if len(unique) != len(output):
        result = _spread(xp, result, unique, output)
    return result.astype(dtype) if small else result


def _is_product(labels, output):
    """Whether an einsum is a product of matrices, with nothing to be summed before."""
    if len(labels) != 2 or any(len(set(axes)) != len(axes) for axes in labels):
        return False
    x, y = map(set, labels)
    return bool((x & y).difference(output)) and not (x ^ y).difference(output)


def _reduce(xp, x, axes, needed):
    """Take diagonals of repeated labels, and sum over labels that nothing else needs."""
    axes = list(axes)
    while len(set(axes)) != len(axes):
        label = next(label for label in axes if axes.count(label) > 1)
        first, second = [i for i, each in enumerate(axes) if each == label][:2]
        x = xp.diagonal(x, axis1=first, axis2=second)
        axes = [each for i, each in enumerate(axes) if i not in (first, second)] + [label]
    gone = tuple(i for i, label in enumerate(axes) if label not in needed)
    if gone:
        x = xp.sum(x, gone, dtype=x.dtype)
        axes = [label for label in axes if label in needed]
    return x, axes


def _pair(xp, product, x, y, x_axes, y_axes, needed):
    """The product of two arrays, summed over their common labels that are not needed."""
    batch = [label for label in x_axes if label in y_axes and label in needed]
    inner = [label for label in x_axes if label in y_axes and label not in needed]
    left = [label for label in x_axes if label not in y_axes]
    right = [label for label in y_axes if label not in x_axes]
    x = xp.transpose(x, [x_axes.index(label) for label in (*batch, *left, *inner)])
    y = xp.transpose(y, [y_axes.index(label) for label in (*batch, *inner, *right)])
    lead, rows, columns = len(batch), len(left), len(right)
    axes = batch + left + right
    if not inner:
        y = y.reshape(y.shape[:lead] + (1,) * rows + y.shape[lead:])
        return xp.multiply(x.reshape(x.shape + (1,) * columns), y), axes
    depth = math.prod(x.shape[lead + rows :])
    matrix_x = x.reshape((*x.shape[:lead], math.prod(x.shape[lead : lead + rows]), depth))
    matrix_y = y.reshape((*y.shape[:lead], depth, math.prod(y.shape[lead + len(inner) :])))
    result = product(matrix_x, matrix_y)
    shape = (*result.shape[:lead], *x.shape[lead : lead + rows], *y.shape[lead + len(inner) :])
    return result.reshape(shape), axes


def _spread(xp, x, unique, output):
    """Repeat axes so that `x` stands on the diagonals: labels "i" to "ii"."""
    sizes = dict(zip(unique, x.shape))
    first = {label: output.index(label) for label in unique}
    x = x.reshape([sizes[label] if first[label] == i else 1 for i, label in enumerate(output)])
    for i, label in enumerate(output):
        if first[label] != i:
            shape = [1] * len(output)
            shape[first[label]] = shape[i] = sizes[label]
            on = xp.eye(sizes[label], dtype=bool).reshape(shape)
            x = xp.where(on, x, xp.zeros((), x.dtype))
    return x


def _einsum(inputs, equation):
    return _contract(np, matrix_product, inputs, equation)


def _lower_einsum(ctx, inputs, equation):
    return _contract(jnp, lowered_product, inputs, equation)


def _infer_einsum(inputs, equation):
    if any(spec.shape.rank is None for spec in inputs):
        output = _parse(equation)[1]
        return UNKNOWN if ELLIPSIS in output else TensorShape([None] * len(output))
    _, output, sizes = _sizes(equation, [spec.shape.as_list() for spec in inputs])
    return TensorShape([sizes[label] for label in output])


def _text(*subscripts):
    return "".join("".join(part) for part in subscripts)


def _side_gradient(dy, output, mine, other, other_subscripts, shape):
    """The gradient of the input with subscripts `mine`, given the other input (or None)."""
    unique = tuple(dict.fromkeys(mine))
    available = [label for label in unique if label in output or label in other_subscripts]
    if ELLIPSIS in output and ELLIPSIS not in available:
        available.insert(0, ELLIPSIS)
    if other is None:
        grad = EINSUM([dy], equation=f"{_text(output)}->{_text(available)}")
    else:
        equation = f"{_text(output)},{_text(other_subscripts)}->{_text(available)}"
        grad = EINSUM([dy, other], equation=equation)
    dims = _Dims(shape, mine)
    if ELLIPSIS in available:
        grad = _sum_broadcast(grad, available, dims)
    missing = [label for label in unique if label not in available]
    if missing:
        kept = [label for label in unique if label in available]
        grad = RESHAPE(grad, dims.of(unique, ones=set(unique) - set(kept)))
        grad = BROADCAST_TO(grad, dims.of(unique))
    elif ELLIPSIS in available:
        grad = RESHAPE(grad, dims.of(unique))
    if unique != tuple(mine):
        grad = EINSUM([grad], equation=f"{_text(unique)}->{_text(mine)}")
    return grad


class _Dims:
    """The sizes of labels in the shape of one input: ints, or parts of an int32 tensor."""

    def __init__(self, shape, subscripts):
        self.static = isinstance(shape, tuple)
        self.shape = shape
        at = subscripts.index(ELLIPSIS) if ELLIPSIS in subscripts else len(subscripts)
        after = len(subscripts) - at - 1
        self.slices = {label: slice(i, i + 1) for i, label in enumerate(subscripts[:at])}
        for i, label in enumerate(subscripts[at + 1 :]):
            end = i - after + 1
            self.slices[label] = slice(i - after, end if end else None)
        if ELLIPSIS in subscripts:
            self.slices[ELLIPSIS] = slice(at, -after if after else None)

    def of(self, labels, ones=()):
        """The shape with these labels, 1 for those in `ones`."""
        parts = []
        for label in labels:
            if label in ones:
                parts.append((1,))
            elif label in self.slices:
                parts.append(self.shape[self.slices[label]])
        if self.static:
            return tuple(itertools.chain.from_iterable(parts))
        parts = [to_tensor(list(part), dtypes.int32) if isinstance(part, tuple) else part for part in parts]
        return CONCAT(parts, 0) if parts else to_tensor([], dtypes.int32)


def _sum_broadcast(grad, available, dims):
    """Sum over the axes under the ellipsis along which this input was repeated."""
    at = available.index(ELLIPSIS)
    after = len(available) - at - 1
    span = slice(at, -after if after else None)
    shape = grad.shape.as_list() if grad.shape.is_fully_defined() else None
    if dims.static and shape is not None:
        mine, full = dims.of([ELLIPSIS]), tuple(shape)[span]
        mine = (1,) * (len(full) - len(mine)) + mine
        axes = [at + i for i in range(len(full)) if mine[i] == 1 and full[i] != 1]
        total = SUM(grad, axes) if axes else grad
        named = [label for label in available if label != ELLIPSIS]
        sizes = dict(zip(named, shape[:at] + shape[len(shape) - after :]))
        target = []
        for label in available:
            target.extend(dims.of([ELLIPSIS]) if label == ELLIPSIS else [sizes[label]])
        return RESHAPE(total, target)
    full = SHAPE(grad, out_type=dtypes.int32)
    mine = to_tensor(dims.of([ELLIPSIS]), dtypes.int32) if dims.static else dims.of([ELLIPSIS])
    axes = BROADCAST_GRADIENT_ARGS(mine, full[span]).r0
    total = SUM(grad, ADD(axes, at))
    tail = full[-after:] if after else full[:0]
    return RESHAPE(total, CONCAT([full[:at], mine, tail], 0))


def _grad_einsum(node, dy):
    subscripts, output = _parse(node.attrs["equation"])
    if len(subscripts) == 1:
        return ([_side_gradient(dy, output, subscripts[0], None, (), node.inputs_shape[0])],)
    x, y = (CONJ(each) if each.dtype.is_complex else each for each in node.inputs)
    of_x, of_y = subscripts
    shape_x, shape_y = node.inputs_shape
    return (
        [
            _side_gradient(dy, output, of_x, y, of_y, shape_x),
            _side_gradient(dy, output, of_y, x, of_x, shape_y),
        ],
    )


def _vectorize_einsum(batch, node, inputs):
    equation = node.attrs["equation"].replace(" ", "")
    terms, _, result = equation.partition("->")
    letter = next(c for c in string.ascii_letters if c not in equation)
    parts = [letter + term if x.stacked else term for term, x in zip(terms.split(","), inputs)]
    return batch.apply(node, [inputs], {"equation": f"{','.join(parts)}->{letter}{result}"})


EINSUM = Op(
    "Einsum",
    "inputs: N*T, *, equation: string -> output: T",
    T=dtypes.NUMBER,
    infer=_infer_einsum,
    kernel=_einsum,
    lower=_lower_einsum,
    saves=("inputs", "inputs_shape"),
    grad=_grad_einsum,
    vectorize=_vectorize_einsum,
)

_FORMAT = re.compile(r"[a-zA-Z,.]*(->[a-zA-Z.]*)?")
_PATHS = frozenset(
    "auto auto-hq branch-1 branch-2 branch-all dp dynamic-programming eager greedy opportunistic optimal "
    "random-greedy random-greedy-128".split()
)
_EXHAUSTIVE_UP_TO = 6


def _resolve(equation, count):
    """(subscripts of the inputs, subscripts of the output) of an equation as users write it."""
    if not isinstance(equation, str):
        raise TypeError(f"einsum: equation must be a string, got {type(equation).__name__}.")
    written = equation.replace(" ", "")
    if not _FORMAT.fullmatch(written) or "." in written.replace(ELLIPSIS, ""):
        raise ValueError(f"einsum: subscripts have incorrect format: {equation}")
    left, arrow, right = written.partition("->")
    inputs = left.split(",")
    if len(inputs) != count:
        raise ValueError(f"einsum: got {count} inputs for equation {equation!r}, expecting {len(inputs)}.")
    letters = left.replace(ELLIPSIS, "").replace(",", "")
    if not arrow:
        right = "".join(sorted(label for label in set(letters) if letters.count(label) == 1))
    named = right.replace(ELLIPSIS, "")
    if len(set(named)) != len(named) or right.count(ELLIPSIS) > 1:
        raise ValueError(f"einsum: output subscripts contain a label more than once: {equation}")
    for label in named:
        if label not in letters:
            raise ValueError(f"einsum: output subscripts contain the label {label!r}, which no input has.")
    return [_labels(part, equation) for part in inputs], _labels(right, equation)


@api("einsum", "linalg.einsum", scope="einsum")
def einsum(equation, *inputs, **kwargs) -> Tensor:
    """Sums of products over named axes.

    Args:
        equation: the labels of each input's axes, then `->` and those of the output: `"ij,jk->ik"`. `...`
            stands for axes that broadcast. Without `->`, the output has the labels that occur once, sorted.
        *inputs: tensors of one dtype.
        **kwargs: `optimize`: how to look for the order of several products, "greedy" or "optimal" among
            others; `name`: accepted for compatibility.

    Raises:
        ValueError: when the equation has a wrong format or does not fit the number of inputs.
        InvalidArgumentError: when the shapes do not fit.

    >>> tf.einsum("ij,ij->i", [[1, 2], [3, 4]], [[1, 1], [1, 10]]).numpy().tolist()
    [3, 43]
    """
    name = kwargs.pop("name", None)
    optimize = kwargs.pop("optimize", "greedy")
    if kwargs:
        raise TypeError(f"einsum: invalid keyword arguments {sorted(kwargs)}. Valid ones: name, optimize.")
    subscripts, output = _resolve(equation, len(inputs))
    if optimize is not None and optimize not in _PATHS:
        raise KeyError(f"einsum: optimize must be one of {sorted(_PATHS)}, got {optimize!r}.")
    tensors = [to_tensor(x) for x in inputs]
    if len(tensors) <= 2:
        text = ",".join(_text(part) for part in subscripts)
        return EINSUM(tensors, equation=f"{text}->{_text(output)}", name=name)
    operands = list(zip(tensors, subscripts))
    for i, j in _path(subscripts, output, [x.shape for x in tensors], optimize):
        y, of_y = operands.pop(j)
        x, of_x = operands.pop(i)
        result = _result_labels(of_x, of_y, [labels for _, labels in operands], output)
        if not operands:
            result = output
        equation = f"{_text(of_x)},{_text(of_y)}->{_text(result)}"
        operands.append((EINSUM([x, y], equation=equation, name=name), result))
    return operands[0][0]


def _result_labels(x, y, rest, output):
    """The labels that the product of two operands keeps, because something else has them."""
    needed = set(output).union(*rest)
    kept = [label for label in dict.fromkeys((*x, *y)) if label in needed or label == ELLIPSIS]
    kept.sort(key=lambda label: label != ELLIPSIS)
    return tuple(kept)


def _path(subscripts, output, shapes, optimize):
    """Pairs of positions (i < j) to multiply; each result goes to the end of the list."""
    sizes = {}
    for labels, shape in zip(subscripts, shapes):
        if shape.rank is not None:
            expanded = labels
            if ELLIPSIS in labels and shape.rank >= len(labels) - 1:
                expanded = _expand(labels, shape.rank, 0, "")
            for label, size in zip(expanded, shape.as_list()):
                if not isinstance(label, int):
                    sizes[label] = max(sizes.get(label, 1), size or 1)
    if optimize is None:
        return [(0, 1)] + [(0, len(subscripts) - 1 - k) for k in range(1, len(subscripts) - 1)]
    if optimize != "greedy" and len(subscripts) <= _EXHAUSTIVE_UP_TO:
        return _cheapest(tuple(subscripts), output, sizes)[1]
    operands, path = list(subscripts), []
    while len(operands) > 1:
        i, j = min(
            itertools.combinations(range(len(operands)), 2),
            key=lambda pair: _growth(operands, pair, output, sizes),
        )
        path.append((i, j))
        operands = _merged(operands, i, j, output)
    return path


def _merged(operands, i, j, output):
    rest = [labels for k, labels in enumerate(operands) if k not in (i, j)]
    return [*rest, _result_labels(operands[i], operands[j], rest, output)]


def _volume(labels, sizes):
    return math.prod(sizes.get(label, 1) for label in set(labels))


def _growth(operands, pair, output, sizes):
    """How much memory the product of a pair takes beyond its factors."""
    i, j = pair
    result = _merged(operands, i, j, output)[-1]
    return _volume(result, sizes) - _volume(operands[i], sizes) - _volume(operands[j], sizes)


def _cheapest(operands, output, sizes):
    """(multiplications, path) of the best order, by trying all."""
    if len(operands) == 1:
        return 0, []
    best = None
    for i, j in itertools.combinations(range(len(operands)), 2):
        cost = _volume((*operands[i], *operands[j]), sizes)
        rest, path = _cheapest(tuple(_merged(list(operands), i, j, output)), output, sizes)
        if best is None or cost + rest < best[0]:
            best = cost + rest, [(i, j), *path]
    return best


@api("tensordot", "linalg.tensordot", result_scope="Tensordot")
def tensordot(a, b, axes, name=None) -> Tensor:
    """Products of `a` and `b` summed over pairs of axes.

    Args:
        a: a tensor.
        b: a tensor of the same dtype.
        axes: a number n, for the last n axes of `a` and the first n of `b`; or two axes, or two lists.
        name: accepted for compatibility.

    Returns:
        A tensor with the remaining axes of `a`, then those of `b`.

    Raises:
        ValueError: when `axes` has a wrong form, or is larger than the rank.

    >>> tf.tensordot([[1, 2], [3, 4]], [1, 10], axes=1).numpy().tolist()
    [21, 43]
    """
    a = to_tensor(a)
    b = to_tensor(b, hint=a.dtype)
    of_a, of_b = _contraction_axes(a, axes)
    if a.shape.rank is None or b.shape.rank is None or of_a is None:
        raise ValueError("tensordot: ranks and axes must be known.")
    of_a, of_b = _checked_axes(of_a, a), _checked_axes(of_b, b)
    matrix_a, rest_a = _as_matrix(a, of_a, last=True)
    matrix_b, rest_b = _as_matrix(b, of_b, last=False)
    product = matmul(matrix_a, matrix_b)
    if isinstance(rest_a, list) and isinstance(rest_b, list):
        return RESHAPE(product, rest_a + rest_b, name=name)
    rest = [to_tensor(part, dtypes.int32) if isinstance(part, list) else part for part in (rest_a, rest_b)]
    return RESHAPE(product, CONCAT(rest, 0), name=name)


def _contraction_axes(a, axes):
    """The axes of `a` and of `b` to be summed over."""
    if isinstance(axes, (int, np.integer)) and not isinstance(axes, bool):
        if axes < 0:
            raise ValueError(f"tensordot: axes must be at least 0, got {axes}.")
        rank = a.shape.rank
        if rank is None:
            return None, None
        if axes > rank:
            raise ValueError(f"tensordot: axes is {axes}, but a has rank {rank}.")
        return list(range(rank - axes, rank)), list(range(axes))
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            raise ValueError(f"tensordot: axes must be an integer or have length 2, got {axes!r}.")
        of_a, of_b = (_axis_list(part) for part in axes)
        if len(of_a) != len(of_b):
            raise ValueError(f"tensordot: different numbers of axes of a and b, {len(of_a)} != {len(of_b)}.")
        return of_a, of_b
    pair = to_tensor(axes, None if isinstance(axes, Tensor) else dtypes.int32)
    values = known_value(pair)
    if values is None:
        return None, None
    if not values.ndim:
        raise errors.invalid_argument("tensordot: axes as a tensor must hold two rows, got a scalar.")
    return tuple(np.atleast_1d(values[i]).tolist() for i in (0, 1))


def _axis_list(axes):
    if isinstance(axes, (int, np.integer)):
        return [int(axes)]
    if isinstance(axes, Tensor):
        axes = known_value(axes)
        if axes is None:
            raise ValueError("tensordot: axes must be known while a graph is built.")
    return [int(axis) for axis in np.ravel(np.asarray(axes)).tolist()]


def _checked_axes(axes, x):
    rank = x.shape.rank
    for axis in axes:
        if not -rank <= axis < rank:
            raise IndexError(f"tensordot: axis {axis} is out of range for a tensor of rank {rank}.")
    return [axis % rank for axis in axes]


def _as_matrix(x, axes, last):
    """`x` as a matrix with the summed axes last or first, and the shape of the other axes."""
    free = [i for i in range(x.shape.rank) if i not in axes]
    order = free + axes if last else axes + free
    turned = x if order == list(range(len(order))) else TRANSPOSE(x, order)
    if x.shape.is_fully_defined():
        dims = x.shape.as_list()
        rest = [dims[i] for i in free]
        rows = math.prod(rest)
        depth = math.prod(dims[i] for i in axes)
        return RESHAPE(turned, [rows, depth] if last else [depth, rows]), rest
    dims = SHAPE(x, out_type=dtypes.int32)
    rest = GATHER_V2(dims, to_tensor(free, dtypes.int32), 0)
    depth = PROD(GATHER_V2(dims, to_tensor(axes, dtypes.int32), 0), [0])
    rows = PROD(rest, [0])
    return RESHAPE(turned, PACK([rows, depth] if last else [depth, rows], axis=0)), rest
