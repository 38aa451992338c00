"""Rows of `ops/nn/quantization.py` and `ops/nn/fake_quantization.py`.

Rounding is not smooth, and most of these ops know float32 only: no finite differences.
"""

from rows import each, integers, normal, row, uniform, value

_F = dict(fd=False)
_X = value([-1.0, -0.5, -0.1, 0.0, 0.3, 0.7, 1.0, 2.0], "float32")
_TYPES = ("qint8", "quint8", "qint16", "quint16", "qint32")
_SMALL = _TYPES[:4]


def _q(dtype, mode="MIN_COMBINED"):
    return f"tf.quantization.quantize(a, -1.0, 1.5, tf.{dtype}, mode='{mode}').output"


ROWS = [
    # Fake quantization
    *[
        row(f"tf.quantization.fake_quant_with_min_max_args(a, {options})", a=uniform(-8, 8, 5, 6), **_F)
        for options in (
            "min=-6",
            "min=-1.0, max=3.0",
            "min=0.5, max=1.5",
            "min=-3.0, max=-1.0",
            "num_bits=2",
            "num_bits=4, narrow_range=True",
            "num_bits=16",
            "min=1.0, max=-1.0",
            "min=1.0, max=1.0",
            "num_bits=1",
            "num_bits=17",
        )
    ],
    row("tf.quantization.fake_quant_with_min_max_args(a)", a=normal(0), **_F),
    row("tf.quantization.fake_quant_with_min_max_args(a)", a=normal(), **_F),
    row(
        "tf.quantization.fake_quant_with_min_max_args_gradient(a, b, -0.5, 0.7)",
        a=normal(4, 5),
        b=normal(4, 5),
        grad=False,
    ),
    row("tf.quantization.fake_quant_with_min_max_args_gradient(a, b)", a=normal(4, 5), b=normal(5), grad=False),
    *[
        row(
            f"tf.quantization.fake_quant_with_min_max_vars(a, b, c{options})",
            a=_X,
            b=value(low, "float32"),
            c=value(high, "float32"),
            **_F,
        )
        for options in ("", ", num_bits=3", ", num_bits=4, narrow_range=True")
        for low, high in ((-0.5, 0.7), (0.0, 0.0), (0.2, 0.9), (-0.9, -0.2), (0.0, 1.0))
    ],
    row("tf.quantization.fake_quant_with_min_max_vars(a, [0.1], 0.8)", a=_X, **_F),
    row("tf.quantization.fake_quant_with_min_max_vars(a, 0.1, 0.8, num_bits=20)", a=_X, **_F),
    row(
        "tf.quantization.fake_quant_with_min_max_vars_gradient(a, b, -0.5, 0.7)",
        a=normal(4, 5),
        b=normal(4, 5),
        grad=False,
    ),
    row(
        "tf.quantization.fake_quant_with_min_max_vars_gradient(a, b, 0.0, 0.0)",
        a=normal(4, 5),
        b=normal(4, 5),
        grad=False,
    ),
    row(
        "tf.quantization.fake_quant_with_min_max_vars_gradient(a, b, -0.5, 0.7, narrow_range=True)",
        a=normal(4, 5),
        b=normal(4),
        grad=False,
    ),
    *[
        row(
            f"tf.quantization.fake_quant_with_min_max_vars_per_channel(a, b, c{options})",
            a=normal(*shape),
            b=uniform(-1, -0.2, 3),
            c=uniform(0.2, 1, 3),
            **_F,
        )
        for options in ("", ", num_bits=3, narrow_range=True")
        for shape in ((3,), (4, 3), (2, 4, 3), (2, 2, 4, 3))
    ],
    row("tf.quantization.fake_quant_with_min_max_vars_per_channel(a, [-1.0, -2.0], [1.0, 2.0])", a=normal(2, 3), **_F),
    row("tf.quantization.fake_quant_with_min_max_vars_per_channel(a, -1.0, 1.0)", a=normal(2, 3), **_F),
    row(
        "tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(a, b, [-1.0, -0.2, 0.0], [1.0, 0.2, 3.0])",
        a=normal(4, 3),
        b=normal(4, 3),
        grad=False,
    ),
    row(
        "tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(a, b, [-1.0, -0.2, 0.0], [1.0, 0.2, 0.0])",
        a=normal(2, 4, 3),
        b=normal(2, 4, 3),
        grad=False,
    ),
    # There and back
    *[
        row(f"tf.quantization.{name}(a, -1.0, 1.3{options})", a=normal(4, 5), **_F)
        for name in ("quantize_and_dequantize", "quantize_and_dequantize_v2")
        for options in (
            "",
            ", num_bits=3",
            ", range_given=True",
            ", range_given=True, num_bits=3",
            ", range_given=True, num_bits=4, signed_input=False",
            ", num_bits=4, signed_input=False",
            ", range_given=True, num_bits=3, round_mode='HALF_UP'",
            ", range_given=True, num_bits=3, narrow_range=True",
            ", num_bits=4, axis=0",
            ", num_bits=4, axis=1",
            ", num_bits=4, axis=-1",
            ", num_bits=0",
            ", num_bits=64",
            ", axis=5",
            ", round_mode='DOWN'",
        )
    ],
    *each("float32 float64", "tf.quantization.quantize_and_dequantize(a, -1.0, 1.3, num_bits=4)", a=normal(4, 5), **_F),
    *each(
        "float32 float64",
        "tf.quantization.quantize_and_dequantize_v2(a, -1.0, 1.0, num_bits=4, range_given=True)",
        a=normal(4, 5),
        **_F,
    ),
    *each(
        "float16 bfloat16",
        "tf.quantization.quantize_and_dequantize_v2(a, -1.0, 1.0, num_bits=4, range_given=True)",
        a=normal(4, 5),
        ours="TF's CPU has no kernel",
        **_F,
    ),
    *[
        row(f"tf.quantization.quantize_and_dequantize(a, {low}, {high}, num_bits=4, range_given=True)", a=_X, **_F)
        for low, high in ((1.0, -1.0), (0.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.5, 2.0))
    ],
    row(
        "tf.quantization.quantize_and_dequantize(a, [-1.0, -2.0], [1.0, 2.0], range_given=True, num_bits=3, axis=0)",
        a=normal(2, 3),
        ours="TF demands scalars here",
        **_F,
    ),
    row("tf.quantization.quantize_and_dequantize(a, 0.0, 0.0)", a=normal(0), grad=False, ours="TF reads past the end"),
    row("tf.raw_ops.QuantizeAndDequantizeV3(input=a, input_min=-1.0, input_max=1.0, num_bits=3)", a=_X, **_F),
    row(
        "tf.raw_ops.QuantizeAndDequantizeV3(input=a, input_min=-1.0, input_max=1.0, num_bits=5, range_given=False)",
        a=_X,
        **_F,
    ),
    row("tf.raw_ops.QuantizeAndDequantizeV3(input=a, input_min=-1.0, input_max=1.0, num_bits=[3, 4])", a=_X, **_F),
    row(
        "tf.raw_ops.QuantizeAndDequantizeV4Grad(gradients=a, input=b, input_min=-0.5, input_max=0.7)",
        a=normal(4, 5),
        b=normal(4, 5),
        grad=False,
    ),
    row(
        "tf.raw_ops.QuantizeAndDequantizeV4Grad(gradients=a, input=b, input_min=[-0.5, -0.1], input_max=[0.7, 0.8], axis=0)",
        a=normal(2, 5),
        b=normal(2, 5),
        grad=False,
    ),
    row(
        "tf.raw_ops.QuantizeAndDequantizeV4Grad(gradients=a, input=b, input_min=-0.5, input_max=0.7)",
        a=normal(4, 5),
        b=normal(4),
        grad=False,
    ),
    row(
        "tf.raw_ops.QuantizeAndDequantize(input=a, range_given=True, input_min=-1.0, input_max=1.0)",
        a=_X,
        ours="TF has retired the op",
        **_F,
    ),
    # Quantizing
    *[
        row(f"tf.quantization.quantize(a, -1.0, 1.5, tf.{dtype}, mode='{mode}')", a=uniform(-2, 2, 4, 5), grad=False)
        for dtype in _SMALL
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
    ],
    row("tf.quantization.quantize(a, -1.0, 1.5, tf.qint32)", a=uniform(-0.9, 0.9, 4, 5), grad=False),
    row("tf.quantization.quantize(a, -1.0, 1.0, tf.qint32)", a=_X, grad=False, ours="TF wraps around at the top"),
    row("tf.quantization.quantize(a, -1.0, 1.5, tf.qint32, mode='MIN_FIRST')", a=uniform(-2, 2, 4, 5), grad=False),
    *[
        # XLA may multiply and subtract in one rounding: where a value lies half way, its neighbour comes out.
        row(f"tf.quantization.quantize(a, {options})", a=_X, grad=False, lower=options != "1.0, 1.0, tf.qint8")
        for options in (
            "-1.0, 1.0, tf.qint8, mode='SCALED', round_mode='HALF_TO_EVEN'",
            "-1.0, 1.0, tf.qint8, mode='SCALED', narrow_range=True",
            "-1.0, 1.0, tf.quint8, mode='SCALED', round_mode='HALF_TO_EVEN'",
            "1.0, 1.0, tf.qint8",
            "0.5, 0.505, tf.qint8",
            "0.5, 1.0, tf.quint8",
            "-1.0, -0.5, tf.qint8",
            "-1.0, 1.0, tf.qint8, ensure_minimum_range=3.0",
            "[-1.0], [1.0], tf.qint8",
            "-1.0, 1.0, tf.int8",
            "-1.0, 1.0, tf.qint8, mode='OTHER'",
            "-1.0, 1.0, tf.qint8, round_mode='HALF_TO_EVEN'",
            "1.0, -1.0, tf.qint8",
            "-1.0, 1.0, tf.qint8, round_mode='OTHER'",
            "[-1.0, 1.0], [1.0, 2.0], tf.qint8",
        )
    ],
    *[
        row(
            f"tf.quantization.quantize(a, [-1.0, -2.0], [1.0, 2.0], tf.qint8, axis={axis}, mode='{mode}')",
            a=normal(2, 3),
            grad=False,
        )
        for axis in (0, 1, -2)
        for mode in ("MIN_COMBINED", "SCALED")
    ],
    row("tf.quantization.quantize(a, -1.0, 1.0, tf.qint8)", a=normal(0, 3), grad=False),
    # Dequantizing
    *[
        row(f"tf.quantization.dequantize({_q(dtype)}, -1.0, 1.5, mode='{mode}')", a=uniform(-2, 2, 4, 5), grad=False)
        for dtype in _SMALL
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
    ],
    *[
        row(
            f"tf.quantization.dequantize({_q('qint32', 'MIN_FIRST')}, -1.0, 1.5, mode='{mode}')",
            a=uniform(-0.9, 0.9, 4, 5),
            grad=False,
        )
        for mode in ("MIN_COMBINED", "SCALED")
    ],
    row(f"tf.quantization.dequantize({_q('qint8')}, -1.0, 1.5, dtype=tf.bfloat16)", a=_X, grad=False),
    row(f"tf.quantization.dequantize({_q('qint8')}, -1.0, 1.5, mode='SCALED', dtype=tf.bfloat16)", a=_X, grad=False),
    row(f"tf.quantization.dequantize({_q('qint8')}, -1.0, 0.2, mode='SCALED', narrow_range=True)", a=_X, grad=False),
    row(
        f"tf.quantization.dequantize({_q('qint8')}, [-1.0, -2.0], [1.0, 1.5], mode='SCALED', axis=0)",
        a=normal(2, 3),
        grad=False,
    ),
    row(
        f"tf.quantization.dequantize({_q('qint8')}, [-1.0, -2.0], [1.0, 1.5], mode='SCALED', axis=1)",
        a=normal(2, 3),
        grad=False,
    ),
    row(f"tf.quantization.dequantize({_q('qint8')}, -1.0, 1.5, mode='OTHER')", a=_X, grad=False),
    row("tf.quantization.dequantize(a, -1.0, 1.0)", a=integers(0, 9, 3, dtype="int8"), grad=False),
    # Changing ranges
    *[
        row(
            f"tf.raw_ops.Requantize(input={_q('qint32', 'MIN_FIRST')}, input_min=-1.0, input_max=1.5, requested_output_min={low}, requested_output_max={high}, out_type=tf.{dtype})",
            a=uniform(-0.9, 1.4, 4, 5),
            grad=False,
        )
        for low, high in ((-1.0, 1.5), (-0.5, 0.5), (0.0, 2.0))
        for dtype in ("quint8", "qint8")
    ],
    row(
        f"tf.raw_ops.Requantize(input={_q('qint32', 'MIN_FIRST')}, input_min=-1.0, input_max=1.5, requested_output_min=0.5, requested_output_max=1.0, out_type=tf.quint8)",
        a=_X,
        grad=False,
    ),
    row(
        f"tf.raw_ops.Requantize(input={_q('qint32', 'MIN_FIRST')}, input_min=-1.0, input_max=1.5, requested_output_min=-0.5, requested_output_max=-1.0, out_type=tf.quint8)",
        a=_X,
        grad=False,
    ),
    row(
        f"tf.raw_ops.RequantizationRange(input={_q('qint32', 'MIN_FIRST')}, input_min=-1.0, input_max=1.5)",
        a=uniform(-0.8, 0.9, 4, 5),
        grad=False,
    ),
    row(
        f"tf.raw_ops.RequantizationRange(input={_q('qint32', 'MIN_FIRST')}, input_min=-1.0, input_max=1.5)",
        a=uniform(0.2, 0.9, 4, 5),
        grad=False,
    ),
    row(
        f"tf.raw_ops.QuantizeDownAndShrinkRange(input={_q('qint32', 'MIN_FIRST')}, input_min=-1.0, input_max=1.5, out_type=tf.quint8)",
        a=uniform(-0.8, 0.9, 4, 5),
        grad=False,
    ),
    *[
        row(
            f"tf.quantization.quantized_concat({axis}, [{_q('quint8')}, {_q('quint8')}], [{low}, -1.0], [1.0, 1.5])",
            a=uniform(-2, 2, 2, 3),
            grad=False,
        )
        for axis in (0, 1)
        for low in (-1.0, -2.0)
    ],
    row(
        f"tf.quantization.quantized_concat(0, [{_q('quint8')}, {_q('quint8')}], [-1.0, -1.0], [1.0, 1.0])",
        a=uniform(-2, 2, 2, 3),
        grad=False,
    ),
    row(
        f"tf.quantization.quantized_concat(0, [{_q('qint32', 'MIN_FIRST')}] * 2, [-1.0, -1.0], [1.0, 1.0])",
        a=uniform(-2, 2, 2, 3),
        grad=False,
    ),
    row(
        f"tf.quantization.quantized_concat(5, [{_q('quint8')}, {_q('quint8')}], [-1.0, -1.0], [1.0, 1.0])",
        a=uniform(-2, 2, 2, 3),
        grad=False,
    ),
    row(
        f"tf.quantization.quantized_concat(0, [{_q('quint8')}, {_q('quint8')}], [-1.0], [1.0])",
        a=uniform(-2, 2, 2, 3),
        grad=False,
    ),
    row(
        f"tf.quantization.quantized_concat(0, [{_q('qint8')}, {_q('qint8')}], [-1.0, -2.0], [1.0, 1.0])",
        a=uniform(-2, 2, 2, 3),
        grad=False,
        ours="TF's CPU has no kernel",
    ),
]
