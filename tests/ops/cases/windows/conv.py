"""Rows of the convolution ops and functions."""

from rows import FLOATS, each, normal, row

# Why headrace decides otherwise than TensorFlow.
_NCHW = "TensorFlow's CPU refuses channels first; headrace takes them"
_DILATED = "TensorFlow's CPU refuses dilated gradients; headrace computes them"
_GROUPS = "TensorFlow's CPU refuses gradients of grouped convolutions; headrace computes them"


def floats(code, **inputs):
    """Rows in all floating dtypes. TensorFlow sums the small ones in themselves, hence their tolerance."""
    return [
        *each("float32 float64", code, **inputs),
        row(code, dtype="float16", rtol=1e-2, atol=2e-2, **inputs),
        row(code, dtype="bfloat16", rtol=8e-2, atol=1.5e-1, **inputs),
    ]


def conv2d(strides, padding, *, x=(2, 5, 6, 3), f=(3, 2, 3, 4), more="", **options):
    code = f"tf.nn.conv2d(a, w, {strides}, {padding!r}{more})"
    return row(code, a=normal(*x), w=normal(*f), **options)


ROWS = [
    # conv2d: strides, paddings, dilations, groups, dtypes, batches
    *floats("tf.nn.conv2d(a, w, 1, 'SAME')", a=normal(2, 5, 6, 3), w=normal(3, 3, 3, 4)),
    *each(f"{FLOATS} int32", "tf.nn.conv2d(a, w, 2, 'VALID')", a=normal(1, 5, 6, 2), w=normal(2, 3, 2, 2)),
    conv2d(1, "VALID"),
    conv2d(2, "SAME"),
    conv2d([2, 1], "SAME"),
    conv2d([1, 3, 2, 1], "VALID"),
    conv2d(1, "SAME", f=(1, 1, 3, 2)),
    conv2d(2, "SAME", f=(1, 1, 3, 2)),
    conv2d(3, "SAME", f=(2, 2, 3, 2)),
    conv2d(1, "SAME", x=(1, 1, 1, 1), f=(5, 5, 1, 1)),
    conv2d(1, "SAME", x=(2, 4, 4, 1), f=(3, 3, 1, 16)),
    conv2d(1, "SAME", f=(4, 4, 3, 1)),
    conv2d(1, [[0, 0], [1, 2], [0, 3], [0, 0]]),
    conv2d(2, [[0, 0], [0, 1], [2, 0], [0, 0]]),
    conv2d(1, [[0, 0], [4, 4], [5, 5], [0, 0]], f=(2, 2, 3, 2)),
    conv2d(1, "SAME", x=(3, 2, 4, 4, 3)),
    conv2d(1, "SAME", x=(0, 5, 6, 3)),
    # TensorFlow leaves the filter's gradient unset where there is no window.
    conv2d(1, "VALID", x=(2, 2, 6, 3), grad=False),
    conv2d(1, "VALID", f=(3, 2, 3, 0), grad=False),
    conv2d(1, "VALID", f=(6, 2, 3, 4), grad=False),
    conv2d(1, "SAME", more=", dilations=2", grad=False),
    conv2d(1, "VALID", more=", dilations=[2, 3]", f=(2, 2, 3, 4), grad=False),
    conv2d(2, "SAME", more=", dilations=[1, 2, 1, 1]", grad=False),
    conv2d(1, "SAME", more=", dilations=2", ours=_DILATED),
    conv2d(1, "VALID", x=(2, 5, 6, 4), f=(2, 2, 2, 6), grad=False),
    conv2d(1, "SAME", x=(2, 5, 6, 4), f=(2, 2, 1, 8), grad=False),
    conv2d(1, "SAME", x=(2, 5, 6, 4), f=(2, 2, 2, 6), ours=_GROUPS),
    conv2d(2, "SAME", x=(2, 5, 6, 4), f=(3, 3, 1, 8), ours=_GROUPS),
    conv2d(2, "SAME", x=(2, 3, 5, 6), more=", data_format='NCHW'", ours=_NCHW),
    conv2d(1, "VALID", x=(2, 4, 5, 6), f=(2, 2, 2, 6), more=", data_format='NCHW'", ours=_NCHW),
    conv2d(1, [[0, 0], [0, 0], [1, 0], [2, 1]], x=(2, 3, 5, 6), more=", data_format='NCHW'", ours=_NCHW),
    # conv2d: errors
    conv2d(0, "SAME"),
    conv2d(-1, "SAME"),
    conv2d([2, 1, 1, 1], "SAME"),
    conv2d([1, 1, 1, 2], "SAME"),
    conv2d([1, 1, 1], "SAME"),
    conv2d(1, "same"),
    conv2d(1, "EXPLICIT"),
    conv2d(1, [[0, 0], [1, 1]]),
    conv2d(1, [[1, 0], [1, 1], [1, 1], [0, 0]]),
    conv2d(1, [[0, 0], [-1, 1], [1, 1], [0, 0]]),
    conv2d(1, 3),
    conv2d(1, "SAME", more=", dilations=0"),
    conv2d(1, "SAME", more=", dilations=[2, 1, 1, 1]"),
    conv2d(1, "SAME", more=", data_format='HWCN'"),
    conv2d(1, "VALID", f=(9, 2, 3, 4)),
    conv2d(1, "SAME", f=(3, 3, 2, 4)),
    conv2d(1, "SAME", x=(2, 5, 6, 4), f=(3, 3, 2, 3)),
    conv2d(1, "SAME", f=(0, 3, 3, 4)),
    conv2d(1, "SAME", f=(3, 3, 4)),
    conv2d(1, "SAME", x=(5, 6, 3)),
    row("tf.nn.conv2d(a, tf.cast(w, 'float64'), 1, 'SAME')", a=normal(1, 3, 3, 1), w=normal(2, 2, 1, 1)),
    row(
        "tf.nn.conv2d(a, w, 1, 'SAME')",
        a=normal(1, 3, 3, 1, dtype="int64"),
        w=normal(2, 2, 1, 1, dtype="int64"),
    ),
    # the ops of its gradients
    *floats(
        "tf.raw_ops.Conv2DBackpropInput(input_sizes=[2, 5, 6, 3], filter=w, out_backprop=g, "
        "strides=[1, 2, 1, 1], padding='SAME')",
        w=normal(3, 3, 3, 2),
        g=normal(2, 3, 6, 2),
    ),
    *floats(
        "tf.raw_ops.Conv2DBackpropFilter(input=a, filter_sizes=[3, 3, 3, 2], out_backprop=g, "
        "strides=[1, 2, 1, 1], padding='SAME')",
        a=normal(2, 5, 6, 3),
        g=normal(2, 3, 6, 2),
    ),
    row(
        "tf.raw_ops.Conv2DBackpropInput(input_sizes=[5, 6], filter=w, out_backprop=g, strides=[1, 1, 1, 1], "
        "padding='VALID')",
        w=normal(3, 3, 3, 2),
        g=normal(2, 3, 4, 2),
    ),
    row(
        "tf.raw_ops.Conv2DBackpropInput(input_sizes=[2, 5, 6, 3], filter=w, out_backprop=g, "
        "strides=[1, 1, 1, 1], padding='VALID')",
        w=normal(3, 3, 3, 2, dtype="int32"),
        g=normal(2, 3, 4, 2, dtype="int32"),
    ),
    row(
        "tf.raw_ops.Conv2DBackpropFilter(input=a, filter_sizes=[0, 3, 3, 2], out_backprop=g, "
        "strides=[1, 1, 1, 1], padding='VALID')",
        a=normal(2, 5, 6, 3),
        g=normal(2, 6, 4, 2),
        grad=False,
    ),
    *(
        row(
            f"tf.raw_ops.Conv2DBackpropInput(input_sizes={sizes}, filter=w, out_backprop=g, "
            "strides=[1, 1, 1, 1], padding='VALID')",
            w=normal(3, 3, 3, 2),
            g=normal(2, 3, 4, 2),
        )
        for sizes in (
            [2, 5, 5, 3],
            [1, 5, 6, 3],
            [2, 5, 6, 4],
            [5, 6, 3],
            [2, -5, 6, 3],
            [2, 2**30, 2**30, 3],
            [[2, 5, 6, 3]],
            [1.0, 2.0, 3.0, 4.0],
        )
    ),
    *(
        row(
            f"tf.raw_ops.Conv2DBackpropFilter(input=a, filter_sizes={sizes}, out_backprop=g, "
            "strides=[1, 1, 1, 1], padding='VALID')",
            a=normal(2, 5, 6, 3),
            g=normal(2, 3, 4, 2),
        )
        for sizes in ([3, 2, 3, 2], [3, 3, 2, 2], [3, 3, 3, 3], [3, 3], [3, -3, 3, 2])
    ),
    row(
        "tf.raw_ops.Conv2DBackpropInputV2(input=a, filter=w, out_backprop=g, strides=[1, 1, 1, 1], "
        "padding='VALID')",
        a=normal(2, 5, 6, 3),
        w=normal(3, 3, 3, 2),
        g=normal(2, 3, 4, 2),
        ours="TensorFlow has no kernel for it on any device but compilers",
    ),
    row(
        "tf.conv2d_backprop_input_v2(a, w, g, [1, 2, 2, 1], 'SAME')",
        a=normal(2, 5, 6, 3),
        w=normal(3, 3, 3, 2),
        g=normal(2, 3, 3, 2),
        ours="TensorFlow has no kernel for it on any device but compilers",
    ),
    row(
        "tf.conv2d_backprop_filter_v2(a, w, g, [1, 2, 2, 1], 'SAME')",
        a=normal(2, 5, 6, 3),
        w=normal(3, 3, 3, 2),
        g=normal(2, 3, 3, 2),
        ours="TensorFlow has no kernel for it on any device but compilers",
    ),
    # conv1d
    *floats("tf.nn.conv1d(a, w, 1, 'SAME')", a=normal(2, 7, 3), w=normal(3, 3, 2)),
    row("tf.nn.conv1d(a, w, 2, 'VALID')", a=normal(2, 7, 3), w=normal(3, 3, 2)),
    row("tf.nn.conv1d(a, w, [2], 'SAME')", a=normal(2, 7, 3), w=normal(2, 3, 2)),
    row("tf.nn.conv1d(a, w, [1, 3, 1], 'SAME')", a=normal(2, 7, 3), w=normal(2, 3, 2)),
    row("tf.nn.conv1d(a, w, 1, 'SAME', dilations=2)", a=normal(2, 7, 3), w=normal(3, 3, 2), grad=False),
    row("tf.nn.conv1d(a, w, 1, 'SAME')", a=normal(3, 2, 7, 3), w=normal(3, 3, 2)),
    row("tf.nn.conv1d(a, w, 1, 'VALID', data_format=None)", a=normal(2, 7, 3), w=normal(3, 3, 2)),
    row("tf.nn.conv1d(a, w, 2, 'SAME', data_format='NCW')", a=normal(2, 3, 7), w=normal(3, 3, 2), ours=_NCHW),
    row("tf.nn.conv1d(a, w, 1, 'SAME', data_format='WNC')", a=normal(2, 7, 3), w=normal(3, 3, 2)),
    row("tf.nn.conv1d(a, w, 1, 'CAUSAL')", a=normal(2, 7, 3), w=normal(3, 3, 2)),
    row("tf.nn.conv1d(a, w, [1, 2], 'SAME')", a=normal(2, 7, 3), w=normal(3, 3, 2)),
    row("tf.nn.conv1d(a, w, 1, 'SAME')", a=normal(7, 3), w=normal(3, 3, 2)),
    row("tf.nn.conv1d(a, w, 1, 'VALID')", a=normal(2, 7, 3), w=normal(9, 3, 2)),
    # conv3d
    *floats(
        "tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'SAME')",
        a=normal(1, 3, 4, 3, 2),
        w=normal(2, 3, 2, 2, 2),
    ),
    row("tf.nn.conv3d(a, w, [1, 2, 1, 2, 1], 'VALID')", a=normal(2, 4, 3, 5, 2), w=normal(2, 2, 3, 2, 1)),
    row("tf.nn.conv3d(a, w, [1, 2, 2, 2, 1], 'SAME')", a=normal(2, 4, 3, 5, 1), w=normal(3, 2, 3, 1, 2)),
    row("tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'VALID')", a=normal(2, 1, 3, 3, 3, 1), w=normal(2, 2, 2, 1, 1)),
    row(
        "tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'SAME', dilations=[1, 2, 1, 2, 1])",
        a=normal(1, 4, 4, 4, 1),
        w=normal(2, 2, 2, 1, 1),
        ours=_DILATED,
    ),
    row(
        "tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'SAME', 'NCDHW')",
        a=normal(1, 2, 4, 4, 4),
        w=normal(2, 2, 2, 2, 1),
        ours=_NCHW,
    ),
    row(
        "tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'SAME')",
        a=normal(1, 3, 3, 3, 4),
        w=normal(2, 2, 2, 2, 4),
        ours=_GROUPS,
    ),
    row("tf.nn.conv3d(a, w, [1, 0, 1, 1, 1], 'SAME')", a=normal(1, 3, 3, 3, 2), w=normal(2, 2, 2, 2, 2)),
    row("tf.nn.conv3d(a, w, [1, 1, 1], 'SAME')", a=normal(1, 3, 3, 3, 2), w=normal(2, 2, 2, 2, 2)),
    row("tf.nn.conv3d(a, w, 1, 'SAME')", a=normal(1, 3, 3, 3, 2), w=normal(2, 2, 2, 2, 2)),
    row("tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'EXPLICIT')", a=normal(1, 3, 3, 3, 2), w=normal(2, 2, 2, 2, 2)),
    row("tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'VALID')", a=normal(1, 3, 3, 3, 2), w=normal(5, 2, 2, 2, 2)),
    row("tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'VALID')", a=normal(1, 3, 3, 3, 2), w=normal(2, 2, 2, 3, 2)),
    row("tf.nn.conv3d(a, w, [1, 1, 1, 1, 1], 'VALID')", a=normal(3, 3, 3, 2), w=normal(2, 2, 2, 2, 2)),
    row(
        "tf.raw_ops.Conv3DBackpropInputV2(input_sizes=tf.constant([1, 3, 4, 3, 2], tf.int64), filter=w, "
        "out_backprop=g, strides=[1, 2, 1, 1, 1], padding='SAME')",
        w=normal(2, 2, 2, 2, 2),
        g=normal(1, 2, 4, 3, 2),
    ),
    row(
        "tf.raw_ops.Conv3DBackpropFilterV2(input=a, filter_sizes=[2, 2, 2, 2, 2], out_backprop=g, "
        "strides=[1, 2, 1, 1, 1], padding='SAME')",
        a=normal(1, 3, 4, 3, 2),
        g=normal(1, 2, 4, 3, 2),
    ),
    row(
        "tf.raw_ops.Conv3DBackpropInputV2(input_sizes=[1, 3, 4, 3, 2], filter=w, "
        "out_backprop=g, strides=[1, 1, 1, 1, 1], padding='SAME')",
        w=normal(2, 2, 2, 2, 2),
        g=normal(1, 2, 4, 3, 2),
    ),
    # transposes
    *floats("tf.nn.conv2d_transpose(a, w, [2, 6, 6, 2], 2)", a=normal(2, 3, 3, 3), w=normal(3, 3, 2, 3)),
    row(
        "tf.nn.conv2d_transpose(a, w, [2, 7, 6, 2], [2, 1], 'VALID')",
        a=normal(2, 3, 4, 3),
        w=normal(3, 3, 2, 3),
    ),
    row(
        "tf.nn.conv2d_transpose(a, w, [1, 5, 5, 2], 2, [[0, 0], [1, 1], [1, 1], [0, 0]])",
        a=normal(1, 3, 3, 1),
        w=normal(3, 3, 2, 1),
    ),
    row(
        "tf.nn.conv2d_transpose(a, w, [1, 5, 5, 2], 1, dilations=2)",
        a=normal(1, 5, 5, 1),
        w=normal(3, 3, 2, 1),
        ours=_DILATED,
    ),
    row(
        "tf.nn.conv2d_transpose(a, w, [1, 2, 6, 6], 2, data_format='NCHW')",
        a=normal(1, 1, 3, 3),
        w=normal(3, 3, 2, 1),
        ours=_NCHW,
    ),
    row("tf.nn.conv2d_transpose(a, w, [2, 7, 6, 2], 2)", a=normal(2, 3, 3, 3), w=normal(3, 3, 2, 3)),
    row("tf.nn.conv2d_transpose(a, w, [2, 6, 6, 2], 2)", a=normal(2, 3, 3, 3), w=normal(3, 3, 2, 4)),
    row(
        "tf.nn.conv2d_transpose(a, w, tf.constant([2, 6, 6, 2], tf.int64), 2)",
        a=normal(2, 3, 3, 3),
        w=normal(3, 3, 2, 3),
    ),
    row("tf.nn.conv2d_transpose(a, w, [2, 6, 6, 2], 2, 'X')", a=normal(2, 3, 3, 3), w=normal(3, 3, 2, 3)),
    row("tf.nn.conv1d_transpose(a, w, [2, 8, 2], 2)", a=normal(2, 4, 3), w=normal(3, 2, 3)),
    row("tf.nn.conv1d_transpose(a, w, [2, 9, 2], [2], 'VALID')", a=normal(2, 4, 3), w=normal(3, 2, 3)),
    row(
        "tf.nn.conv1d_transpose(a, w, tf.constant([2, 8, 2]), [1, 2, 1])",
        a=normal(2, 4, 3),
        w=normal(3, 2, 3),
    ),
    row(
        "tf.nn.conv1d_transpose(a, w, [2, 2, 8], 2, data_format='NCW')",
        a=normal(2, 3, 4),
        w=normal(3, 2, 3),
        ours=_NCHW,
    ),
    row("tf.nn.conv1d_transpose(a, w, [2, 8, 2], 2, data_format='X')", a=normal(2, 4, 3), w=normal(3, 2, 3)),
    row("tf.nn.conv1d_transpose(a, w, [2, 10, 2], 2)", a=normal(2, 4, 3), w=normal(3, 2, 3)),
    row("tf.nn.conv3d_transpose(a, w, [1, 4, 4, 6, 1], 2)", a=normal(1, 2, 2, 3, 2), w=normal(2, 2, 2, 1, 2)),
    row(
        "tf.nn.conv3d_transpose(a, w, [1, 4, 4, 6, 1], [1, 2, 2, 2, 1], 'SAME')",
        a=normal(1, 2, 2, 3, 2),
        w=normal(3, 2, 2, 1, 2),
    ),
    row("tf.nn.conv3d_transpose(a, w, [1, 5, 4, 6, 1], 2)", a=normal(1, 2, 2, 3, 2), w=normal(2, 2, 2, 1, 2)),
    row("tf.nn.conv_transpose(a, w, [2, 6, 6, 2], 2)", a=normal(2, 3, 3, 3), w=normal(3, 3, 2, 3)),
    row("tf.nn.conv_transpose(a, w, [2, 8, 2], 2)", a=normal(2, 4, 3), w=normal(3, 2, 3)),
    row(
        "tf.nn.conv_transpose(a, w, tf.constant([1, 4, 4, 4, 1]), 2, 'SAME')",
        a=normal(1, 2, 2, 2, 1),
        w=normal(2, 2, 2, 1, 1),
    ),
    row("tf.nn.conv_transpose(a, w, [2, 8], 2)", a=normal(2, 4, 3), w=normal(3, 2, 3)),
    # convolution and atrous convolution
    *floats("tf.nn.convolution(a, w)", a=normal(1, 4, 4, 2), w=normal(2, 2, 2, 3)),
    row("tf.nn.convolution(a, w, 2, 'SAME')", a=normal(2, 7, 3), w=normal(3, 3, 2)),
    row("tf.nn.convolution(a, w, [2, 1], 'SAME', 'NHWC')", a=normal(1, 4, 4, 2), w=normal(2, 2, 2, 3)),
    row("tf.nn.convolution(a, w, [1, 2, 1, 1], 'SAME')", a=normal(1, 4, 4, 2), w=normal(2, 2, 2, 3)),
    row("tf.nn.convolution(a, w, None, 'SAME', 'NDHWC')", a=normal(1, 3, 3, 3, 1), w=normal(2, 2, 2, 1, 2)),
    row("tf.nn.convolution(a, w, padding='SAME', dilations=2)", a=normal(1, 5, 4, 2), w=normal(2, 3, 2, 3)),
    row("tf.nn.convolution(a, w, dilations=[2])", a=normal(2, 7, 3), w=normal(3, 3, 2), grad=False),
    row(
        "tf.nn.convolution(a, w, dilations=[1, 2, 1], padding='SAME')",
        a=normal(1, 3, 4, 3, 1),
        w=normal(2, 2, 2, 1, 2),
        grad=False,
    ),
    row("tf.nn.convolution(a, w)", a=normal(2, 1, 4, 4, 2), w=normal(2, 2, 2, 3)),
    row(
        "tf.nn.convolution(a, w, strides=2, dilations=2)",
        a=normal(1, 5, 5, 2),
        w=normal(2, 2, 2, 3),
        ours="TensorFlow refuses strides together with dilations; headrace takes them",
    ),
    row(
        "tf.nn.convolution(a, w, data_format='NCHW')", a=normal(1, 2, 4, 4), w=normal(2, 2, 2, 3), ours=_NCHW
    ),
    row("tf.nn.convolution(a, w)", a=normal(2, 4), w=normal(4, 3)),
    row("tf.nn.convolution(a, w)", a=normal(1, 2, 2, 2, 2, 3), w=normal(1, 1, 1, 1, 3, 3)),
    row("tf.nn.convolution(a, w, dilations=[1, 2, 3])", a=normal(1, 4, 4, 2), w=normal(2, 2, 2, 3)),
    row("tf.nn.convolution(a, w, padding='X')", a=normal(1, 4, 4, 2), w=normal(2, 2, 2, 3)),
    row("tf.nn.convolution(a, w, padding=[[1, 1], [1, 1]])", a=normal(1, 4, 4, 2), w=normal(2, 2, 2, 3)),
    row("tf.nn.convolution(a, w)", a=normal(1, 4, 4, 3), w=normal(2, 2, 2, 3)),
    row("tf.nn.atrous_conv2d(a, w, 2, 'SAME')", a=normal(1, 5, 6, 2), w=normal(3, 2, 2, 2)),
    row("tf.nn.atrous_conv2d(a, w, 2, 'VALID')", a=normal(1, 5, 6, 2), w=normal(3, 2, 2, 2)),
    row("tf.nn.atrous_conv2d(a, w, 1, 'SAME')", a=normal(1, 5, 6, 2), w=normal(3, 2, 2, 2)),
    row("tf.nn.atrous_conv2d(a, w, 0, 'SAME')", a=normal(1, 5, 6, 2), w=normal(3, 2, 2, 2)),
    row("tf.nn.atrous_conv2d(a, w, 2, 'X')", a=normal(1, 5, 6, 2), w=normal(3, 2, 2, 2)),
    row(
        "tf.nn.atrous_conv2d_transpose(a, w, [1, 5, 6, 2], 2, 'SAME')",
        a=normal(1, 5, 6, 3),
        w=normal(3, 3, 2, 3),
    ),
    row(
        "tf.nn.atrous_conv2d_transpose(a, w, [1, 9, 8, 2], 2, 'VALID')",
        a=normal(1, 5, 6, 3),
        w=normal(3, 2, 2, 3),
    ),
    row(
        "tf.nn.atrous_conv2d_transpose(a, w, [1, 5, 6, 2], 1, 'SAME')",
        a=normal(1, 5, 6, 3),
        w=normal(3, 2, 2, 3),
    ),
    row(
        "tf.nn.atrous_conv2d_transpose(a, w, [1, 5, 6, 2], 0, 'SAME')",
        a=normal(1, 5, 6, 3),
        w=normal(3, 2, 2, 3),
    ),
    row(
        "tf.nn.atrous_conv2d_transpose(a, w, [1, 5, 6, 2], 2, 'X')",
        a=normal(1, 5, 6, 3),
        w=normal(3, 2, 2, 3),
    ),
    row(
        "tf.nn.atrous_conv2d_transpose(a, w, [1, 5, 6], 2, 'SAME')",
        a=normal(1, 5, 6, 3),
        w=normal(3, 2, 2, 3),
    ),
    row(
        "tf.nn.atrous_conv2d_transpose(a, w, [1, 5, 6, 2], 2, 'SAME')",
        a=normal(1, 5, 6, 3),
        w=normal(3, 2, 2, 4),
    ),
    # the op Conv
    *each(
        f"{FLOATS} int32",
        "tf.conv(a, w, [1, 1, 1, 1], 'SAME')",
        a=normal(1, 4, 4, 2),
        w=normal(2, 2, 2, 3),
        grad=False,
    ),
    row(
        "tf.raw_ops.Conv(input=a, filter=w, strides=[1, 2, 1, 2, 1], padding='VALID')",
        a=normal(1, 3, 3, 4, 2),
        w=normal(2, 2, 2, 2, 3),
        grad=False,
    ),
    row(
        "tf.conv(a, w, [1, 1, 1, 1], 'EXPLICIT', [0, 0, 1, 0, 2, 1, 0, 0])",
        a=normal(1, 4, 4, 2),
        w=normal(2, 2, 2, 3),
        grad=False,
    ),
    row(
        "tf.conv(a, w, [1, 1, 1, 1], 'SAME', dilations=[1, 2, 2, 1])",
        a=normal(1, 4, 4, 2),
        w=normal(2, 2, 2, 3),
        grad=False,
    ),
    *(
        row(code, ours="TensorFlow's Conv has no gradient, and one or two forms only", **inputs)
        for code, inputs in (
            ("tf.conv(a, w, [1, 2, 1], 'SAME')", {"a": normal(2, 7, 2), "w": normal(3, 2, 2)}),
            (
                "tf.conv(a, w, [1, 2, 1], 'EXPLICIT', [0, 0, 1, 0, 0, 0])",
                {"a": normal(2, 7, 2), "w": normal(3, 2, 2)},
            ),
            (
                "tf.conv(a, w, [1, 1, 1, 1], 'SAME', batch_dims=2)",
                {"a": normal(2, 2, 3, 3, 2), "w": normal(2, 2, 2, 2)},
            ),
            (
                "tf.conv(a, w, [1, 1, 2, 2], 'SAME', data_format='CHANNELS_FIRST')",
                {"a": normal(2, 2, 3, 3), "w": normal(2, 2, 2, 2)},
            ),
            (
                "tf.conv(a, w, [1, 1, 1, 1], 'SAME', groups=2)",
                {"a": normal(1, 3, 3, 4), "w": normal(2, 2, 2, 2)},
            ),
            (
                "tf.conv(a, w, [1, 1, 1, 1, 1], 'EXPLICIT', [0, 0, 1, 0, 0, 1, 1, 1, 0, 0])",
                {"a": normal(1, 2, 3, 2, 1), "w": normal(2, 2, 2, 1, 1)},
            ),
        )
    ),
    row("tf.conv(a, w, [1, 1, 1], 'SAME')", a=normal(1, 4, 4, 2), w=normal(2, 2, 2, 3), grad=False),
    row("tf.conv(a, w, [1, 1, 1, 1], 'SAME')", a=normal(1, 4, 4, 3), w=normal(2, 2, 2, 3), grad=False),
    row(
        "tf.conv(a, w, [1, 1, 1, 1], 'SAME', data_format='NHWC')", a=normal(1, 4, 4, 2), w=normal(2, 2, 2, 3)
    ),
    # depthwise and separable
    *floats(
        "tf.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], 'SAME')",
        a=normal(2, 4, 5, 3),
        w=normal(3, 2, 3, 2),
    ),
    row("tf.nn.depthwise_conv2d(a, w, [1, 2, 2, 1], 'VALID')", a=normal(2, 5, 6, 3), w=normal(2, 3, 3, 1)),
    row("tf.nn.depthwise_conv2d(a, w, [1, 2, 2, 1], 'SAME')", a=normal(2, 5, 6, 2), w=normal(3, 3, 2, 3)),
    row(
        "tf.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], [[0, 0], [1, 0], [2, 1], [0, 0]])",
        a=normal(2, 4, 5, 2),
        w=normal(3, 2, 2, 2),
    ),
    row(
        "tf.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], 'SAME', dilations=[2, 2])",
        a=normal(1, 5, 6, 2),
        w=normal(3, 2, 2, 2),
    ),
    row(
        "tf.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], 'VALID', dilations=[1, 2])",
        a=normal(1, 5, 6, 2),
        w=normal(3, 2, 2, 1),
    ),
    row(
        "tf.nn.depthwise_conv2d(a, w, [1, 1, 2, 2], 'SAME', 'NCHW', [1, 1])",
        a=normal(1, 2, 5, 6),
        w=normal(3, 2, 2, 2),
        ours=_NCHW,
    ),
    row(
        "tf.nn.depthwise_conv2d(a, w, [1, 2, 2, 1], 'SAME', dilations=[2, 2])",
        a=normal(1, 5, 6, 2),
        w=normal(3, 2, 2, 2),
        ours="TensorFlow warns and applies the strides to every second position",
    ),
    row(
        "tf.nn.depthwise_conv2d(a, w, [1, 1, 2, 1], 'SAME')",
        a=normal(1, 5, 6, 2),
        w=normal(3, 2, 2, 2),
        ours="TensorFlow's CPU wants equal strides",
    ),
    row(
        "tf.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], 'SAME')",
        a=normal(0, 5, 6, 2),
        w=normal(3, 2, 2, 2),
        grad=False,
    ),
    row("tf.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], 'SAME')", a=normal(1, 5, 6, 3), w=normal(3, 2, 2, 2)),
    row("tf.nn.depthwise_conv2d(a, w, [1, 0, 0, 1], 'SAME')", a=normal(1, 5, 6, 2), w=normal(3, 2, 2, 2)),
    row("tf.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], 'VALID')", a=normal(1, 5, 6, 2), w=normal(8, 2, 2, 2)),
    row("tf.nn.depthwise_conv2d(a, w, 1, 'VALID')", a=normal(1, 5, 6, 2), w=normal(2, 2, 2, 2)),
    row("tf.nn.depthwise_conv2d(a, w, [1, 1, 1, 1], 'SAME')", a=normal(5, 6, 2), w=normal(3, 2, 2, 2)),
    row(
        "tf.raw_ops.DepthwiseConv2dNative(input=a, filter=w, strides=[1, 1, 1, 1], padding='SAME', "
        "dilations=[1, 2, 1, 1])",
        a=normal(1, 5, 6, 2),
        w=normal(3, 2, 2, 2),
        ours=_DILATED,
    ),
    *floats(
        "tf.nn.depthwise_conv2d_backprop_input([1, 4, 4, 2], w, g, [1, 2, 2, 1], 'SAME')",
        w=normal(3, 3, 2, 2),
        g=normal(1, 2, 2, 4),
    ),
    *floats(
        "tf.nn.depthwise_conv2d_backprop_filter(a, [3, 3, 2, 2], g, [1, 2, 2, 1], 'SAME')",
        a=normal(1, 4, 4, 2),
        g=normal(1, 2, 2, 4),
    ),
    *(
        row(
            f"tf.nn.depthwise_conv2d_backprop_input({sizes}, w, g, [1, 1, 1, 1], 'SAME')",
            w=normal(3, 3, 2, 2),
            g=normal(1, 4, 4, 4),
        )
        for sizes in ([1, 4, 5, 2], [4, 4], [1, -4, 4, 2], [1, 4, 4, 3])
    ),
    *(
        row(
            f"tf.nn.depthwise_conv2d_backprop_filter(a, {sizes}, g, [1, 1, 1, 1], 'SAME')",
            a=normal(1, 4, 4, 2),
            g=normal(1, 4, 4, 4),
        )
        for sizes in ([3, 3, 2, 3], [3, 3], [3, -3, 2, 2])
    ),
    *floats(
        "tf.nn.separable_conv2d(a, w, p, [1, 1, 1, 1], 'SAME')",
        a=normal(1, 4, 4, 2),
        w=normal(2, 2, 2, 2),
        p=normal(1, 1, 4, 3),
    ),
    row(
        "tf.nn.separable_conv2d(a, w, p, [1, 2, 2, 1], 'VALID')",
        a=normal(1, 5, 5, 2),
        w=normal(2, 2, 2, 2),
        p=normal(1, 1, 4, 3),
    ),
    row(
        "tf.nn.separable_conv2d(a, w, p, [1, 1, 1, 1], 'SAME', dilations=[2, 1])",
        a=normal(1, 5, 5, 2),
        w=normal(2, 2, 2, 2),
        p=normal(1, 1, 4, 3),
    ),
    row(
        "tf.nn.separable_conv2d(a, w, p, [1, 1, 1, 1], 'SAME')",
        a=normal(1, 4, 4, 2),
        w=normal(2, 2, 2, 2),
        p=normal(1, 1, 3, 3),
    ),
    row(
        "tf.nn.separable_conv2d(a, w, p, [1, 1, 1, 1], 'SAME')",
        a=normal(1, 4, 4, 2),
        w=normal(2, 2, 2, 2),
        p=normal(2, 1, 4, 3),
    ),
    # grey-scale morphology
    *each(
        f"{FLOATS} int32 uint8",
        "tf.nn.dilation2d(a, w, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])",
        a=normal(2, 4, 5, 2),
        w=normal(2, 3, 2),
        second=False,
    ),
    row(
        "tf.nn.dilation2d(a, w, [1, 2, 1, 1], 'VALID', 'NHWC', [1, 1, 2, 1])",
        a=normal(2, 4, 6, 2),
        w=normal(2, 3, 2),
        second=False,
    ),
    row(
        "tf.nn.dilation2d(a, w, [1, 1, 1, 1], 'VALID', 'NCHW', [1, 1, 1, 1])",
        a=normal(2, 4, 6, 2),
        w=normal(2, 3, 2),
    ),
    row(
        "tf.nn.dilation2d(a, w, [1, 0, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])",
        a=normal(2, 4, 6, 2),
        w=normal(2, 3, 2),
    ),
    row(
        "tf.nn.dilation2d(a, w, [2, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])",
        a=normal(2, 4, 6, 2),
        w=normal(2, 3, 2),
    ),
    row(
        "tf.nn.dilation2d(a, w, [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])",
        a=normal(2, 4, 6, 2),
        w=normal(9, 3, 2),
    ),
    row(
        "tf.nn.dilation2d(a, w, [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])",
        a=normal(2, 4, 6, 2),
        w=normal(2, 3, 3),
    ),
    row(
        "tf.nn.dilation2d(a, w, [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])",
        a=normal(2, 4, 6, 2),
        w=normal(2, 3),
    ),
    *each(
        f"{FLOATS} int32",
        "tf.nn.erosion2d(a, w, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 2, 1, 1])",
        a=normal(2, 4, 5, 2),
        w=normal(2, 3, 2),
        second=False,
    ),
    row(
        "tf.nn.erosion2d(a, w, [1, 1, 1, 1], 'VALID', 'NCHW', [1, 1, 1, 1])",
        a=normal(2, 4, 6, 2),
        w=normal(2, 3, 2),
    ),
    row(
        "tf.raw_ops.Dilation2DBackpropInput(input=a, filter=w, out_backprop=g, strides=[1, 1, 1, 1], "
        "rates=[1, 1, 1, 1], padding='VALID')",
        a=normal(1, 4, 4, 1),
        w=normal(2, 2, 1),
        g=normal(1, 3, 3, 1),
        grad=False,
    ),
    row(
        "tf.raw_ops.Dilation2DBackpropInput(input=tf.ones_like(a), filter=tf.zeros_like(w), out_backprop=g, "
        "strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='SAME')",
        a=normal(1, 4, 4, 1),
        w=normal(2, 2, 1),
        g=normal(1, 4, 4, 1),
        grad=False,
    ),
    row(
        "tf.raw_ops.Dilation2DBackpropFilter(input=a, filter=w, out_backprop=g, strides=[1, 1, 1, 1], "
        "rates=[1, 1, 1, 1], padding='VALID')",
        a=normal(1, 4, 4, 1),
        w=normal(2, 2, 1),
        g=normal(1, 2, 3, 1),
        grad=False,
    ),
    row(
        "tf.raw_ops.Dilation2DBackpropFilter(input=a, filter=w, out_backprop=g, strides=[1, 1, 1, 1], "
        "rates=[1, 1, 1, 1], padding='VALID')",
        a=normal(1, 4, 4, 1),
        w=normal(2, 2, 1),
        g=normal(1, 3, 3, 1),
        grad=False,
    ),
]
