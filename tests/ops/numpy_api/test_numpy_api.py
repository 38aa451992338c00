"""`tf.experimental.numpy`: what rows cannot show, against NumPy itself and in a process of its own."""

import subprocess
import sys

import numpy as np
import pytest

import headrace as tf

tnp = tf.experimental.numpy


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("sqrt", (4,)),
        ("around", ([25, 35], -1)),
        ("round", (2.567, 2)),
        ("logaddexp", (1, 2)),
        ("exp2", (3,)),
        ("hypot", (3, 4)),
        ("pad", ([1, 2, 3], 1, "reflect")),
    ],
)
def test_does_what_numpy_does(name, args):
    got, want = getattr(tnp, name)(*args), getattr(np, name)(*args)
    np.testing.assert_allclose(got.numpy(), want)
    assert got.dtype == want.dtype


def test_var_divides_by_the_count_less_ddof():
    assert tnp.var([1, 2], ddof=1).numpy() == np.var([1, 2], ddof=1)


# The switch changes all tensors of a process, so each check of it has a process of its own.
@pytest.mark.parametrize(
    ("code", "want"),
    [
        ("(x + 1.5).dtype.name, (x + 1.5).numpy().tolist()", "('float64', [2.5, 3.5, 4.5])"),
        ("x.T.numpy().tolist(), x.astype('float32').dtype.name", "([1, 2, 3], 'float32')"),
        ("x.reshape(3, 1).shape.as_list(), x.reshape((1, 3)).shape.as_list()", "([3, 1], [1, 3])"),
        ("x[[0, 2]].numpy().tolist(), x[tf.constant([2, 0])].numpy().tolist()", "([1, 3], [3, 1])"),
        ("m[[0, 1], [1, 0]].numpy().tolist(), m[:, [1]].numpy().tolist(), m[1].numpy().tolist()",
         "([2, 3], [[2], [4]], [3, 4])"),
        ("int(x.size), int(x.max()), float(x.mean()), x.clip(2, 2).numpy().tolist()", "(3, 3, 2.0, [2, 2, 2])"),
        ("(x == tf.constant([1.0, 0.0, 3.0])).numpy().tolist()", "[True, False, True]"),
    ],
)
def test_enabled_behavior(code, want):
    program = (
        "import headrace as tf\ntf.experimental.numpy.experimental_enable_numpy_behavior()\n"
        f"x = tf.constant([1, 2, 3]); m = tf.constant([[1, 2], [3, 4]])\nprint(({code}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == want


def test_unknown_conversion_mode_is_refused():
    with pytest.raises(ValueError, match="dtype_conversion_mode"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="sometimes")


def test_numpy_methods_are_named_when_missing():
    with pytest.raises(AttributeError, match="experimental_enable_numpy_behavior"):
        tf.constant([1.0]).astype("float64")


def test_constants():
    assert (tf.experimental.numpy.pi, tf.experimental.numpy.e, tf.experimental.numpy.inf) == (np.pi, np.e, np.inf)
    assert tf.experimental.numpy.newaxis is None
    assert tf.experimental.int4 is tf.dtypes.experimental.int4
    assert tf.dtypes.QUANTIZED_DTYPES >= {tf.qint8, tf.quint16}
