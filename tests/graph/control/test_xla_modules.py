"""Programs that jax has exported, run as operations."""

import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.control.xla_modules import call_module

jax = pytest.importorskip("jax")


def exported(function, *shapes, platforms=None):
    """A function of jax as attributes of XlaCallModule, with unknown sizes where shapes have names."""
    given = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape), np.float32) for shape in shapes]
    made = jax.export.export(jax.jit(function), platforms=platforms)(*given)
    return dict(
        version=made.calling_convention_version,
        module=made.mlir_module_serialized,
        platforms=[platform.upper() for platform in made.platforms],
        Tout=[tf.as_dtype(x.dtype) for x in made.out_avals],
        Sout=[[n if isinstance(n, int) else None for n in x.shape] for x in made.out_avals],
    )


def affine(x, w):
    return jax.numpy.tanh(x @ w), x.shape[0] * jax.numpy.ones(3)


X, W = np.arange(8.0, dtype=np.float32).reshape(2, 4) / 8, np.ones((4, 3), np.float32)


def test_known_sizes():
    y, size = call_module([tf.constant(X), tf.constant(W)], **exported(affine, "2, 4", "4, 3"))
    np.testing.assert_allclose(y, np.tanh(X @ W), rtol=1e-6)
    assert size.numpy().tolist() == [2, 2, 2]


def test_sizes_that_vary():
    attrs = exported(affine, "n, 4", "4, 3")
    for rows in (1, 2):
        y, size = call_module([tf.constant(X[:rows]), tf.constant(W)], **attrs)
        np.testing.assert_allclose(y, np.tanh(X[:rows] @ W), rtol=1e-6)
        assert size.numpy().tolist() == [rows] * 3


@pytest.mark.parametrize("jit_compile", [None, True])
def test_in_a_function(jit_compile):
    attrs = exported(affine, "n, 4", "4, 3")

    @tf.function(jit_compile=jit_compile, input_signature=[tf.TensorSpec([None, 4])])
    def f(x):
        y, _ = call_module([x * 2.0, tf.constant(W)], **attrs)
        assert y.shape.as_list() == [None, 3]
        return y + 1.0

    np.testing.assert_allclose(f(tf.constant(X)), np.tanh(2 * X @ W) + 1, rtol=1e-6)


def test_several_platforms():
    y, _ = call_module([tf.constant(X), tf.constant(W)], **exported(affine, "n, 4", "4, 3", platforms=["cuda", "cpu"]))
    np.testing.assert_allclose(y, np.tanh(X @ W), rtol=1e-6)
    with pytest.raises(tf.errors.NotFoundError, match="CPU is not among the platforms"):
        call_module([tf.constant(X), tf.constant(W)], **exported(affine, "n, 4", "4, 3", platforms=["cuda"]))


def test_what_cannot_be_run():
    attrs = exported(affine, "n, 4", "4, 3")
    with pytest.raises(tf.errors.UnimplementedError, match="version 99"):
        call_module([tf.constant(X), tf.constant(W)], **{**attrs, "version": 99})
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes 2 arguments, got 1"):
        call_module([tf.constant(X)], **attrs)
    with pytest.raises(tf.errors.InvalidArgumentError):
        call_module([tf.constant(X[:, :3]), tf.constant(W)], **attrs)
    with pytest.raises(tf.errors.InvalidArgumentError):
        call_module([tf.constant(X), tf.constant(W)], **{**attrs, "module": b"no program"})


@pytest.mark.slow
def test_a_module_that_calls_lapack(tmp_path):
    """In a process that has lowered nothing of the kind itself, jax has not prepared LAPACK."""
    attrs = exported(jax.numpy.linalg.cholesky, "3, 3")
    (tmp_path / "module").write_bytes(pickle.dumps(attrs | {"Tout": ["float32"]}))
    code = (
        "import pickle, sys, numpy as np, headrace as tf\n"
        "from headrace._src.graph.control.xla_modules import call_module\n"
        "attrs = pickle.load(open(sys.argv[1], 'rb'))\n"
        "attrs['Tout'] = [tf.as_dtype(x) for x in attrs['Tout']]\n"
        "print(call_module([tf.constant(4 * np.eye(3, dtype='float32'))], **attrs)[0].numpy().tolist())\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "module")]
    root = pathlib.Path(__file__).parents[3]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=600, check=False)
    assert done.stdout == f"{[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]}\n", done.stderr
