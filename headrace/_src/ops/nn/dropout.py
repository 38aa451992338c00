"""Dropout: setting random elements to zero and scaling the others up."""

from __future__ import annotations

import numbers
from functools import partial

from headrace._src.core.random_state import draw_seeds
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.selecting import where
from headrace._src.ops.random.uniform_and_normal import stateless_uniform, uniform


def _noise_shape(x, noise_shape):
    """The shape of the noise: the one of `x`, or the given one with its gaps filled from `x`."""
    if noise_shape is None:
        return x.shape if x.shape.is_fully_defined() else SHAPE(x)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    if isinstance(noise_shape, (list, tuple)) and any(isinstance(n, Tensor) for n in noise_shape):
        return [SHAPE(x)[i] if n is None else n for i, n in enumerate(noise_shape)]
    if isinstance(noise_shape, (dict, set)):
        raise TypeError(f"dropout: noise_shape must be a list of integers, got {noise_shape!r}.")
    shape = TensorShape(noise_shape).as_list()
    if x.shape.rank in (None, len(shape)):
        if x.shape.rank is not None:
            shape = [own if n is None else n for n, own in zip(shape, x.shape.as_list(), strict=True)]
        if None in shape:
            own = SHAPE(x)
            return [own[i] if n is None else n for i, n in enumerate(shape)]
    return shape


def _dropout(x, rate, uniform_sampler, no_draw, noise_shape, name):
    is_number = isinstance(rate, numbers.Real)
    if is_number and not 0 <= rate < 1:
        raise ValueError(f"dropout: rate must be a number in [0, 1) or a scalar tensor, got {rate}.")
    x = to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(f"dropout: x must be floating, since it is scaled, got {x.dtype.name}.")
    if is_number and rate == 0:
        # Random ops that follow draw the same numbers, whether this one needed any or not.
        no_draw()
        return x
    if is_number:
        scaled = x * to_tensor(1 / (1 - rate), x.dtype)
    elif isinstance(rate, Tensor) or hasattr(rate, "__tf_tensor__"):
        rate = to_tensor(rate)
        if rate.shape.rank not in (0, None):
            raise ValueError(f"dropout: rate must be a scalar, got shape {rate.shape}.")
        if rate.dtype != x.dtype:
            raise ValueError(f"dropout: rate must have the type of x, {x.dtype.name}, got {rate.dtype.name}.")
        scaled = x / (1 - rate)
    else:
        raise ValueError(f"dropout: rate must be a number or a scalar tensor, got {rate!r}.")
    drawn = uniform_sampler(shape=_noise_shape(x, noise_shape), dtype=x.dtype)
    result = where(drawn >= rate, scaled, to_tensor(0, x.dtype), name=name)
    if not isinstance(result, EagerTensor):
        result.set_shape(x.shape)  # a rate of unknown shape makes that of the scaled values unknown
    return result


@api("nn.dropout", scope="dropout")
def dropout(x, rate, noise_shape=None, seed=None, name=None) -> Tensor:
    """Sets each element to zero with probability `rate`, and scales the others up to keep the expected sum.

    Args:
        x: a floating tensor.
        rate: the probability, a number in [0, 1) or a scalar tensor of the type of `x`.
        noise_shape: the shape in which to draw, broadcast to `x`; None for the shape of `x`.
        seed: the seed of the op.
        name: a name for the operation.

    Raises:
        ValueError: `rate` is out of range, or `x` not floating.

    >>> x = tf.ones((100, 100))
    >>> sorted(set(tf.nn.dropout(x, rate=0.5).numpy().ravel().tolist()))
    [0.0, 2.0]
    """
    return _dropout(x, rate, partial(uniform, seed=seed), partial(draw_seeds, seed), noise_shape, name)


@api("nn.experimental.stateless_dropout")
def stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None) -> Tensor:
    """Dropout that depends on nothing but its arguments: the same seed drops the same elements.

    Args:
        x: a floating tensor.
        rate: the probability, a number in [0, 1) or a scalar tensor of the type of `x`.
        seed: two integers.
        rng_alg: the generator: None, "philox", "threefry" or "auto_select".
        noise_shape: the shape in which to draw, broadcast to `x`; None for the shape of `x`.
        name: a name for the operation.

    >>> tf.nn.experimental.stateless_dropout(tf.ones((6,)), rate=0.5, seed=[1, 2]).numpy()
    array([2., 0., 2., 0., 0., 2.], dtype=float32)
    """
    alg = "auto_select" if rng_alg is None else rng_alg
    return _dropout(x, rate, partial(stateless_uniform, seed=seed, alg=alg), lambda: None, noise_shape, name)


@api("nn.experimental.general_dropout")
def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None) -> Tensor:
    """Dropout with random numbers from a given function.

    Args:
        x: a floating tensor.
        rate: the probability, a number in [0, 1) or a scalar tensor of the type of `x`.
        uniform_sampler: a function of `shape` and `dtype` that gives numbers from 0 to 1.
        noise_shape: the shape in which to draw, broadcast to `x`; None for the shape of `x`.
        name: a name for the operation.

    >>> half = lambda shape, dtype: tf.constant([0.1, 0.6, 0.4, 0.9], dtype)
    >>> tf.nn.experimental.general_dropout(tf.ones((4,)), 0.5, half).numpy()
    array([0., 2., 0., 2.], dtype=float32)
    """
    return _dropout(x, rate, uniform_sampler, lambda: None, noise_shape, name)
