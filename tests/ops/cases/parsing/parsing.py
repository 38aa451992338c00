"""Rows of `ops/parsing*.py`: Examples, raw bytes, CSV, JSON, tensors and other messages."""

import json
import struct

from rows import each, integers, normal, row, value


def varint(number):
    number &= 2**64 - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(values):
    """A list of ints, floats or bytes as an encoded Feature; None is a Feature without values."""
    if values is None:
        return b""
    if all(isinstance(v, int) for v in values) and values:
        return field(3, field(1, b"".join(varint(v) for v in values)))
    if all(isinstance(v, float) for v in values) and values:
        return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))
    return field(1, b"".join(field(1, v) for v in values))


def features(pairs):
    return b"".join(field(1, field(1, key.encode()) + field(2, feature(values))) for key, values in pairs.items())


def example(**pairs):
    return field(1, features(pairs))


def raw_example(*pairs):
    """From pairs of a key and an encoded Feature."""
    return field(1, b"".join(field(1, field(1, key.encode()) + field(2, data)) for key, data in pairs))


def sequence(context, **lists):
    entries = b"".join(
        field(1, field(1, key.encode()) + field(2, b"".join(field(1, feature(item)) for item in items)))
        for key, items in lists.items()
    )
    return field(1, features(context)) + field(2, entries)


A = example(i=[1, 2], f=[1.0, 2.5, -3.0], b=[b"x"], r=[1, 2, 3, 4], p=[0, 2, 4], n=[-1], q=[2, 2], k=[b"k1", b"", b"k3"])
B = example(i=[3, 4], b=[b"y\0\xff"], r=[5], p=[0, 1], n=[2**40], q=[1], f=[0.5, 0.25, 0.125])
EMPTY = example()
NOTHING = b""
INT, FLOAT, STRING = "tf.int64", "tf.float32", "tf.string"


def parsed(features_code, *records, **options):
    return row(f"tf.io.parse_example(a, {{{features_code}}})", a=value(list(records)), grad=False, lower=False, **options)


def single(features_code, record, **options):
    return row(
        f"tf.io.parse_single_example(a, {{{features_code}}})", a=value(record), grad=False, lower=False, **options
    )


RAGGED = "tf.io.RaggedFeature"
FIXED = [
    parsed("'i': tf.io.FixedLenFeature([2], tf.int64)", A, B),
    parsed("'i': tf.io.FixedLenFeature([2, 1], tf.int64), 'b': tf.io.FixedLenFeature([], tf.string), "
           "'f': tf.io.FixedLenFeature([3], tf.float32)", A, B),
    parsed("'n': tf.io.FixedLenFeature([], tf.int64)", A, B),
    parsed("'i': tf.io.FixedLenFeature([2], tf.int64)", A, EMPTY),
    parsed("'i': tf.io.FixedLenFeature([2], tf.int64, default_value=[7, 8])", A, EMPTY, NOTHING, B),
    parsed("'zz': tf.io.FixedLenFeature([], tf.string, 'd'), 'yy': tf.io.FixedLenFeature([2], tf.float32, [1., 2.])",
           A, EMPTY),
    parsed("'i': tf.io.FixedLenFeature([2], tf.int64, default_value=7)", A),
    parsed("'i': tf.io.FixedLenFeature([2], tf.int64, default_value=[1, 2, 3])", A),
    parsed("'i': tf.io.FixedLenFeature([2], tf.int64, default_value=[1.5, 2])", A),
    parsed("'i': tf.io.FixedLenFeature([3], tf.int64)", A, B),
    parsed("'i': tf.io.FixedLenFeature([2], tf.float32)", A, B),
    parsed("'b': tf.io.FixedLenFeature([1], tf.int64)", A, B),
    parsed("'i': tf.io.FixedLenFeature([None], tf.int64)", A),
    parsed("'i': tf.io.FixedLenFeature([2], tf.int32)", A),
    parsed("'i': tf.io.FixedLenFeature([2], None)", A),
    parsed("'i': tf.io.FixedLenFeature(None, tf.int64)", A),
    parsed("'i': 3", A),
    parsed("", A),
    parsed("'i': tf.io.FixedLenFeature([2], tf.int64)", A, raw_example(("i", b""))),
    parsed("'i': tf.io.FixedLenFeature([2], tf.int64, [0, 0])", A, raw_example(("i", b""))),
    parsed("'i': tf.io.FixedLenFeature([1], tf.int64, [0])", raw_example(("i", field(3, b"")))),
    parsed("'i': tf.io.FixedLenFeature([0], tf.int64)", raw_example(("i", field(3, b"")))),
    row("tf.io.parse_example(a, {'i': tf.io.FixedLenFeature([2], tf.int64)}, example_names=['A', 'B'])",
        a=value([A, EMPTY]), grad=False, lower=False),
    row("tf.io.parse_example(a, {'i': tf.io.FixedLenFeature([2], tf.int64)}, example_names=['A'])",
        a=value([A, B]), grad=False, lower=False),
    row("tf.io.parse_example(a, {'i': tf.io.FixedLenFeature([2], tf.int64)})", a=value([[A], [B]]), grad=False,
        lower=False),
    row("tf.io.parse_example(a[:0], {'i': tf.io.FixedLenFeature([2], tf.int64), 'v': tf.io.VarLenFeature(tf.float32), "
        "'r': tf.io.RaggedFeature(tf.string)})", a=value([A]), grad=False, lower=False),
    row("tf.io.parse_example(a, {'i': tf.io.FixedLenFeature([2], tf.int64)})", a=value(A), grad=False, lower=False),
    row("tf.io.parse_single_example(a, {'i': tf.io.FixedLenFeature([2], tf.int64)})", a=value([A]), grad=False,
        lower=False),
    single("'i': tf.io.FixedLenFeature([2], tf.int64), 'f': tf.io.FixedLenFeature([3, 1], tf.float32), "
           "'b': tf.io.FixedLenFeature([], tf.string), 'd': tf.io.FixedLenFeature([], tf.string, 'x')", A),
    single("'i': tf.io.FixedLenFeature([2], tf.int64)", EMPTY),
    single("'i': tf.io.FixedLenFeature([3], tf.int64)", A),
    single("'i': tf.io.FixedLenFeature([2], tf.string)", A),
    single("'i': tf.io.FixedLenFeature([2], tf.int64)", example(i=[1, 2])[:-3]),
]  # fmt: skip

VARIABLE = [
    parsed("'i': tf.io.VarLenFeature(tf.int64), 'f': tf.io.VarLenFeature(tf.float32), 'k': tf.io.VarLenFeature(tf.string)",
           A, B, EMPTY, NOTHING),
    parsed("'zz': tf.io.VarLenFeature(tf.string)", A, B),
    parsed("'i': tf.io.VarLenFeature(tf.float32)", A),
    parsed("'i': tf.io.VarLenFeature(None)", A),
    single("'k': tf.io.VarLenFeature(tf.string), 'zz': tf.io.VarLenFeature(tf.int64)", A),
    parsed("'i': tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True), "
           "'f': tf.io.FixedLenSequenceFeature([3], tf.float32, allow_missing=True, default_value=9.)", A, B, EMPTY),
    parsed("'k': tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value='-')", A, B, EMPTY),
    parsed("'r': tf.io.FixedLenSequenceFeature([1], tf.int64, allow_missing=True)", A, B),
    parsed("'r': tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)", A, B),
    parsed("'r': tf.io.FixedLenSequenceFeature([], tf.int64)", A, B),
    single("'r': tf.io.FixedLenSequenceFeature([2], tf.int64, True), 'z': tf.io.FixedLenSequenceFeature([2], tf.string, True)",
           A),
    parsed("'s': tf.io.SparseFeature('ix', 'v', tf.float32, 4)", example(ix=[3, 1], v=[1.0, 2.0]),
           example(ix=[0], v=[5.0]), EMPTY),
    parsed("'s': tf.io.SparseFeature('ix', 'v', tf.float32, 4, already_sorted=True)", example(ix=[3, 1], v=[1.0, 2.0])),
    parsed("'s': tf.io.SparseFeature(['ix', 'iy'], 'v', tf.string, [4, 5])", example(ix=[3, 1], iy=[0, 2], v=[b"p", b"q"])),
    parsed("'s': tf.io.SparseFeature('ix', 'v', tf.float32, 4)", example(ix=[3], v=[1.0, 2.0])),
    parsed("'s': tf.io.SparseFeature('ix', 'v', tf.float32, 4), 'v': tf.io.VarLenFeature(tf.float32)",
           example(ix=[3, 0], v=[1.0, 2.0])),
    single("'s': tf.io.SparseFeature(['ix'], 'v', tf.float32, [4])", example(ix=[3, 1], v=[1.0, 2.0])),
]  # fmt: skip

RAGGED_ROWS = [
    parsed("'i': tf.io.RaggedFeature(tf.int64), 'k': tf.io.RaggedFeature(tf.string, row_splits_dtype=tf.int64)",
           A, B, EMPTY, NOTHING),
    parsed("'x': tf.io.RaggedFeature(tf.float32, value_key='f')", A, EMPTY),
    single("'i': tf.io.RaggedFeature(tf.int64), 'zz': tf.io.RaggedFeature(tf.string)", A),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowSplits('p')])", A, B, EMPTY),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowSplits('p')], row_splits_dtype=tf.int64)", A, B),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowLengths('q')])", A, B, EMPTY),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowStarts('s')])", example(r=[1, 2, 3], s=[0, 2, 2]), EMPTY,
           example(r=[4], s=[0])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowLimits('s')])", example(r=[1, 2, 3], s=[2, 2, 3]), EMPTY,
           example(r=[4], s=[1])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.ValueRowIds('s')])", example(r=[1, 2, 3], s=[0, 0, 2]), EMPTY,
           example(r=[4], s=[1])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.UniformRowLength(2)])", A, example(r=[1, 2])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.UniformRowLength(2)])", A, B),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.UniformRowLength(2), {RAGGED}.RowSplits('s')])",
           example(r=[1, 2, 3], s=[0, 1, 3])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowSplits('s'), {RAGGED}.RowLengths('t')])",
           example(r=[1, 2, 3, 4], s=[0, 1, 2], t=[2, 2]), example(r=[5], s=[0, 1], t=[1])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowLengths('s'), {RAGGED}.UniformRowLength(2)])",
           example(r=[1, 2, 3, 4], s=[1, 1]), example(r=[5, 6], s=[1])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowSplits('s')])", example(r=[1, 2, 3, 4], s=[0, 1, 2])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowSplits('s')], validate=True)", example(r=[1, 2, 3, 4], s=[0, 1, 2])),
    parsed(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowSplits('p')]), 'p': tf.io.FixedLenFeature([3], tf.int64)", A),
    parsed("'q': tf.io.RaggedFeature(tf.int64, 'i'), 'w': tf.io.RaggedFeature(tf.float32, 'i')", A),
    *[single(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.{kind}])", example(r=[1, 2, 3, 4], s=list(stored)))
      for kind, stored in (("RowSplits('s')", (0, 3, 4)), ("RowLengths('s')", (1, 3)), ("RowStarts('s')", (0, 1)),
                           ("RowLimits('s')", (1, 4)), ("ValueRowIds('s')", (0, 0, 1, 1)), ("UniformRowLength(2)", (0,)))],
    single(f"'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.UniformRowLength(1), {RAGGED}.RowSplits('s')])",
           example(r=[1, 2, 3], s=[0, 1, 3])),
    row("tf.io.RaggedFeature(tf.int64, 'r', ['p'])", grad=False),
    row("tf.io.RaggedFeature(tf.int64, 'r', [2])", grad=False),
    row("tf.io.RaggedFeature(tf.int64, 'r', row_splits_dtype=tf.float32)", grad=False),
    row("str(tf.io.RaggedFeature(tf.int64, 'r', [tf.io.RaggedFeature.RowSplits('p')])), "
        "str(tf.io.FixedLenFeature([], tf.int64)), str(tf.io.VarLenFeature(tf.string)), "
        "str(tf.io.SparseFeature('a', 'b', tf.int64, 3)), str(tf.io.FixedLenSequenceFeature([], tf.int64))", grad=False),
]  # fmt: skip

ONE = field(3, field(1, b"\x05"))
ENCODINGS = [
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", ONE), ("a", field(3, field(1, b"\x07"))))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", field(1, field(1, field(2, ONE) + field(1, b"a")))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", ONE)) + field(9, b"hello") + b"\x28\x05"),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("b", ONE)) + raw_example(("a", ONE))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", field(3, b"\x08\x05\x08\x96\x01")))),
    parsed("'a': tf.io.VarLenFeature(tf.float32)", raw_example(("a", field(2, b"\x0d\0\0\x80\x3f\x0d\0\0\0\x40")))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", field(3, field(1, b""))))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", ONE + field(9, b"x")))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", field(3, field(1, b"\xff" * 9 + b"\x01"))))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", field(3, field(1, b"\xff" * 10 + b"\x01"))))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", field(3, field(1, b"\x85\x00"))))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", field(3, field(1, b"\x85"))))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("b", field(3, b"\x85")))),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", raw_example(("a", ONE))[:-1]),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", b"\x0a\x7f\x0a"),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", b"\x08\x05"),
    parsed("'a': tf.io.VarLenFeature(tf.int64)", *[example(a=list(range(n)), c=[b"x" * n]) for n in range(40)]),
    parsed("'a': tf.io.FixedLenFeature([], tf.string), 'n': tf.io.FixedLenFeature([], tf.int64)",
           *[example(n=[n * 37], a=[bytes([n]) * (n * 9)]) for n in range(40)]),
    parsed("'a': tf.io.VarLenFeature(tf.string), 'n': tf.io.FixedLenFeature([], tf.int64, -1)",
           *[example(**dict([("n", [n]), ("a", [b"s" * i for i in range(n % 5)])][:: 1 if n % 2 else -1][: 1 + n % 3 % 2]))
             for n in range(1, 50)]),
]  # fmt: skip

S = "tf.io.FixedLenSequenceFeature"
SA = sequence({"i": [1, 2], "b": [b"x"]}, l=[[1, 2], [3, 4]], s=[[b"p"], [b"q", b"r"], []], f=[[1.0], [2.0]])
SB = sequence({"i": [3, 4]}, l=[[5, 6]], s=[])
SC = sequence({})


def sequences(context, lists, *records, **options):
    return row(f"tf.io.parse_sequence_example(a, {context}, {lists})", a=value(list(records)), grad=False, lower=False,
               **options)  # fmt: skip


def single_sequence(context, lists, record, **options):
    return row(f"tf.io.parse_single_sequence_example(a, {context}, {lists})", a=value(record), grad=False, lower=False,
               **options)  # fmt: skip


SEQUENCES = [
    sequences("{'i': tf.io.FixedLenFeature([2], tf.int64)}", f"{{'l': {S}([2], tf.int64)}}", SA, SB),
    sequences("None", f"{{'l': {S}([2], tf.int64)}}", SA, SB, SC),
    sequences("None", f"{{'l': {S}([2], tf.int64, allow_missing=True)}}", SA, SB, SC),
    sequences("None", f"{{'l': {S}([2], tf.int64, allow_missing=True)}}", SC, b""),
    sequences("None", f"{{'l': {S}([2], tf.int64, True, 1)}}", SA),
    sequences("None", f"{{'l': {S}([3], tf.int64)}}", SA),
    sequences("None", f"{{'l': {S}([2], tf.float32)}}", SA),
    sequences("None", f"{{'f': {S}([], tf.float32)}}", SA),
    sequences("None", f"{{'f': {S}([None], tf.float32)}}", SA),
    sequences("{'i': tf.io.VarLenFeature(tf.int64)}",
              "{'s': tf.io.VarLenFeature(tf.string), 'f': tf.io.VarLenFeature(tf.float32)}", SA, SB, SC),
    sequences("{'i': tf.io.RaggedFeature(tf.int64)}",
              "{'s': tf.io.RaggedFeature(tf.string), 'l': tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)}",
              SA, SB, SC),
    sequences("{'i': tf.io.FixedLenFeature([2], tf.int64)}", "None", SA, SC),
    sequences("{'i': tf.io.FixedLenFeature([2], tf.int64, [8, 9])}", "None", SA, SC),
    sequences("{'i': tf.io.FixedLenFeature([3], tf.int64)}", "None", SA),
    sequences("None", "None", SA),
    sequences("{'i': 3}", "None", SA),
    sequences(f"{{'i': {S}([], tf.int64)}}", "None", SA),
    sequences("None", "{'l': tf.io.FixedLenFeature([], tf.int64)}", SA),
    sequences("None", "{'m': tf.io.VarLenFeature(tf.int64)}", sequence({}, m=[[1], [1.0]])),
    sequences("None", f"{{'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowLengths('p')])}}",
              sequence({}, r=[[1, 2, 3], [4]], p=[[1, 2], [1]]), sequence({}, r=[[5]], p=[[1]])),
    sequences("None", f"{{'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.UniformRowLength(2)])}}", sequence({}, r=[[1, 2], [3, 4]])),
    sequences(f"{{'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowLengths('p')])}}", "None", sequence({"r": [1, 2, 3], "p": [1, 2]})),
    sequences("{'i': tf.io.FixedLenFeature([2], tf.int64)}", "None", b"\x0a\x05ab"),
    sequences("{'n': tf.io.FixedLenFeature([], tf.int64)}", "{'l': tf.io.VarLenFeature(tf.int64)}",
              *[sequence({"n": [n]}, l=[[n, i] for i in range(n % 7)]) for n in range(40)]),
    row("tf.io.parse_sequence_example(a, {'i': tf.io.FixedLenFeature([2], tf.int64)}, {'l': tf.io.FixedLenSequenceFeature("
        "[2], tf.int64)})", a=value(SA), grad=False, lower=False),
    single_sequence("{'i': tf.io.FixedLenFeature([2], tf.int64)}", f"{{'l': {S}([2], tf.int64)}}", SA),
    single_sequence("{'i': tf.io.VarLenFeature(tf.int64)}", "{'s': tf.io.VarLenFeature(tf.string)}", SA),
    single_sequence("{'i': tf.io.RaggedFeature(tf.int64)}", "{'s': tf.io.RaggedFeature(tf.string)}", SA),
    single_sequence("None", f"{{'l': {S}([2], tf.int64)}}", SC),
    single_sequence("None", f"{{'l': {S}([2], tf.int64, True)}}", SC),
    single_sequence("None", "{'s': tf.io.VarLenFeature(tf.string), 'r': tf.io.RaggedFeature(tf.string)}", SC),
    single_sequence("None", f"{{'r': {RAGGED}(tf.int64, 'r', [{RAGGED}.RowLengths('p')])}}",
                    sequence({}, r=[[1, 2, 3], [4]], p=[[1, 2], [1]])),
    row("tf.io.parse_single_sequence_example(a, {'i': tf.io.VarLenFeature(tf.int64)})", a=value([SA]), grad=False,
        lower=False),
    row("tf.raw_ops.ParseSingleExample(serialized=a, dense_defaults=[tf.constant([], tf.int64)], num_sparse=1, "
        "sparse_keys=['f'], dense_keys=['i'], sparse_types=[tf.float32], dense_shapes=[[2]])", a=value(A), grad=False,
        lower=False),
    row("tf.raw_ops.ParseExample(serialized=a, names=[], sparse_keys=['f'], dense_keys=['i'], dense_defaults=["
        "tf.constant([], tf.int64)], sparse_types=[tf.float32], dense_shapes=[[2]])", a=value([A, B]), grad=False,
        lower=False),
    row("tf.raw_ops.ParseExampleV2(serialized=a, names=[], sparse_keys=['f'], dense_keys=['i'], ragged_keys=['k'], "
        "dense_defaults=[tf.constant([], tf.int64)], num_sparse=1, sparse_types=[tf.float32], ragged_value_types=["
        "tf.string], ragged_split_types=[tf.int32], dense_shapes=[[2]])", a=value(A), grad=False, lower=False),
    row("tf.raw_ops.ParseSingleSequenceExample(serialized=a, feature_list_dense_missing_assumed_empty=['zz'], "
        "context_sparse_keys=['b'], context_dense_keys=['i'], feature_list_sparse_keys=['s'], feature_list_dense_keys=["
        "'l', 'zz'], context_dense_defaults=[tf.constant([], tf.int64)], debug_name='n', context_sparse_types=["
        "tf.string], feature_list_dense_types=[tf.int64, tf.float32], context_dense_shapes=[[2]], "
        "feature_list_sparse_types=[tf.string], feature_list_dense_shapes=[[2], [3]])", a=value(SA), grad=False, lower=False),
    row("tf.raw_ops.ParseSequenceExample(serialized=a, debug_name=[], context_dense_defaults=[tf.constant([], tf.int64)], "
        "Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=2, "
        "feature_list_dense_missing_assumed_empty=['zz'], context_sparse_keys=['b'], context_dense_keys=['i'], "
        "feature_list_sparse_keys=['s'], feature_list_dense_keys=['l', 'zz'], context_sparse_types=[tf.string], "
        "feature_list_dense_types=[tf.int64, tf.float32], context_dense_shapes=[[2]], feature_list_sparse_types=["
        "tf.string], feature_list_dense_shapes=[[2], [3]])", a=value([SA, SB]), grad=False, lower=False),
    row("tf.compat.v1.io.parse_example(a, {'i': tf.io.FixedLenFeature([2], tf.int64)}, 'name', ['x', 'y'])",
        a=value([A, B]), grad=False, lower=False),
    row("tf.compat.v1.parse_single_example(a, {'i': tf.compat.v1.FixedLenFeature([2], tf.int64)}, 'name')", a=value(A),
        grad=False, lower=False),
]  # fmt: skip

RAW_TYPES = "float16 float32 float64 int32 uint16 uint8 int16 int8 int64 complex64 complex128 bool bfloat16"
BYTES16 = bytes(range(60, 76))
RAW = [
    *each(RAW_TYPES + " uint32 string", "tf.io.decode_raw(a, '{T}')", a=value([BYTES16, BYTES16[::-1]]), grad=False),
    *each("float16 float32 float64 int16 int64 complex64 complex128 bool bfloat16 uint8",
          "tf.io.decode_raw(a, '{T}', little_endian=False)", a=value([BYTES16, BYTES16[::-1]]), grad=False),
    *each("float32 int16 uint8 bfloat16 int64 bool complex64",
          "tf.io.decode_raw(a, '{T}', fixed_length=8), tf.io.decode_raw(a, '{T}', False, 8)",
          a=value([b"\x01\x02\x03", b"", b"0123456789"]), grad=False),
    row("tf.io.decode_raw(a, tf.uint8)", a=value(b"\x01\x02"), grad=False),
    row("tf.io.decode_raw(a, tf.uint8)", a=value([[b"\x01"], [b"\x02"]]), grad=False),
    row("tf.io.decode_raw(a, tf.int16)", a=value([b"\x01\x02\x03"]), grad=False),
    row("tf.io.decode_raw(a, tf.uint8)", a=value([b"\x01\x02", b"\x01"]), grad=False),
    row("tf.io.decode_raw(a, tf.uint8), tf.io.decode_raw(a[:0], tf.int16)", a=value([b"", b""]), grad=False),
    row("tf.io.decode_raw(a, tf.int16, fixed_length=3)", a=value([b"ab"]), grad=False),
    row("tf.io.decode_raw(a, tf.int16, fixed_length=0)", a=value([b"ab"]), grad=False),
    row("tf.io.decode_raw(a, tf.int16, fixed_length=-2)", a=value([b"ab"]), grad=False),
    row("tf.io.decode_raw(a[:0], tf.int16, fixed_length=4)", a=value([b"ab"]), grad=False),
    row("tf.compat.v1.decode_raw(bytes=a, out_type=tf.uint8)", a=value([b"ab"]), grad=False),
    row("tf.compat.v1.decode_raw(a, tf.int16, False)", a=value([b"ab"]), grad=False),
]  # fmt: skip


def csv(lines, defaults, options=""):
    return row(f"tf.io.decode_csv(a, {defaults}{options})", a=value(lines), grad=False, lower=False)


CSV = [
    csv(["1,2.5,a", "3,4,b"], "[[0], [0.], ['']]"), csv("1,2", "[[0], [0]]"), csv([["1,2"], ["3,4"]], "[[0], [0]]"),
    csv([",,", "1,2,x"], "[[7], [1.5], ['x']]"), csv(["1,"], "[[0], tf.constant([], tf.int32)]"),
    csv(["1,2"], "[[0], tf.constant([], tf.int32)]"), csv(["1"], "[[0], [0]]"), csv(["1,2,3"], "[[0], [0]]"),
    csv(['"a,b",c', '"x""y",z'], "[[''], ['']]"), csv(['"a\nb",c'], "[[''], ['']]"), csv(["a\nb,c"], "[[''], ['']]"),
    csv(['a"b,c'], "[[''], ['']]"), csv(['"ab,c'], "[[''], ['']]"), csv(['"a"b,c'], "[[''], ['']]"),
    csv(['"a,b",c'], "[[''], [''], ['']]", ", use_quote_delim=False"),
    csv(['a"b\nc,d'], "[[''], ['']]", ", use_quote_delim=False"), csv(['"1","2.5"'], "[[0], [0.]]"),
    csv(['"",""'], "[[5], ['d']]"), csv([""], "[['d']]"), csv([" 1 , 2.5 , a "], "[[0], [0.], ['']]"),
    csv([' "a",b'], "[[''], ['']]"), csv(["NA,1", ",2"], "[[5], [0]]", ", na_value='NA'"),
    csv(['"NA",1'], "[['d'], [0]]", ", na_value='NA'"), csv(["1|2"], "[[0], [0]]", ", field_delim='|'"),
    csv(["1\t2"], "[[0], [0]]", ", field_delim='\\t'"), csv(["1||2"], "[[0], [0]]", ", field_delim='||'"),
    csv(["12"], "[[0], [0]]", ", field_delim=''"), csv(['1"2'], "[[0], [0]]", ", field_delim='\"'"),
    csv(["1\n2"], "[[0], [0]]", ", field_delim='\\n'"), csv(["1,2,3,4"], "[[0], [0]]", ", select_cols=[1, 3]"),
    csv(["1,2,3,4"], "[[0], [0]]", ", select_cols=[1]"), csv(["1,2,3,4"], "[[0], [0]]", ", select_cols=[3, 1]"),
    csv(["1,2,3,4"], "[[0], [0]]", ", select_cols=[1, 1]"), csv(["1,2,3,4"], "[[0], [0]]", ", select_cols=[-1, 1]"),
    csv(["1,2"], "[[0]]", ", select_cols=[5]"), csv(["xx,2"], "[[0]]", ", select_cols=[1]"),
    csv(["1,2,3", "4,5"], "[[0]]", ", select_cols=[1]"), csv(['1,2,"x'], "[[0]]", ", select_cols=[1]"),
    *[csv([text], "[[0]]") for text in ("x", "1.5", "3000000000", "+5", "0x10", "1_0", "-2147483648", "1e3", "--1")],
    *[csv([text], "[tf.constant([0], tf.int64)]") for text in ("3000000000", "9223372036854775807", "9223372036854775808")],
    *[csv([text], "[[0.]]") for text in ("1e3", "1_0.5", "0x10", "1e400", "1.5x", "nan", "-Infinity", ".5", "0.1", "1e-50",
                                         "16777217", "1.00000017881393432617187499")],
    csv(["0.1,1e308"], "[tf.constant([0.], tf.float64), tf.constant([0.], tf.float64)]"),
    csv(["1"], "[tf.constant([True])]"), csv(["1"], "[[1, 2]]"), csv(["1,"], "[1, 2]"), csv([",1"], "[[[1]], [1]]"),
    csv(["1"], "[]"), csv(["a,b\r"], "[[''], ['']]"), csv(['a,"b"\r'], "[[''], ['']]"), csv(["a,"], "[[''], ['z']]"),
    csv(['"a",'], "[[''], ['z']]"), csv([b"\xc3\xa9,\xff"], "[[''], ['']]"), csv(['"'], "[['']]"), csv(['""""'], "[['']]"),
    row("tf.io.decode_csv(a[:0], [[0], ['']])", a=value(["1,2"]), grad=False, lower=False),
    row("tf.compat.v1.decode_csv(a, [[0], [0]], ',', True, 'name', 'NA', [0, 2])", a=value(["1,2,NA"]), grad=False,
        lower=False),
]  # fmt: skip


def from_json(content, features_code="'a': tf.io.VarLenFeature(tf.int64)"):
    text = content if isinstance(content, str) else json.dumps(content)
    code = f"tf.io.parse_single_example(tf.io.decode_json_example(a), {{{features_code}}})"
    return row(code, a=value(text), grad=False, lower=False)


def in_json(kind, *values):
    return {"features": {"feature": {"a": {kind: {"value": list(values)}}}}}


JSON = [
    from_json(in_json("int64List", "1", 2, 3.0, "-9223372036854775808")), from_json(in_json("int64_list", 1)),
    from_json(in_json("floatList", 1, 2.5, "NaN", "Infinity", "-Infinity", "3.5"), "'a': tf.io.VarLenFeature(tf.float32)"),
    from_json(in_json("bytesList", "aGVsbG8=", "_-8", ""), "'a': tf.io.VarLenFeature(tf.string)"),
    from_json("{}"), from_json('{"foo": 1}'), from_json("{"), from_json('{"features": null}'),
    from_json(in_json("int64List", 1.5)), from_json(in_json("int64List", "9223372036854775808")),
    from_json(in_json("int64List", True)), from_json(in_json("bytesList", "!!")), from_json("[]"), from_json(""),
    from_json("{} x"), from_json('{"features": {"feature": {"a": {"int64List": {"value": [1]}, "floatList": {"value": [1]}}}}}'),
    from_json('{"features": {"feature": {"a": {"int64List": {"value": null}}}}}'),
    from_json(in_json("floatList", 1e40)),
    row("tf.io.decode_json_example(a)", a=value([["{}"], ["{}"]]), grad=False, lower=False),
    *[row("tf.io.decode_json_example(a)", a=value(json.dumps(in_json(kind, 7, 260, -1))), grad=False, lower=False)
      for kind in ("int64List", "floatList")],
]  # fmt: skip

NUMBERS = "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128"
TENSORS = [
    *each(NUMBERS, "b = tf.io.serialize_tensor(a)\nresult = b, tf.io.parse_tensor(b, tf.{T}), tf.io.serialize_tensor(a[0, 0]), "
          "tf.io.serialize_tensor(a[:0])", a=normal(2, 3), grad=False, lower=False),
    row("b = tf.io.serialize_tensor(a)\nresult = b, tf.io.parse_tensor(b, tf.string), tf.io.serialize_tensor(a[0]), "
        "tf.io.serialize_tensor(a[:0])", a=value([b"a", b"bcd", b""]), grad=False, lower=False),
    row("tf.io.parse_tensor(tf.io.serialize_tensor(a), tf.int32)", a=normal(3), grad=False, lower=False),
    *[row("tf.io.parse_tensor(a, tf.float32)", a=value(data), grad=False, lower=False)
      for data in (b"junk", b"", b"\x08\x01\x12\x04\x12\x02\x08\x03\x2a\x04\0\0\0\x40", b"\x08\x01\x12\x04\x12\x02\x08\x03",
                   b"\x08\x01\x12\x04\x12\x02\x08\x03\x22\x05\0\0\0\x40\0",
                   b"\x08\x01\x12\x0c\x12\x0a\x08" + b"\xff" * 8 + b"\x0f")],
    row("tf.io.parse_tensor(a, tf.float32)", a=value([b"", b""]), grad=False, lower=False),
    row("tf.compat.v1.parse_tensor(tf.compat.v1.serialize_tensor(a), tf.int32)", a=integers(0, 9, 3), grad=False,
        lower=False),
]  # fmt: skip

# p.M { optional int32 a = 1; repeated int64 b = 2 [packed]; optional string c = 3 [default "zz"]; repeated M d = 4;
#       optional double e = 5; repeated sint32 f = 6; optional fixed32 g = 7; optional bool h = 8; optional float i = 9; }
LABELS = {"optional": 1, "repeated": 3}


def declared(name, number, label, kind, **extra):
    out = field(1, name.encode()) + b"\x18" + varint(number) + b"\x20" + bytes([LABELS[label]]) + b"\x28" + bytes([kind])
    if "type_name" in extra:
        out += field(6, extra["type_name"])
    if "default" in extra:
        out += field(7, extra["default"])
    return field(2, out + (field(8, b"\x10\x01") if extra.get("packed") else b""))


MESSAGE = field(1, b"M") + b"".join([
    declared("a", 1, "optional", 5), declared("b", 2, "repeated", 3, packed=True),
    declared("c", 3, "optional", 9, default=b"zz"), declared("d", 4, "repeated", 11, type_name=b".p.M"),
    declared("e", 5, "optional", 1), declared("f", 6, "repeated", 17), declared("g", 7, "optional", 7),
    declared("h", 8, "optional", 8), declared("i", 9, "optional", 2),
])  # fmt: skip
FILE = field(1, field(1, b"t.proto") + field(2, b"p") + field(4, MESSAGE))
M1 = (b"\x08\x85\x01" + field(2, b"\x01\x02\xff\x01") + field(3, b"s") + field(4, b"\x08\x02") + field(4, b"")
      + b"\x29" + struct.pack("<d", 1.5) + b"\x30\x03\x30\x04" + b"\x3d\x07\0\0\0" + b"\x40\x01" + b"\x4d\0\0\x80\x3f")  # fmt: skip
M2 = b"\x10\x05\x08\x01\x08\x02"
SOURCE = f"descriptor_source={b'bytes://' + FILE!r}"


def decoded(names, types, data=(M1, M2), options="", source=SOURCE, message="p.M"):
    code = f"tf.io.decode_proto(a, '{message}', {names}, {types}, {source}{options})"
    return row(code, a=value(list(data) if isinstance(data, tuple) else data), grad=False, lower=False)


def encoded(sizes, values, names, message="'p.M'", source=SOURCE):
    code = f"tf.io.encode_proto({sizes}, {values}, {names}, {message}, {source})"
    return row(code, grad=False, lower=False)


PROTOS = [
    decoded(["a", "b", "c", "d"], "[tf.int32, tf.int64, tf.string, tf.string]"),
    decoded(["e", "f", "g", "h", "i"], "[tf.float64, tf.int32, tf.uint32, tf.bool, tf.float32]"),
    decoded(["a", "f", "g", "i"], "[tf.int64, tf.int64, tf.uint64, tf.float64]"),
    decoded(["a"], "[tf.float32]"), decoded(["a"], "[tf.int32, tf.int32]"), decoded(["zz"], "[tf.int32]"),
    decoded(["a"], "[tf.int32]", message="p.N"), decoded(["a"], "[tf.int32]", (b"\xff\xff",)),
    decoded(["a"], "[tf.int32]", (M1[:-2],)), decoded(["a"], "[tf.int32]", source="descriptor_source='bytes://junk'"),
    decoded(["a"], "[tf.int32]", source="descriptor_source='/no/such/file'"),
    decoded(["a", "b"], "[tf.int32, tf.int64]", ("a: 5 b: 1 b: 2",), ", message_format='text'"),
    decoded(["a"], "[tf.int32]", ("a: x",), ", message_format='text'"),
    decoded(["a"], "[tf.int32]", options=", message_format='other'"), decoded(["a"], "[tf.int32]", M1),
    decoded([], "[]"), decoded(["a"], "[tf.int32]", options=", sanitize=True"),
    decoded(["value"], "[tf.int64]", (field(1, b"\x01\x02"), b""), source="descriptor_source='local://'",
            message="tensorflow.Int64List"),
    decoded(["features"], "[tf.string]", (A,), source="'local://'", message="tensorflow.Example"),
    encoded("[[1, 2]]", "[tf.constant([[5]]), tf.constant([[1, 2]], tf.int64)]", ["a", "b"]),
    encoded("[[1, 1]]", "[tf.constant([[1.5]], tf.float64), tf.constant([[0]])]", ["e", "a"]),
    encoded("[[1, 2, 1]]", "[tf.constant([['q']]), tf.constant([['\\x08\\x01', '']]), tf.constant([[True]])]", ["c", "d", "h"]),
    encoded("[[2, 1, 1]]", "[tf.constant([[-5, 6]]), tf.constant([[7]], tf.uint32), tf.constant([[2.5]])]", ["f", "g", "i"]),
    encoded("[[1], [0]]", "[tf.constant([[-1], [2]])]", ["a"]), encoded("[[3]]", "[tf.constant([[1, 2]], tf.int64)]", ["b"]),
    encoded("[[1]]", "[tf.constant([[1.5]])]", ["a"]), encoded("[[1], [1]]", "[tf.constant([[1]])]", ["a"]),
    encoded("[1]", "[tf.constant([1])]", ["a"]), encoded("[[1]]", "[tf.constant([[1]])]", ["zz"]),
    encoded("[[2]]", "[tf.constant([[1, 2]], tf.int64)]", ["value"], "'tensorflow.Int64List'", "'local://'"),
]  # fmt: skip

ROWS = [*FIXED, *VARIABLE, *RAGGED_ROWS, *ENCODINGS, *SEQUENCES, *RAW, *CSV, *JSON, *TENSORS, *PROTOS]
