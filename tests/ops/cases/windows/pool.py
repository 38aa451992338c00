"""Rows of the pools, of moving space to batch and channels, and of patches."""

from rows import FLOATS, each, integers, normal, row, value

# Why headrace decides otherwise than TensorFlow.
_NCHW = "TensorFlow's CPU refuses channels first; headrace takes them"
_TYPES = "TensorFlow has no kernel for this dtype; headrace has"
_NO_KERNEL = "TensorFlow has no kernel for it on CPUs"

REAL = f"{FLOATS} int8 int16 int32 int64 uint8 uint16"


def pools(function, arguments, *, dtypes="float32", x=(2, 5, 6, 3), **options):
    return each(dtypes, f"tf.nn.{function}(a, {arguments})", a=normal(*x), **options)


def errors_of(function):
    """Calls that must be refused."""
    for arguments, shape in (
        ("2, 0, 'SAME'", (2, 5, 6, 3)),
        ("0, 2, 'SAME'", (2, 5, 6, 3)),
        ("-1, 2, 'SAME'", (2, 5, 6, 3)),
        ("[2, 2, 2], 2, 'SAME'", (2, 5, 6, 3)),
        ("[2, 1, 1, 1], 1, 'SAME'", (2, 5, 6, 3)),
        ("2, [2, 1, 1, 1], 'SAME'", (2, 5, 6, 3)),
        ("9, 2, 'VALID'", (2, 5, 6, 3)),
        ("2, 2, 'EXPLICIT'", (2, 5, 6, 3)),
        ("2, 2, 'half'", (2, 5, 6, 3)),
        ("2, 2, 3", (2, 5, 6, 3)),
        ("2, 2, 'SAME', 'HWCN'", (2, 5, 6, 3)),
        ("2, 2, 'SAME'", (5, 6)),
        ("2, 2, 'SAME'", (1, 1, 1, 1, 1, 1)),
    ):
        yield row(f"tf.nn.{function}(a, {arguments})", a=normal(*shape))


ROWS = [
    # maxima in two dims
    *pools("max_pool2d", "2, 2, 'SAME'", dtypes=REAL),
    *pools("max_pool2d", "3, 2, 'VALID'"),
    *pools("max_pool2d", "3, 1, 'SAME'"),
    *pools("max_pool2d", "[3, 2], [1, 2], 'SAME'"),
    *pools("max_pool2d", "[1, 2, 3, 1], [1, 1, 2, 1], 'VALID'"),
    *pools("max_pool2d", "1, 2, 'SAME'"),
    *pools("max_pool2d", "2, 3, 'VALID'"),
    *pools("max_pool2d", "9, 2, 'SAME'"),
    *pools("max_pool2d", "3, 2, [[0, 0], [1, 2], [0, 1], [0, 0]]", second=False),
    *pools("max_pool2d", "3, 1, [[0, 0], [2, 2], [2, 2], [0, 0]]", x=(1, 3, 2, 2), second=False),
    *pools("max_pool2d", "2, 2, 'SAME'", x=(0, 5, 6, 3)),
    *pools("max_pool2d", "2, 2, 'SAME'", x=(2, 5, 6, 0)),
    *pools("max_pool2d", "[1, 1, 1, 3], [1, 1, 1, 3], 'VALID'", x=(1, 2, 2, 6), grad=False),
    *pools("max_pool2d", "2, 2, 'SAME', 'NCHW'", x=(2, 3, 5, 6), ours=_NCHW),
    *pools("max_pool2d", "3, 2, [[0, 0], [0, 0], [1, 1], [0, 2]], 'NCHW'", x=(2, 3, 5, 6), ours=_NCHW),
    *pools("max_pool2d", "2, 2, [[0, 0], [2, 0], [0, 0], [0, 0]]"),
    *pools("max_pool2d", "2, 2, [[1, 0], [1, 0], [0, 0], [0, 0]]"),
    *pools("max_pool2d", "2, 2, [[0, 0], [-1, 0], [0, 0], [0, 0]]"),
    *pools("max_pool2d", "2, 2, [[0, 0], [1, 0]]"),
    *pools("max_pool2d", "[1, 1, 1, 2], [1, 1, 1, 2], 'VALID'"),
    *pools("max_pool2d", "[1, 1, 1, 3], [1, 1, 1, 1], 'VALID'"),
    *pools("max_pool2d", "[1, 2, 2, 3], [1, 2, 2, 3], 'VALID'"),
    *pools("max_pool2d", "2, 2, 'SAME'", x=(5, 6, 3)),
    row("tf.nn.max_pool2d(a > 0, 2, 2, 'SAME')", a=normal(2, 5, 6, 3)),
    *errors_of("max_pool"),
    *pools("max_pool", "2, 2, [[0, 0], [1, 0], [1, 0], [1, 0], [0, 0]]", x=(2, 3, 3, 3, 2)),
    # maxima in one and three dims
    *pools("max_pool1d", "2, 2, 'SAME'", dtypes=REAL, x=(2, 7, 3)),
    *pools("max_pool1d", "[3], [1], 'VALID'", x=(2, 7, 3)),
    *pools("max_pool1d", "[1, 3, 1], [1, 2, 1], 'SAME'", x=(2, 7, 3)),
    *pools("max_pool1d", "3, 2, [[0, 0], [1, 2], [0, 0]]", x=(2, 7, 3), second=False),
    *pools("max_pool1d", "2, 2, 'SAME', 'NCW'", x=(2, 3, 7), ours=_NCHW),
    *pools("max_pool1d", "2, 2, 'SAME', 'X'", x=(2, 3, 7)),
    *pools("max_pool1d", "2, 2, 'SAME'", x=(2, 3, 3, 7)),
    *pools("max_pool1d", "[2, 2], 2, 'SAME'", x=(2, 3, 7)),
    *pools("max_pool3d", "2, 2, 'SAME'", dtypes="bfloat16 float32", x=(1, 4, 3, 3, 2)),
    *pools("max_pool3d", "[2, 1, 3], [1, 2, 2], 'VALID'", x=(1, 4, 3, 3, 2)),
    *pools("max_pool3d", "[1, 2, 2, 2, 1], [1, 1, 1, 1, 1], 'VALID'", x=(1, 3, 3, 3, 1)),
    *pools("max_pool3d", "2, 2, 'SAME'", dtypes="float16 float64", x=(1, 4, 3, 3, 2), ours=_TYPES),
    *pools("max_pool3d", "2, 2, 'SAME', 'NCDHW'", x=(1, 2, 4, 3, 3), ours=_NCHW),
    *pools("max_pool3d", "[2, 1, 1, 1, 1], 2, 'SAME'", x=(1, 4, 3, 3, 2)),
    *pools("max_pool3d", "[1, 1, 1, 1, 2], [1, 1, 1, 1, 2], 'SAME'", x=(1, 4, 3, 3, 2)),
    *pools("max_pool3d", "2, 0, 'SAME'", x=(1, 4, 3, 3, 2)),
    *pools("max_pool3d", "0, 1, 'SAME'", x=(1, 4, 3, 3, 2)),
    *pools("max_pool3d", "2, 2, 'SAME'", x=(4, 3, 3, 2)),
    *pools("max_pool3d", "[9, 1, 1], 2, 'VALID'", x=(1, 4, 3, 3, 2)),
    *pools("max_pool", "2, 2, 'SAME'", x=(2, 7, 3)),
    *pools("max_pool", "2, 2, 'SAME'"),
    *pools("max_pool", "2, 1, 'VALID', 'NDHWC'", x=(1, 3, 3, 3, 1)),
    # means
    *pools("avg_pool2d", "2, 2, 'SAME'", dtypes=FLOATS),
    *pools("avg_pool2d", "3, 2, 'VALID'"),
    *pools("avg_pool2d", "3, 1, 'SAME'"),
    *pools("avg_pool2d", "[3, 2], [1, 2], 'SAME'"),
    *pools("avg_pool2d", "[1, 2, 3, 1], [1, 1, 2, 1], 'VALID'"),
    *pools("avg_pool2d", "9, 2, 'SAME'"),
    *pools("avg_pool2d", "2, 3, 'VALID'"),
    *pools("avg_pool2d", "2, 2, 'SAME'", x=(0, 5, 6, 3)),
    *pools("avg_pool2d", "2, 2, 'SAME', 'NCHW'", x=(2, 3, 5, 6), ours=_NCHW),
    *pools("avg_pool2d", "[1, 1, 1, 3], [1, 1, 1, 3], 'SAME'"),
    *pools("avg_pool2d", "2, 2, 'SAME'", dtypes="int32"),
    *pools("avg_pool2d", "2, 2, 'SAME'", x=(5, 6, 3)),
    *errors_of("avg_pool"),
    *pools("avg_pool1d", "2, 2, 'SAME'", dtypes=FLOATS, x=(2, 7, 3)),
    *pools("avg_pool1d", "[3], [1], 'VALID'", x=(2, 7, 3)),
    *pools("avg_pool1d", "[1, 3, 1], [1, 2, 1], 'SAME'", x=(2, 7, 3)),
    *pools("avg_pool1d", "2, 2, 'SAME', 'NCW'", x=(2, 3, 7), ours=_NCHW),
    *pools("avg_pool1d", "2, 2, 'SAME', 'X'", x=(2, 3, 7)),
    *pools("avg_pool1d", "2, 2, [[0, 0], [1, 1], [0, 0]]", x=(2, 3, 7)),
    *pools("avg_pool3d", "2, 2, 'SAME'", dtypes="bfloat16 float32", x=(1, 4, 3, 3, 2)),
    *pools("avg_pool3d", "[2, 1, 3], [1, 2, 2], 'VALID'", x=(1, 4, 3, 3, 2)),
    *pools("avg_pool3d", "3, 1, 'SAME'", x=(1, 3, 2, 3, 2)),
    *pools("avg_pool3d", "2, 2, 'SAME'", dtypes="float16 float64", x=(1, 4, 3, 3, 2), ours=_TYPES),
    *pools("avg_pool3d", "2, 2, 'SAME', 'NCDHW'", x=(1, 2, 4, 3, 3), ours=_NCHW),
    *pools("avg_pool3d", "2, 2, 'SAME'", x=(4, 3, 3, 2)),
    *pools("avg_pool", "2, 2, 'SAME'", x=(2, 7, 3)),
    *pools("avg_pool", "2, 2, 'SAME'"),
    *pools("avg_pool", "2, 1, 'VALID', 'NDHWC'", x=(1, 3, 3, 3, 1)),
    # the ops by themselves: ties, windows as inputs, gradients and their gradients
    row(
        "tf.raw_ops.MaxPoolV2(input=a, ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding='SAME')",
        a=normal(2, 5, 6, 2),
    ),
    row(
        "tf.raw_ops.MaxPoolV2(input=a, ksize=[3, 2], strides=[1, 2, 1, 1], padding='SAME')",
        a=normal(2, 5, 6, 2),
    ),
    *each(
        f"{FLOATS} int32",
        "tf.raw_ops.MaxPoolGrad(orig_input=a, orig_output=tf.nn.max_pool2d(a, 3, 1, 'SAME'), "
        "grad=g, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding='SAME')",
        a=normal(2, 4, 3, 2),
        g=normal(2, 4, 3, 2),
    ),
    row(
        "tf.raw_ops.MaxPoolGrad(orig_input=a, orig_output=tf.nn.max_pool2d(a, 2, 1, 'VALID'), grad=g, "
        "ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='VALID')",
        a=integers(0, 2, 1, 4, 5, 2, dtype="float32"),
        g=normal(1, 3, 4, 2),
        fd=False,
    ),
    row(
        "tf.raw_ops.MaxPoolGrad(orig_input=a, orig_output=tf.nn.max_pool2d(a, 3, 2, "
        "[[0, 0], [1, 1], [1, 0], [0, 0]]), grad=g, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], "
        "padding='EXPLICIT', explicit_paddings=[0, 0, 1, 1, 1, 0, 0, 0])",
        a=normal(1, 4, 4, 2),
        g=normal(1, 2, 2, 2),
        grad=False,
    ),
    row(
        "tf.raw_ops.MaxPoolGrad(orig_input=a, orig_output=y, grad=g, ksize=[1, 2, 2, 1], "
        "strides=[1, 2, 2, 1], padding='VALID')",
        a=normal(1, 4, 4, 2),
        y=normal(1, 2, 2, 2),
        g=normal(1, 2, 1, 2),
    ),
    row(
        "tf.raw_ops.MaxPoolGrad(orig_input=a, orig_output=y, grad=g, ksize=[1, 2, 2, 1], "
        "strides=[1, 2, 2, 1], padding='VALID')",
        a=normal(1, 4, 4, 2),
        y=normal(1, 2, 1, 2),
        g=normal(1, 2, 2, 2),
    ),
    row(
        "tf.raw_ops.MaxPoolGradV2(orig_input=a, orig_output=tf.nn.max_pool2d(a, 2, 2, 'SAME'), grad=g, "
        "ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')",
        a=normal(1, 5, 4, 2),
        g=normal(1, 3, 2, 2),
    ),
    *each(
        f"{FLOATS} int32",
        "tf.raw_ops.MaxPoolGradGrad(orig_input=a, orig_output=tf.nn.max_pool2d(a, 3, 2, 'SAME'), "
        "grad=g, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding='SAME')",
        a=normal(2, 4, 3, 2),
        g=normal(2, 4, 3, 2),
    ),
    row(
        "tf.raw_ops.MaxPoolGradGrad(orig_input=a, orig_output=tf.nn.max_pool2d(a, 2, 1, 'VALID'), grad=g, "
        "ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='VALID')",
        a=integers(0, 2, 1, 4, 5, 2, dtype="float32"),
        g=normal(1, 4, 5, 2),
        fd=False,
    ),
    row(
        "tf.raw_ops.MaxPoolGradGrad(orig_input=a, orig_output=tf.nn.max_pool2d(a, 2, 1, 'VALID'), grad=g, "
        "ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='VALID')",
        a=normal(1, 4, 5, 2),
        g=normal(1, 4, 4, 2),
    ),
    row(
        "tf.raw_ops.MaxPoolGradGradV2(orig_input=a, orig_output=tf.nn.max_pool2d(a, 2, 2, 'SAME'), grad=g, "
        "ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')",
        a=normal(1, 5, 4, 2),
        g=normal(1, 5, 4, 2),
        grad=False,
    ),
    row(
        "tf.raw_ops.AvgPoolGrad(orig_input_shape=[1, 3, 3, 2], grad=g, ksize=[1, 2, 2, 1], "
        "strides=[1, 1, 1, 1], padding='SAME')",
        g=normal(1, 3, 3, 2),
    ),
    row(
        "tf.raw_ops.AvgPoolGrad(orig_input_shape=[1, -3, 3, 2], grad=g, ksize=[1, 2, 2, 1], "
        "strides=[1, 1, 1, 1], padding='SAME')",
        g=normal(1, 3, 3, 2),
    ),
    row(
        "tf.raw_ops.AvgPoolGrad(orig_input_shape=[3, 3, 2], grad=g, ksize=[1, 2, 2, 1], "
        "strides=[1, 1, 1, 1], padding='SAME')",
        g=normal(1, 3, 3, 2),
    ),
    row(
        "tf.raw_ops.AvgPoolGrad(orig_input_shape=[1, 3, 4, 2], grad=g, ksize=[1, 2, 2, 1], "
        "strides=[1, 1, 1, 1], padding='SAME')",
        g=normal(1, 3, 3, 2),
        ours="TensorFlow reads what is not there; headrace refuses",
    ),
    row(
        "tf.raw_ops.AvgPool3DGrad(orig_input_shape=[1, 3, 4, 2, 2], grad=g, ksize=[1, 2, 2, 2, 1], "
        "strides=[1, 2, 2, 1, 1], padding='SAME')",
        g=normal(1, 2, 2, 2, 2),
    ),
    row(
        "tf.raw_ops.MaxPool3DGrad(orig_input=a, orig_output=tf.nn.max_pool3d(a, 2, 1, 'VALID'), grad=g, "
        "ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')",
        a=integers(0, 2, 1, 3, 3, 3, 2, dtype="float32"),
        g=normal(1, 2, 2, 2, 2),
        fd=False,
        grad=False,
    ),
    row(
        "tf.raw_ops.MaxPool3DGrad(orig_input=a, orig_output=tf.nn.max_pool3d(a, 2, 1, 'VALID'), grad=g, "
        "ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')",
        a=normal(1, 3, 3, 3, 2),
        g=normal(1, 2, 2, 2, 2),
    ),
    row(
        "tf.raw_ops.MaxPool3DGrad(orig_input=a, orig_output=tf.nn.max_pool3d(a, 2, 1, 'VALID'), grad=g, "
        "ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')",
        a=normal(1, 3, 3, 3, 2),
        g=normal(1, 2, 2, 1, 2),
    ),
    row(
        "tf.raw_ops.MaxPool3DGradGrad(orig_input=a, orig_output=tf.nn.max_pool3d(a, 2, 1, 'VALID'), grad=g, "
        "ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')",
        a=normal(1, 3, 3, 3, 2),
        g=normal(1, 3, 3, 3, 2),
    ),
    # positions of maxima
    *each(
        f"{REAL} uint32 uint64",
        "tf.nn.max_pool_with_argmax(a, 2, 2, 'SAME')",
        a=normal(2, 5, 6, 3),
        second=False,
    ),
    row(
        "tf.nn.max_pool_with_argmax(a, 3, 1, 'VALID', output_dtype=tf.int32, include_batch_in_index=True)",
        a=normal(2, 5, 6, 3),
        grad=False,
    ),
    row(
        "tf.nn.max_pool_with_argmax(a, [1, 3, 2, 1], [1, 1, 2, 1], 'SAME', include_batch_in_index=True)",
        a=normal(2, 5, 6, 3),
        second=False,
    ),
    row(
        "tf.nn.max_pool_with_argmax(a, 3, 1, 'SAME')",
        a=value([[[[1.0], [1.0], [0.0]], [[1.0], [1.0], [0.0]]]]),
        fd=False,
    ),
    row("tf.nn.max_pool_with_argmax(a, 2, 2, 'SAME', data_format='NCHW')", a=normal(2, 5, 6, 3)),
    row("tf.nn.max_pool_with_argmax(a, 2, 2, 'SAME', output_dtype=tf.float32)", a=normal(2, 5, 6, 3)),
    row("tf.nn.max_pool_with_argmax(a, 2, 2, 'same')", a=normal(2, 5, 6, 3)),
    row("tf.nn.max_pool_with_argmax(a, 2, 2, 'SAME')", a=normal(5, 6, 3)),
    row("tf.nn.max_pool_with_argmax(a, 2, 2, [[0, 0], [1, 1], [0, 0], [0, 0]])", a=normal(2, 5, 6, 3)),
    row(
        "tf.raw_ops.MaxPoolGradWithArgmax(input=a, grad=g, argmax=i, ksize=[1, 2, 2, 1], "
        "strides=[1, 2, 2, 1], padding='VALID')",
        a=normal(2, 4, 4, 1),
        g=normal(2, 2, 2, 1),
        i=integers(0, 16, 2, 2, 2, 1, dtype="int64"),
        grad=False,
    ),
    row(
        "tf.raw_ops.MaxPoolGradWithArgmax(input=a, grad=g, argmax=i, ksize=[1, 2, 2, 1], "
        "strides=[1, 2, 2, 1], padding='VALID', include_batch_in_index=True)",
        a=normal(1, 4, 4, 2),
        g=normal(1, 2, 2, 2),
        i=integers(0, 32, 1, 2, 2, 2, dtype="int64"),
        grad=False,
    ),
    row(
        "tf.raw_ops.MaxPoolGradWithArgmax(input=a, grad=g, argmax=i, ksize=[1, 2, 2, 1], "
        "strides=[1, 2, 2, 1], padding='VALID')",
        a=normal(2, 4, 4, 1),
        g=normal(2, 2, 2, 1),
        i=integers(99, 100, 2, 2, 2, 1, dtype="int64"),
        ours="TensorFlow aborts the process; headrace raises",
    ),
    row(
        "tf.raw_ops.MaxPoolGradWithArgmax(input=a, grad=g, argmax=i, ksize=[1, 2, 2, 1], "
        "strides=[1, 2, 2, 1], padding='VALID')",
        a=normal(2, 4, 4, 1),
        g=normal(2, 2, 1, 1),
        i=integers(0, 4, 2, 2, 2, 1, dtype="int64"),
    ),
    row(
        "tf.raw_ops.MaxPoolGradGradWithArgmax(input=a, grad=g, argmax=i, ksize=[1, 2, 2, 1], "
        "strides=[1, 2, 2, 1], padding='VALID')",
        a=normal(2, 4, 4, 1),
        g=normal(2, 4, 4, 1),
        i=integers(0, 16, 2, 2, 2, 1, dtype="int64"),
        ours=_NO_KERNEL,
    ),
    # pool
    *pools("pool", "[2, 2], 'MAX'"),
    *pools("pool", "[2, 3], 'AVG', padding='SAME'"),
    *pools("pool", "[2, 2], 'MAX', dilations=[2, 2]"),
    *pools("pool", "[2, 2], 'AVG', dilations=[2, 1]"),
    *pools("pool", "[2], 'AVG', [2], 'SAME'", x=(2, 7, 3)),
    *pools("pool", "[2], 'MAX', dilations=[3]", x=(2, 7, 3)),
    *pools("pool", "[2, 2, 1], 'MAX', [1, 2, 1]", x=(1, 3, 3, 3, 1)),
    *pools("pool", "[2, 2], 'MAX', padding=[[0, 0], [1, 1], [1, 0], [0, 0]]", second=False),
    *pools("pool", "[2, 2], 'MIN'"),
    *pools("pool", "[2, 2], 'MAX', dilations=[2, 2], padding='SAME'"),
    *pools("pool", "[2, 2], 'MAX', [2, 1], dilations=[2, 2]"),
    *pools("pool", "[2, 2], 'MAX', [3, 1]"),
    *pools("pool", "[2, 2], 'MAX', [1, 2, 2, 1]"),
    *pools("pool", "[2, 2], 'MAX', [0, 1]"),
    *pools("pool", "[2, 2], 'MAX', dilations=[0, 1]"),
    *pools("pool", "[2], 'MAX'"),
    *pools("pool", "[1, 1, 1, 1], 'MAX'"),
    *pools("pool", "2, 'MAX'"),
    *pools("pool", "[2, 2], 'MAX', padding='X'"),
    # fractional pools: the regions are the same as TensorFlow's
    *each(
        "float32 float64 int32 int64",
        "tf.raw_ops.FractionalMaxPool(value=a, pooling_ratio=[1.0, 1.4, 1.7, 1.0], "
        "deterministic=True, seed=3, seed2=5)",
        a=normal(2, 7, 9, 2),
        second=False,
    ),
    *each(
        "float32 float64 int32 int64",
        "tf.raw_ops.FractionalAvgPool(value=a, pooling_ratio=[1.0, 1.4, 1.7, 1.0], "
        "deterministic=True, seed=3, seed2=5, overlapping=True)",
        a=normal(2, 7, 9, 2),
        second=False,
    ),
    row(
        "tf.raw_ops.FractionalMaxPool(value=a, pooling_ratio=[1.0, 1.3, 2.2, 1.0], pseudo_random=True, "
        "overlapping=True, deterministic=True, seed=7, seed2=8)",
        a=normal(2, 12, 13, 1),
        second=False,
    ),
    row(
        "tf.raw_ops.FractionalAvgPool(value=a, pooling_ratio=[1.0, 2.0, 1.0, 1.0], pseudo_random=True, "
        "deterministic=True, seed=7, seed2=8)",
        a=normal(2, 12, 5, 1),
        second=False,
    ),
    row(
        "tf.raw_ops.FractionalMaxPoolGrad(orig_input=tf.ones_like(a), orig_output=tf.ones_like(g), "
        "out_backprop=g, row_pooling_sequence=[0, 2, 3, 5], col_pooling_sequence=[0, 1, 3], "
        "overlapping=True)",
        a=normal(1, 5, 3, 2),
        g=normal(1, 3, 2, 2),
        grad=False,
    ),
    row(
        "tf.raw_ops.FractionalAvgPoolGrad(orig_input_tensor_shape=[1, 5, 3, 2], out_backprop=g, "
        "row_pooling_sequence=[0, 2, 3, 5], col_pooling_sequence=[0, 1, 3], overlapping=True)",
        g=normal(1, 3, 2, 2),
        grad=False,
    ),
    row(
        "tf.random.set_seed(3)\nresult = tf.nn.fractional_max_pool(a, [1.0, 1.4, 1.7, 1.0], seed=5)",
        a=normal(1, 7, 9, 2),
        second=False,
    ),
    row(
        "tf.random.set_seed(3)\n"
        "result = tf.nn.fractional_avg_pool(a, [1.0, 1.5, 1.5, 1.0], True, overlapping=True, seed=5)",
        a=normal(1, 8, 10, 2),
        second=False,
    ),
    row("tf.shape(tf.nn.fractional_max_pool(a, [1.0, 1.4, 1.7, 1.0])[0])", a=normal(1, 7, 9, 2), grad=False),
    *(
        row(f"tf.raw_ops.FractionalMaxPool(value=a, pooling_ratio={ratio}{more})", a=normal(*shape))
        for ratio, shape, more in (
            ([1.0, 0.5, 1.0, 1.0], (1, 7, 9, 2), ""),
            ([2.0, 1.5, 1.5, 1.0], (2, 7, 9, 2), ""),
            ([1.0, 10.0, 1.0, 1.0], (1, 7, 9, 2), ""),
            ([1.0, 1.0, 1.0, 1.0], (7, 9, 2), ""),
            ([1.5], (1, 7, 9, 2), ""),
            ([1.0, 1.5, 1.5, 1.0], (1, 7, 9, 2), ", seed=3"),
            ([1.0, 1.5, 1.5, 1.0], (0, 7, 9, 2), ""),
        )
    ),
    row("tf.nn.fractional_max_pool(a, 1.5, seed=6)[0]", a=normal(1, 7, 9, 2), second=False),
    row("tf.nn.fractional_max_pool(a, 0.5)", a=normal(1, 7, 9, 2)),
    row("tf.nn.fractional_max_pool(a, [1.0, 1.5, 2.0])", a=normal(1, 7, 9, 2)),
    row(
        "tf.nn.fractional_avg_pool(a, 1.5, seed=5)",
        a=normal(1, 7, 9, 2),
        ours="TensorFlow takes one number for maxima only; headrace for means too",
    ),
    row(
        "tf.raw_ops.FractionalMaxPoolGrad(orig_input=a, orig_output=g, out_backprop=g, "
        "row_pooling_sequence=[0, 2, 3], col_pooling_sequence=[0, 1, 3])",
        a=normal(1, 5, 3, 2),
        g=normal(1, 3, 2, 2),
    ),
    *(
        row(
            "tf.raw_ops.FractionalAvgPoolGrad(orig_input_tensor_shape=[1, 5, 3, 2], out_backprop=g, "
            f"row_pooling_sequence={rows}, col_pooling_sequence=[0, 1, 3])",
            g=normal(1, 3, 2, 2),
            ours="TensorFlow writes outside the result; headrace refuses",
        )
        for rows in ([0, -2, 3, 5], [0, 2, 3, 50], [5, 3, 2, 0])
    ),
    # space to batch and back
    *each(
        "float32 float16 int32 int64",
        "tf.space_to_batch(tf.cast(a, '{T}'), [2, 2], [[1, 0], [0, 0]])",
        a=normal(2, 5, 6, 3, dtype="float32"),
        grad=False,
    ),
    row("tf.space_to_batch(a, [2, 2], [[1, 0], [0, 0]])", a=normal(2, 5, 6, 3)),
    *each(
        "bool complex64", "tf.space_to_batch(a, [2, 2], [[1, 0], [0, 0]])", a=normal(2, 5, 6, 3), ours=_TYPES
    ),
    row("tf.nn.space_to_batch(a, [3], [[0, 1]])", a=normal(2, 5, 6)),
    row("tf.space_to_batch_nd(a, tf.constant([2, 3], tf.int64), [[2, 1], [0, 0]])", a=normal(1, 5, 6, 1)),
    row("tf.space_to_batch(a, np.zeros(0, np.int32), np.zeros((0, 2), np.int32))", a=normal(2, 5)),
    row("tf.space_to_batch(a, [1, 2, 1], [[0, 0], [0, 0], [1, 1]])", a=normal(2, 2, 4, 2)),
    row("tf.batch_to_space(a, [2, 2], [[0, 1], [1, 1]])", a=normal(8, 2, 3, 1)),
    row("tf.batch_to_space(a, 2, [[0, 1], [1, 1]])", a=normal(8, 2, 3, 1)),
    row("tf.batch_to_space(a, [3], [[2, 0]])", a=normal(6, 2, 3)),
    row("tf.batch_to_space(a, [2, 2], [[2, 2], [1, 1]])", a=normal(8, 2, 3, 1)),
    *(
        row(f"tf.space_to_batch(a, {block}, {pairs})", a=normal(2, 5, 6, 3))
        for block, pairs in (
            ([2, 2], [[0, 0], [0, 0]]),
            ([2, 2], [[-1, 0], [0, 0]]),
            ([0, 2], [[1, 0], [0, 0]]),
            (2, [[1, 0], [0, 0]]),
            ([2, 2], [[0, 0]]),
            ([2, 2, 2, 2], [[0, 0]] * 4),
        )
    ),
    *(
        row(f"tf.batch_to_space(a, {block}, {pairs})", a=normal(8, 2, 3, 1))
        for block, pairs in (
            ([3, 2], [[0, 0], [0, 0]]),
            ([2, 2], [[0, -1], [0, 0]]),
            ([2, 2], [[4, 1], [0, 0]]),
            ([0, 2], [[0, 0], [0, 0]]),
        )
    ),
    row("tf.raw_ops.SpaceToBatch(input=a, paddings=[[1, 0], [0, 0]], block_size=2)", a=normal(2, 5, 6, 3)),
    row("tf.raw_ops.BatchToSpace(input=a, crops=[[1, 0], [0, 0]], block_size=2)", a=normal(8, 2, 3, 1)),
    row("tf.raw_ops.SpaceToBatch(input=a, paddings=[[1, 0], [0, 0]], block_size=1)", a=normal(2, 5, 6, 3)),
    row("tf.raw_ops.SpaceToBatch(input=a, paddings=[[1, 0], [0, 0]], block_size=2)", a=normal(5, 6, 3)),
    row("tf.required_space_to_batch_paddings([5, 6], [2, 3])"),
    row("tf.required_space_to_batch_paddings([5, 6], [2, 3], [[1, 2], [0, 1]])"),
    row("tf.required_space_to_batch_paddings(a, b)", a=value([7], "int32"), b=value([4], "int32")),
    row("tf.required_space_to_batch_paddings([5, 6], [2])"),
    row("tf.required_space_to_batch_paddings([5, 6], [2, 3], [[1, 2]])"),
    *(
        row(f"tf.nn.with_space_to_batch(a, {arguments})", a=normal(2, 5, 6, 3))
        for arguments in (
            "[1, 1], 'SAME', lambda x, n, p: tf.nn.max_pool2d(x, 2, 1, p)",
            "[2, 2], 'SAME', lambda x, n, p: tf.nn.avg_pool2d(x, 2, 1, p), filter_shape=[2, 2]",
            "[2, 3], 'VALID', lambda x, n, p: tf.nn.avg_pool2d(x, 2, 1, p) * n",
            "[2], 'VALID', lambda x, n, p: tf.nn.avg_pool2d(x, 2, 1, p), spatial_dims=[2]",
            "[2, 2], 'SAME', lambda x, n, p: x",
            "[0, 2], 'VALID', lambda x, n, p: x",
            "[2, 2], 'X', lambda x, n, p: x",
            "[[2, 2]], 'VALID', lambda x, n, p: x",
            "[2, 2], 'VALID', lambda x, n, p: x, spatial_dims=[2]",
            "[2, 2], 'VALID', lambda x, n, p: x, spatial_dims=[2, 2]",
        )
    ),
    # space to channels and back
    *each("float32 float64 float16 int32 int64 uint8", "tf.nn.space_to_depth(a, 2)", a=normal(2, 4, 6, 3)),
    *each("float32 float64 float16 int32 int64 uint8", "tf.nn.depth_to_space(a, 2)", a=normal(2, 2, 3, 8)),
    row("tf.nn.space_to_depth(tf.constant([[[['a'], ['b']], [['c'], ['d']]]]), 2)"),
    row("tf.nn.depth_to_space(a > 0, 3)", a=normal(1, 2, 1, 9)),
    row("tf.nn.space_to_depth(a, 2, 'NCHW')", a=normal(2, 3, 4, 6), ours=_NCHW),
    row("tf.nn.depth_to_space(a, 2, 'NCHW')", a=normal(2, 8, 2, 3), ours=_NCHW),
    *(
        row(f"tf.nn.space_to_depth(a, {arguments})", a=normal(*shape))
        for arguments, shape in (
            ("2", (2, 5, 6, 3)),
            ("1", (2, 4, 6, 3)),
            ("0", (2, 4, 6, 3)),
            ("2", (4, 6, 3)),
            ("2, 'X'", (2, 4, 6, 3)),
        )
    ),
    *(
        row(f"tf.nn.depth_to_space(a, {arguments})", a=normal(*shape))
        for arguments, shape in (
            ("3", (2, 5, 6, 4)),
            ("1", (2, 4, 6, 3)),
            ("2", (4, 6, 4)),
            ("2, 'X'", (2, 4, 6, 4)),
        )
    ),
    # patches
    *each(
        "float16 float32 float64 int32 int64",
        "tf.raw_ops.ExtractImagePatches(images=tf.cast(a, '{T}'), "
        "ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding='SAME')",
        a=normal(2, 4, 5, 2, dtype="float32"),
        grad=False,
    ),
    row(
        "tf.raw_ops.ExtractImagePatches(images=a, ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], "
        "rates=[1, 1, 2, 1], padding='SAME')",
        a=normal(2, 4, 5, 2),
    ),
    row(
        "tf.raw_ops.ExtractImagePatches(images=a, ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], "
        "rates=[1, 1, 1, 1], padding='VALID')",
        a=normal(1, 3, 3, 1),
    ),
    row(
        "tf.raw_ops.ExtractImagePatches(images=a, ksizes=[1, 4, 2, 1], strides=[1, 1, 1, 1], "
        "rates=[1, 1, 1, 1], padding='VALID')",
        a=normal(1, 3, 3, 1),
        grad=False,
    ),
    *(
        row(
            f"tf.raw_ops.ExtractImagePatches(images=a, ksizes={ksizes}, strides=[1, 1, 1, 1], "
            "rates=[1, 1, 1, 1], padding='VALID')",
            a=normal(*shape),
        )
        for ksizes, shape in (
            ([2, 2, 2, 1], (1, 3, 3, 1)),
            ([1, 0, 2, 1], (1, 3, 3, 1)),
            ([2, 2], (1, 3, 3, 1)),
            ([1, 2, 2, 1], (3, 3, 1)),
        )
    ),
    *each(
        "float32 float64 int32",
        "tf.extract_volume_patches(a, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], 'SAME')",
        a=normal(1, 3, 3, 2, 2),
    ),
    row("tf.extract_volume_patches(a, [1, 2, 1, 2, 1], [1, 1, 1, 1, 1], 'VALID')", a=normal(2, 3, 2, 3, 1)),
    row(
        "tf.extract_volume_patches(a, [1, 4, 1, 2, 1], [1, 1, 1, 1, 1], 'VALID')",
        a=normal(2, 3, 2, 3, 1),
        grad=False,
    ),
    row("tf.extract_volume_patches(a, [2, 2, 1, 2, 1], [1, 1, 1, 1, 1], 'VALID')", a=normal(2, 3, 2, 3, 1)),
    row("tf.extract_volume_patches(a, [1, 2, 1, 2, 1], [1, 0, 1, 1, 1], 'VALID')", a=normal(2, 3, 2, 3, 1)),
    row("tf.extract_volume_patches(a, [1, 2, 1, 2, 1], [2, 1, 1, 1, 1], 'VALID')", a=normal(2, 3, 2, 3, 1)),
    row("tf.extract_volume_patches(a, [1, 2, 1, 2, 1], [1, 1, 1, 1, 1], 'VALID')", a=normal(3, 2, 3, 1)),
]
