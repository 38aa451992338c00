"""Places and what is at them: scattering, segments, diagonals, shifts, samples, boxes, spectra."""

from __future__ import annotations

import numpy as np

from headrace._src.core import dtypes
from headrace._src.lite.building import Unsupported, converts
from headrace._src.lite.models import LiteTensor
from headrace._src.lite.terms import Term

_LONGEST_CHAIN = 256  # operators that a running product may become


@converts("ScatterNd")
def _scattered(builder, step):
    indices, updates, shape = step.inputs
    inputs = [builder.integers(indices), updates, builder.integers(shape)]
    builder.emit("SCATTER_ND", inputs, step.outputs, "ScatterNdOptions")


def _spread(builder, tensor, indices, updates):
    """What is scattered into zeros of the shape of a tensor."""
    held = builder.tensor(tensor)
    rank = None if held.shape is None else len(held.shape)
    shape = builder.compute("SHAPE", [held], [rank], dtypes.int32, "ShapeOptions", outType=2)
    inputs = [builder.integers(indices), updates, shape]
    return builder.compute("SCATTER_ND", inputs, held.shape, builder.tensor(updates).dtype, "ScatterNdOptions")


@converts("TensorScatterAdd", "TensorScatterSub")
def _added_at(builder, step):
    tensor, indices, updates = step.inputs
    change = Term(builder, _spread(builder, tensor, indices, updates))
    old = Term(builder, tensor)
    (old + change if step.type == "TensorScatterAdd" else old - change).become(step.outputs[0])


@converts("TensorScatterUpdate")
def _set_at(builder, step):
    tensor, indices, updates = step.inputs
    change = Term(builder, _spread(builder, tensor, indices, updates))
    ones = builder.compute("ZEROS_LIKE", [updates], builder.tensor(updates).shape, updates.dtype)
    marks = builder.compute("ADD", [ones, builder.constant(1, updates.dtype)], ones.shape, updates.dtype, "AddOptions")
    marked = Term(builder, _spread(builder, tensor, indices, marks))
    marked.of("NOT_EQUAL", 0).choose(change, Term(builder, tensor)).become(step.outputs[0])


_SEGMENTS = {
    "UnsortedSegmentSum": "UNSORTED_SEGMENT_SUM", "UnsortedSegmentMax": "UNSORTED_SEGMENT_MAX",
    "UnsortedSegmentMin": "UNSORTED_SEGMENT_MIN", "UnsortedSegmentProd": "UNSORTED_SEGMENT_PROD",
}  # fmt: skip


@converts(*_SEGMENTS)
def _segments(builder, step):
    x, numbers, count = step.inputs
    inputs = [x, builder.integers(numbers), builder.integers(count)]
    builder.emit(_SEGMENTS[step.type], inputs, step.outputs, f"{step.type}Options")


@converts("SegmentSum")
def _sorted_segments(builder, step):
    x, numbers = step.inputs
    builder.emit("SEGMENT_SUM", [x, builder.integers(numbers)], step.outputs, "SegmentSumOptions")


@converts("Where")
def _places(builder, step):
    condition = Term(builder, step.inputs[0])
    if condition.tensor.dtype != dtypes.bool:
        condition = condition.of("NOT_EQUAL", 0)
    builder.emit("WHERE", [condition.tensor], step.outputs, "WhereOptions")


@converts("Unique")
def _unique(builder, step):
    number = 2 if step.outputs[1].dtype == dtypes.int32 else 4
    builder.emit("UNIQUE", step.inputs, step.outputs, "UniqueOptions", idxOutType=number)


@converts("ReverseSequence")
def _reversed(builder, step):
    x, lengths = step.inputs
    builder.emit(
        "REVERSE_SEQUENCE", [x, builder.integers(lengths)], step.outputs, "ReverseSequenceOptions",
        seqDim=int(step.attrs["seq_dim"]), batchDim=int(step.attrs["batch_dim"]),
    )  # fmt: skip


@converts("MatrixDiagV3", "MatrixDiagV2", "MatrixDiag")
def _diagonal_matrix(builder, step):
    diagonal, *others = step.inputs
    k, rows, columns, padding = ([builder.known(x, "sizes") for x in others] + [0, -1, -1, 0])[:4]
    if np.any(k) or np.any(np.asarray(rows) != -1) or np.any(np.asarray(columns) != -1) or np.any(padding):
        raise Unsupported("only the main diagonal of square matrices, with zeros beside it")
    builder.emit("MATRIX_DIAG", [diagonal], step.outputs, "MatrixDiagOptions")


@converts("MatrixSetDiagV3", "MatrixSetDiagV2", "MatrixSetDiag")
def _with_diagonal(builder, step):
    x, diagonal, *k = step.inputs
    if k and np.any(builder.known(k[0], "k")):
        raise Unsupported("only the main diagonal")
    builder.emit("MATRIX_SET_DIAG", [x, diagonal], step.outputs, "MatrixSetDiagOptions")


def _matrix_sizes(step):
    dims = step.inputs[0].shape.as_list()[-2:] if step.inputs[0].shape.rank else [None]
    if None in dims:
        raise Unsupported("the sizes of matrices must be known when the model is converted")
    return dims


@converts("MatrixDiagPartV3", "MatrixDiagPartV2", "MatrixDiagPart")
def _diagonal(builder, step):
    x, *others = step.inputs
    rows, columns = _matrix_sizes(step)
    if (others and np.any(builder.known(others[0], "k"))) or rows != columns:
        raise Unsupported("only the main diagonal of square matrices")
    mask = Term(builder, builder.constant(np.eye(rows, dtype=bool)), builder.tensor(x).shape)
    alone = mask.choose(Term(builder, x), 0).tensor
    axis = builder.constant(-1, dtypes.int32)
    builder.emit("SUM", [alone, axis], step.outputs, "ReducerOptions", keepDims=False)


@converts("MatrixBandPart")
def _band(builder, step):
    x, lower, upper = step.inputs
    rows, columns = _matrix_sizes(step)
    low, high = (int(builder.known(one, "a width")) for one in (lower, upper))
    away = np.arange(columns)[None] - np.arange(rows)[:, None]
    kept = ((low < 0) | (-away <= low)) & ((high < 0) | (away <= high))
    mask = Term(builder, builder.constant(kept), builder.tensor(x).shape)
    mask.choose(Term(builder, x), 0).become(step.outputs[0])


@converts("Roll")
def _rolled(builder, step):
    x, shifts, axes = step.inputs
    held = builder.tensor(x)
    pairs = zip(np.atleast_1d(builder.known(shifts, "shift")), np.atleast_1d(builder.known(axes, "axis")))
    for shift, axis in pairs:
        size = None if held.shape is None else held.shape[axis]
        if size is None:
            raise Unsupported("the size of the axis must be known when the model is converted")
        if shift % size:
            held = _swapped(builder, held, int(axis) % len(held.shape), size - int(shift) % size)
    builder.given(step.outputs[0], held)


def _swapped(builder, held, axis, place):
    """A tensor whose parts before and after a place have changed sides."""
    parts = []
    for begin, size in ((place, held.shape[axis] - place), (0, place)):
        begins, sizes = [0] * len(held.shape), [-1] * len(held.shape)
        begins[axis], sizes[axis] = begin, size
        dims = [*held.shape[:axis], size, *held.shape[axis + 1 :]]
        inputs = [held, builder.constant(begins, dtypes.int32), builder.constant(sizes, dtypes.int32)]
        parts.append(builder.compute("SLICE", inputs, dims, held.dtype, "SliceOptions"))
    return builder.compute("CONCATENATION", parts, held.shape, held.dtype, "ConcatenationOptions", axis=axis)


@converts("Cumprod")
def _running_product(builder, step):
    x, axis = step.inputs
    number = int(builder.known(axis, "axis"))
    held = builder.tensor(x)
    size = None if held.shape is None else held.shape[number]
    if size is None or not 0 < size <= _LONGEST_CHAIN:
        raise Unsupported(f"the size of the axis must be known, and at most {_LONGEST_CHAIN}")
    number %= len(held.shape)
    dims = held.shape[:number] + held.shape[number + 1 :]
    parts = [LiteTensor(f"{step.name}/part_{i}", held.dtype, dims) for i in range(size)]
    builder.emit("UNPACK", [held], parts, "UnpackOptions", num=size, axis=number)
    terms = [Term(builder, part) for part in parts]
    if step.attrs["reverse"]:
        terms.reverse()
    if step.attrs["exclusive"]:
        one = Term(builder, builder.compute("ZEROS_LIKE", [parts[0]], dims, held.dtype)) + 1
        terms = [one, *terms[:-1]]
    for place in range(1, size):
        terms[place] = terms[place] * terms[place - 1]
    if step.attrs["reverse"]:
        terms.reverse()
    builder.emit("PACK", [term.tensor for term in terms], step.outputs, "PackOptions", valuesCount=size, axis=number)


@converts("Size")
def _size(builder, step):
    output = step.outputs[0]
    number = 2 if output.dtype == dtypes.int32 else 4
    rank = step.inputs[0].shape.rank
    shape = builder.compute("SHAPE", step.inputs, [rank], output.dtype, "ShapeOptions", outType=number)
    axis = builder.constant(0, dtypes.int32)
    builder.emit("REDUCE_PROD", [shape, axis], [output], "ReducerOptions", keepDims=False)


@converts("ShapeN")
def _shapes(builder, step):
    for x, output in zip(step.inputs, step.outputs):
        number = 2 if output.dtype == dtypes.int32 else 4
        builder.emit("SHAPE", [x], [output], "ShapeOptions", outType=number)


@converts("BroadcastArgs")
def _common_shape(builder, step):
    builder.emit("BROADCAST_ARGS", step.inputs, step.outputs)


@converts("Bucketize")
def _buckets(builder, step):
    bounds = np.asarray(step.attrs["boundaries"], np.float32)
    builder.emit("BUCKETIZE", step.inputs, step.outputs, "BucketizeOptions", boundaries=bounds)


@converts("RandomUniform", "RandomStandardNormal")
def _random(builder, step):
    if step.outputs[0].dtype != dtypes.float32:
        raise Unsupported("only float32 is drawn")
    code = "RANDOM_UNIFORM" if step.type == "RandomUniform" else "RANDOM_STANDARD_NORMAL"
    seeds = {"seed": int(step.attrs["seed"]), "seed2": int(step.attrs["seed2"])}
    builder.emit(code, [builder.integers(step.inputs[0])], step.outputs, "RandomOptions", **seeds)


@converts("Multinomial")
def _sampled(builder, step):
    logits, count = step.inputs
    seeds = {"seed": int(step.attrs["seed"]), "seed2": int(step.attrs["seed2"])}
    builder.emit("MULTINOMIAL", [logits, builder.integers(count)], step.outputs, "RandomOptions", **seeds)


@converts("NonMaxSuppressionV4", "NonMaxSuppressionV5")
def _boxes(builder, step):
    if not step.attrs["pad_to_max_output_size"]:
        raise Unsupported("pad_to_max_output_size must be True")
    code = "NON_MAX_SUPPRESSION_V4" if step.type.endswith("4") else "NON_MAX_SUPPRESSION_V5"
    builder.emit(code, step.inputs, step.outputs, f"{step.type}Options")


@converts("NonMaxSuppressionV3")
def _fewer_boxes(builder, step):
    padded = LiteTensor(f"{step.name}/padded", dtypes.int32, [None])
    count = LiteTensor(f"{step.name}/count", dtypes.int32, [])
    builder.emit("NON_MAX_SUPPRESSION_V4", step.inputs, [padded, count], "NonMaxSuppressionV4Options")
    begin = builder.constant([0], dtypes.int32)
    builder.emit("SLICE", [padded, begin, builder.vector(count)], step.outputs, "SliceOptions")


@converts("Real", "Imag", "ComplexAbs")
def _part_of_complex(builder, step):
    code = {"Real": "REAL", "Imag": "IMAG", "ComplexAbs": "COMPLEX_ABS"}[step.type]
    builder.emit(code, step.inputs, step.outputs)


@converts("RFFT2D")
def _spectra(builder, step):
    builder.emit("RFFT2D", [step.inputs[0], builder.integers(step.inputs[1])], step.outputs, "Rfft2dOptions")


@converts("RFFT")
def _spectrum(builder, step):
    """The spectrum of rows is that of matrices with one row."""
    x, length = step.inputs
    held = builder.tensor(x)
    count = int(np.ravel(builder.known(length, "the length"))[0])
    if held.shape is None or held.shape[-1] != count or count & (count - 1):
        raise Unsupported("the length must be that of the rows, and a power of two")
    place = builder.constant(-2, dtypes.int32)
    rows = builder.compute("EXPAND_DIMS", [held, place], [*held.shape[:-1], 1, count], held.dtype, "ExpandDimsOptions")
    sizes = builder.constant([1, count], dtypes.int32)
    made = builder.compute(
        "RFFT2D", [rows, sizes], [*held.shape[:-1], 1, count // 2 + 1], dtypes.complex64, "Rfft2dOptions"
    )
    builder.emit("SQUEEZE", [made], step.outputs, "SqueezeOptions", squeezeDims=np.array([-2], np.int32))


@converts("BitwiseXor", "RightShift", "Bitcast")
def _bits(builder, step):
    code, kind = {
        "BitwiseXor": ("BITWISE_XOR", "BitwiseXorOptions"), "RightShift": ("RIGHT_SHIFT", "RightShiftOptions"),
        "Bitcast": ("BITCAST", "BitcastOptions"),
    }[step.type]  # fmt: skip
    builder.emit(code, step.inputs, step.outputs, kind)


@converts("DenseBincount")
def _counts(builder, step):
    """How often each number is there: a sum of rows with a single one."""
    x, size, weights = step.inputs
    held, weighed = builder.tensor(x), builder.tensor(weights)
    if held.shape is None or weighed.shape is None or None in weighed.shape:
        raise Unsupported("shapes must be known when the model is converted")
    dtype = step.outputs[0].dtype
    dims = [*held.shape, None]
    inputs = [builder.integers(x), builder.integers(size)]
    inputs += [builder.constant(number, dtype) for number in (1, 0)]
    rows = Term(builder, builder.compute("ONE_HOT", inputs, dims, dtype, "OneHotOptions", axis=-1))
    binary = bool(step.attrs["binary_output"])
    if 0 not in weighed.shape and not binary:
        last = builder.constant(-1, dtypes.int32)
        factors = builder.compute("EXPAND_DIMS", [weighed, last], [*weighed.shape, 1], dtype, "ExpandDimsOptions")
        rows = rows * Term(builder, factors)
    axis = builder.constant(len(held.shape) - 1, dtypes.int32)
    code = "REDUCE_MAX" if binary else "SUM"
    builder.emit(code, [rows.tensor, axis], step.outputs, "ReducerOptions", keepDims=False)
