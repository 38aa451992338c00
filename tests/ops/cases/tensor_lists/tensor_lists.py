"""Lists of tensors: raw ops on variants, compared by the tensors that come out of them."""

from rows import FLOATS, INTS, each, integers, normal, row, value

# Short names, so that rows stay readable; the row's code follows.
_NAMES = """
R = tf.raw_ops
T = tf.dtypes.as_dtype('{T}')
if 'a' in globals() and T.is_floating and a.dtype.is_floating or T.is_complex:
    T = a.dtype
def whole(handle, shape=-1, dtype=T):
    return R.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=dtype)
def reserve(shape, count, dtype=T):
    return R.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=dtype)
def empty(shape=-1, limit=-1, dtype=T):
    return R.EmptyTensorList(element_shape=shape, max_num_elements=limit, element_dtype=dtype)
def put(handle, index, item, **attrs):
    return R.TensorListSetItem(input_handle=handle, index=index, item=item, **attrs)
def get(handle, index, shape=-1, dtype=T):
    return R.TensorListGetItem(input_handle=handle, index=index, element_shape=shape, element_dtype=dtype)
def push(handle, item):
    return R.TensorListPushBack(input_handle=handle, tensor=item)
def pop(handle, shape=-1, dtype=T):
    return R.TensorListPopBack(input_handle=handle, element_shape=shape, element_dtype=dtype)
def split_up(tensor, shape=-1):
    return R.TensorListFromTensor(tensor=tensor, element_shape=shape)
def pick(handle, indices, shape=-1, dtype=T):
    return R.TensorListGather(input_handle=handle, indices=indices, element_shape=shape, element_dtype=dtype)
def length(handle):
    return R.TensorListLength(input_handle=handle)
def declared(handle, dtype=tf.int32):
    return R.TensorListElementShape(input_handle=handle, shape_type=dtype)
def joined(handle, dtype=T, **attrs):
    return tuple(R.TensorListConcat(input_handle=handle, element_dtype=dtype, **attrs))
def joined2(handle, shape=-1, leading=(), dtype=T):
    return tuple(R.TensorListConcatV2(input_handle=handle, element_shape=shape, element_dtype=dtype,
                                      leading_dims=tf.constant(leading, tf.int64)))
def cut(tensor, lengths, shape=-1):
    return R.TensorListSplit(tensor=tensor, element_shape=shape, lengths=tf.constant(lengths, tf.int64))
none = tf.zeros([0], tf.int32)
"""


def code(text):
    # The text comes first, so that it is what the row is called.
    return "# " + text.removeprefix("result = ").replace("\n", "; ") + _NAMES + text


def many(dtypes, text, **options):
    return each(dtypes, code(text), **options)


def one(text, **options):
    return row(code(text), **options)


_ANY = f"{FLOATS} {INTS} complex64 complex128 bool"
_DUPLICATES = "TensorFlow keeps the gradient of the last of equal indices only; docs/decisions/0020"

ROWS = [
    # Set and get; what is not set reads as zeros.
    *many(_ANY, "result = whole(put(put(reserve([2], 3), 0, a), 2, b), [2])", a=normal(2), b=normal(2)),
    *many(_ANY, "l = put(reserve(-1, 3), 1, a)\nresult = get(l, 1), get(l, 0), get(l, 2, [2])", a=normal(2)),
    one("result = get(reserve([2, 3], 2), 1)"),
    one("result = get(reserve(-1, 2), 1, [2, 3])"),
    one("result = get(reserve(-1, 2), 1)"),
    one("result = get(reserve([-1], 2), 1)"),
    one("result = get(reserve([2], 2), 1, [3])"),
    one("result = get(reserve([2, -1], 2), 1, [-1, 3])"),
    one("result = whole(reserve(none, 3))"),
    one("result = whole(reserve(-1, 3))"),
    one("result = whole(reserve(-1, 3), [2])"),
    one("result = whole(reserve([-1, 2], 3))"),
    one("result = whole(reserve(none, 2, tf.string), none, tf.string)"),
    one("result = whole(put(reserve(-1, 2, tf.string), 1, a), -1, tf.string)", a=value(["x", "yz"])),
    one("result = whole(put(reserve(-1, 3), 1, a), [3])", a=normal(2)),
    one("result = whole(put(put(reserve(-1, 3), 1, a), 0, b))", a=normal(2), b=normal(3)),
    one("result = get(put(put(reserve(-1, 3), 1, a), 0, b), 2)", a=normal(2), b=normal(3)),
    one("l = reserve(-1, 2)\nm = put(l, 0, a)\nk = put(m, 0, b)\nresult = get(k, 0), get(m, 0), get(l, 0, [2])",
        a=normal(2), b=normal(2)),
    one("l = put(reserve([2], 3), 1, a)\nx = whole(put(l, 1, b))\ny = whole(put(l, 1, c))\nresult = x, y, whole(l)",
        a=normal(2), b=normal(2), c=normal(2)),
    one("l = put(reserve([2], 1), 0, a)\nresult = get(l, 0) * get(l, 0) + get(put(l, 0, b), 0) * b",
        a=normal(2), b=normal(2)),
    one("result = whole(put(reserve([2], 2), tf.constant(1), a * a), [2])", a=normal(2)),
    one("result = get(put(reserve([2], 2), 1, a), 3)", a=normal(2)),
    one("result = get(put(reserve([2], 2), 1, a), -1)", a=normal(2)),
    one("result = length(put(reserve([2], 2), 2, a))", a=normal(2)),
    one("result = length(put(reserve([2], 2), -1, a))", a=normal(2)),
    one("result = length(put(reserve([3], 2), 1, a))", a=normal(2)),
    one("result = length(put(reserve([3], 2), 1, a))", a=integers(0, 3, 3)),
    one("result = get(put(reserve([3], 2), 1, a), 1, -1, tf.int32)", a=normal(3)),
    one("l = put(reserve([2], 2), 4, a, resize_if_index_out_of_bounds=True)\nresult = length(l), whole(l)", a=normal(2)),
    one("l = put(reserve([2], 2), 1, a, resize_if_index_out_of_bounds=True)\nresult = length(l), whole(l)", a=normal(2)),
    one("l = push(empty(), a)\nl = put(l, 2, b, resize_if_index_out_of_bounds=True)\nresult = whole(l)",
        a=normal(2), b=normal(2), ours="TensorFlow gives `a` the gradient of the last element"),
    one("result = length(reserve(-1, -1))"),
    one("result = length(reserve(3, 2))"),
    one("result = length(reserve([-2], 2))"),
    one("result = length(reserve(-1, [2, 2]))"),
    one("result = length(tf.raw_ops.TensorListResize(input_handle=tf.constant(1.0), size=1))"),
    # Lengths and shapes.
    one("result = length(reserve(-1, 0)), length(reserve(-1, 5)), length(empty()), length(split_up(a))", a=normal(3, 2)),
    *[
        one(f"result = declared(reserve({shape}, 1)), declared(empty({shape}), tf.int64), declared(split_up(a, {shape}))",
            a=normal(3, 2))
        for shape in ("-1", "[2]", "[-1]", "tf.constant([2], tf.int64)")
    ],
    one("result = declared(reserve(none, 1))"),
    # Push and pop.
    *many(_ANY, "l = push(push(empty(), a), b)\nk, x = pop(l)\nm, y = pop(k)\nresult = x, y, length(k), length(l)",
          a=normal(2), b=normal(3)),
    one("result = whole(push(push(empty([2], 2), a), b))", a=normal(2), b=normal(2)),
    one("l = push(push(empty(), a), b * b)\nresult = whole(l), pop(l)[1], whole(push(pop(l)[0], a * b))",
        a=normal(2), b=normal(2)),
    one("l = push(push(push(empty(), a), b), a)\nk, x = pop(l)\nresult = x * whole(k)", a=normal(2), b=normal(2)),
    one("l = push(push(empty(), a), b)\nresult = pop(l)[1]", a=normal(2), b=normal(2)),
    one("result = length(push(push(empty(limit=1), a), a))", a=normal(2)),
    one("result = length(push(empty(limit=0), a))", a=normal(2)),
    one("result = length(push(empty([3]), a))", a=normal(2)),
    one("result = length(push(empty(), a))", a=integers(0, 5, 2)),
    one("result = pop(empty())[1]"),
    one("result = pop(reserve(-1, 2))[1]"),
    one("result = pop(reserve(-1, 2), [2])[1]"),
    one("result = pop(push(empty(), a), -1, tf.int32)[1]", a=normal(2)),
    one("result = whole(push(put(reserve(-1, 2), 1, a), b))", a=normal(2), b=normal(2)),
    one("result = length(empty(limit=[1]))"),
    one("result = whole(empty())"),
    one("result = whole(empty(), [2])"),
    one("result = whole(empty(), [-1, 3])"),
    # From a tensor and back.
    *many(_ANY, "l = split_up(a)\nresult = whole(l), get(l, 1), length(l)", a=normal(3, 2)),
    one("result = whole(split_up(a, none), none)", a=normal(4)),
    one("result = whole(split_up(a, [2, -1]), [-1, 3])", a=normal(4, 2, 3)),
    one("result = whole(split_up(a * a), -1)", a=normal(4, 2)),
    one("result = whole(split_up(a, [2]))", a=normal(0, 2)),
    one("result = whole(split_up(a))", a=normal(0, 2)),
    one("result = whole(split_up(a, [2]))", a=normal(3)),
    one("result = whole(split_up(a))", a=normal()),
    one("result = R.TensorListStack(input_handle=split_up(a), element_shape=-1, element_dtype=T, num_elements=3)",
        a=normal(3, 2)),
    one("result = R.TensorListStack(input_handle=split_up(a), element_shape=-1, element_dtype=T, num_elements=4)",
        a=normal(3, 2)),
    one("result = whole(split_up(a), -1, tf.int32)", a=normal(3, 2)),
    one("result = whole(put(split_up(a), 1, b) )", a=normal(3, 2), b=normal(2)),
    one("l = put(split_up(a), 5, b, resize_if_index_out_of_bounds=True)\nresult = whole(l)", a=normal(3, 2), b=normal(2),
        ours="TensorFlow cannot compute the gradient of a list that has grown"),
    one("result = whole(split_up(a), -1, tf.string)", a=value([["p", "q"], ["r", "s"]])),
    # Resize.
    one("result = whole(R.TensorListResize(input_handle=split_up(a), size=5))", a=normal(3, 2)),
    one("result = whole(R.TensorListResize(input_handle=split_up(a), size=2))", a=normal(3, 2), ours=(
        "TensorFlow fails on the gradient")),
    one("result = whole(R.TensorListResize(input_handle=split_up(a), size=3))", a=normal(3, 2)),
    one("result = whole(R.TensorListResize(input_handle=split_up(a), size=0), [2])", a=normal(3, 2), grad=False),
    one("result = length(R.TensorListResize(input_handle=split_up(a), size=-1))", a=normal(3, 2)),
    one("result = length(R.TensorListResize(input_handle=split_up(a), size=[1, 2]))", a=normal(3, 2)),
    # Gather.
    *many(_ANY, "result = pick(split_up(a), [2, 0])", a=normal(3, 2)),
    one("result = pick(split_up(a), [2, 0, 2, 2])", a=normal(3, 2), ours=_DUPLICATES),
    one("result = pick(split_up(a), [2, 0, 2, 2])", a=normal(3, 2), grad=False),
    one("result = pick(put(reserve(-1, 3), 1, a), [0, 1])", a=normal(2)),
    one("result = pick(reserve(-1, 3), [0, 1])"),
    one("result = pick(reserve(-1, 3), [0, 1], [2])"),
    one("result = pick(reserve([2], 3), [0, 1])"),
    one("result = pick(reserve([2], 3), [0, 1], [3])"),
    one("result = pick(split_up(a), [3])", a=normal(3, 2)),
    one("result = pick(split_up(a), [-1])", a=normal(3, 2)),
    one("result = pick(split_up(a), none)", a=normal(3, 2)),
    one("result = pick(split_up(a), none, [2])", a=normal(3, 2)),
    one("result = pick(split_up(a), [0], -1, tf.int32)", a=normal(3, 2)),
    one("result = pick(put(put(reserve(-1, 3), 1, a), 0, b), [0, 1])", a=normal(2), b=normal(3)),
    one("l = put(put(reserve(-1, 3), 1, a), 0, b)\nresult = pick(l, [0]), pick(l, [1]), get(l, 1)",
        a=normal(2), b=normal(3)),
    # Scatter.
    *[
        one(f"result = whole(R.TensorListScatter(tensor=a, indices={indices}, element_shape={shape}))", a=normal(2, 3))
        for indices, shape in (("[1, 0]", -1), ("[3, 1]", "[3]"), ("[3, 1]", "[2]"), ("[0]", -1), ("[0, 1, 2]", -1),
                               ("[-1, 0]", -1))
    ],
    *[
        one("result = whole(R.TensorListScatterV2(tensor=a, indices=[3, 1], element_shape=-1, "
            f"num_elements={count}))", a=normal(2, 3))
        for count in (-1, 4, 6, 3, -2, 0)
    ],
    one("result = whole(R.TensorListScatter(tensor=a, indices=[1, 1, 0], element_shape=-1))", a=normal(3, 2),
        ours="TensorFlow gives rows that others overwrite their gradient"),
    one("result = whole(R.TensorListScatter(tensor=a, indices=[1, 1, 0], element_shape=-1))", a=normal(3, 2), grad=False),
    one("result = whole(R.TensorListScatter(tensor=a, indices=none, element_shape=[2]))", a=normal(0, 2)),
    one("result = whole(R.TensorListScatter(tensor=a, indices=[0], element_shape=[2]))", a=normal()),
    *many(f"{FLOATS} int32 complex64", "result = whole(R.TensorListScatterIntoExistingList(input_handle=split_up(a), "
          "tensor=b, indices=[2, 0]))", a=normal(4, 2), b=normal(2, 2)),
    one("result = whole(R.TensorListScatterIntoExistingList(input_handle=split_up(a), tensor=b, indices=[2]))",
        a=normal(4, 2), b=normal(2, 2)),
    one("result = length(R.TensorListScatterIntoExistingList(input_handle=split_up(a), tensor=b, indices=[0, 6]))",
        a=normal(4, 2), b=normal(2, 2), grad=False),
    one("result = whole(R.TensorListScatterIntoExistingList(input_handle=split_up(a), tensor=b, indices=[0, 6]))",
        a=normal(4, 2), b=normal(2, 2), ours="TensorFlow fills up with elements of shape [0], and cannot stack them"),
    one("result = length(R.TensorListScatterIntoExistingList(input_handle=split_up(a), tensor=b, indices=[0, -6]))",
        a=normal(4, 2), b=normal(2, 2), ours="TensorFlow writes before the list and crashes"),
    one("result = whole(R.TensorListScatterIntoExistingList(input_handle=split_up(a), tensor=b, indices=[0, 1]))",
        a=normal(4, 2), b=integers(0, 4, 2, 2)),
    one("result = whole(R.TensorListScatterIntoExistingList(input_handle=reserve([3], 2), tensor=b, indices=[0, 1]))",
        b=normal(2, 2), ours="TensorFlow reads beyond the elements"),
    # Concat and split.
    *many(_ANY, "result = joined(cut(a, [1, 0, 2]))", a=normal(3, 2)),
    *many(f"{FLOATS} int32 complex64", "result = joined2(cut(a, [1, 0, 2]), [-1, 2])", a=normal(3, 2)),
    one("result = joined(cut(a, [2, 2]))[0] * a", a=normal(4)),
    one("l = cut(a, [1, 3], [-1])\nresult = declared(l), length(l), get(l, 0), get(l, 1), joined(l)", a=normal(4)),
    one("result = joined(split_up(a), element_shape=[2, 3])", a=normal(4, 2, 3)),
    one("result = joined(split_up(a), element_shape=[3])", a=normal(4, 2, 3)),
    one("result = joined(split_up(a))", a=normal(4)),
    one("result = joined(empty())"),
    one("result = joined(empty(), element_shape=[None, 3])"),
    one("result = joined2(empty(), [-1, 3])"),
    one("result = joined(reserve([2], 3))", ours="TensorFlow forgets the shape that the list has"),
    one("result = joined(reserve(-1, 3))"),
    one("result = joined(put(reserve(-1, 3), 1, a))", a=normal(2)),
    one("result = joined2(put(reserve(-1, 3), 1, a), -1, [1, 2, 3])", a=normal(2)),
    one("result = joined2(put(reserve(-1, 3), 1, a))", a=normal(2)),
    one("result = joined2(reserve([-1], 3), [-1], [1, 2, 0])"),
    one("result = joined2(reserve([-1], 3), [-1], [1])"),
    one("result = joined2(reserve([-1, -1], 3), [-1, -1], [1])"),
    one("result = joined(put(put(reserve(-1, 3), 1, a), 2, b))", a=normal(2), b=normal(3)),
    one("result = joined(put(put(reserve(-1, 2), 1, a), 0, b))", a=normal(2), b=normal(3, 2)),
    one("result = joined(split_up(a), tf.int32)", a=normal(3, 2)),
    *[one(f"result = length(cut(a, {lengths}))", a=normal(3)) for lengths in ("[1, 1]", "[4]", "[-1, 4]", "3", "[[3]]")],
    one("result = length(cut(a, [1, 2], [-1, 2]))", a=normal(3)),
    one("result = length(cut(a, [1]))", a=normal()),
    one("result = joined(cut(a, [1, 2], [1]))", a=normal(3)),
    # Several lists.
    one("l = R.TensorListConcatLists(input_a=split_up(a), input_b=split_up(b), element_dtype=T)\nresult = whole(l)",
        a=normal(2, 3), b=normal(1, 3), grad=False),
    one("l = R.TensorListConcatLists(input_a=split_up(a), input_b=put(reserve(-1, 2), 1, b), element_dtype=T)\n"
        "result = whole(l)", a=normal(2, 3), b=normal(3), grad=False),
    one("l = R.TensorListConcatLists(input_a=split_up(a, [3]), input_b=split_up(a), element_dtype=T)\nresult = whole(l)",
        a=normal(2, 3), grad=False),
    one("l = R.TensorListConcatLists(input_a=split_up(a), input_b=split_up(a), element_dtype=tf.int32)\n"
        "result = length(l)", a=normal(2, 3), grad=False),
    one("l = tf.stack([split_up(a), split_up(b)])\nk = R.TensorListPushBackBatch(input_handles=l, tensor=b)\n"
        "result = [whole(h) for h in tf.unstack(k)], [whole(h) for h in tf.unstack(l)]",
        a=normal(3, 3), b=normal(2, 3), grad=False),
    one("l = tf.stack([split_up(a), split_up(a)])\nk = R.TensorListConcatLists(input_a=l, input_b=l, element_dtype=T)\n"
        "result = [whole(h) for h in tf.unstack(k)]", a=normal(3, 3), grad=False),
    *[
        one("l = tf.stack([split_up(a, [3]), split_up(a, [3])])\n"
            "result = R.TensorListPushBackBatch(input_handles=l, tensor=b)", a=normal(3, 3), b=shape, grad=False)
        for shape in (normal(3, 3), normal(2, 2), normal(), integers(0, 5, 2, 3))
    ],
    # Sums and zeros.
    one("result = whole(tf.add_n([split_up(a), split_up(a * b)]))", a=normal(3, 2), b=normal(3, 2)),
    one("l = put(reserve([2], 3), 1, a)\nresult = whole(tf.add_n([l, reserve([2], 3), l, put(l, 0, b)]))",
        a=normal(2), b=normal(2)),
    one("result = declared(tf.add_n([split_up(a, [2]), split_up(a)]))", a=normal(3, 2), grad=False),
    one("result = length(tf.add_n([split_up(a), split_up(b)]))", a=normal(3, 2), b=normal(2, 2)),
    one("result = length(tf.add_n([split_up(a), split_up(b)]))", a=normal(3, 2), b=integers(0, 4, 3, 2)),
    one("result = length(tf.add_n([split_up(a, [2]), split_up(b, [3])]))", a=normal(3, 2), b=normal(3, 3)),
    one("result = length(tf.add_n([split_up(a), split_up(b)]))", a=normal(3, 2), b=normal(3, 3)),
    *many(f"{FLOATS} int32", "l = tf.zeros_like(put(reserve([2], 3), 1, a))\nresult = whole(l), length(l)", a=normal(2)),
    one("result = whole(tf.zeros_like(put(reserve(-1, 3), 1, a)))", a=normal(2)),
    # Lists of lists.
    one("l = push(push(empty(none, dtype=tf.variant), split_up(a)), split_up(b))\nk, x = pop(l, none, tf.variant)\n"
        "m, y = pop(k, none, tf.variant)\nresult = whole(x), whole(y)", a=normal(3, 2), b=normal(2, 2)),
    one("l = put(reserve(none, 2, tf.variant), 1, split_up(a))\nresult = whole(get(l, 1, none, tf.variant)) * a",
        a=normal(3, 2)),
]
