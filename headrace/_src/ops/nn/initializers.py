"""Initializers: objects that make the first value of a variable from its shape and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.arrays.constants import constant, ones, zeros
from headrace._src.ops.random import uniform_and_normal


class Initializer:
    """Calling it with a shape and a dtype gives a tensor; `get_config` gives what `from_config` needs."""

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        raise NotImplementedError(f"{type(self).__name__}.__call__")

    def get_config(self) -> dict:
        """The arguments with which the initializer was made."""
        return {}

    @classmethod
    def from_config(cls, config: dict) -> Initializer:
        """An initializer with the arguments of `config`."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


def _part_shape(initializer, shape, kwargs, parts=True):
    """The shape to make: that of the part, when a sharded variable asks for one."""
    allowed = ("partition_shape", "partition_offset")
    for name in kwargs:
        if name not in allowed:
            raise TypeError(f"{initializer}: keyword arguments must be among {allowed}, got {name!r}.")
        if not parts:
            raise ValueError(f"{initializer}: made without support_partition, it cannot make parts.")
    return kwargs.get("partition_shape", shape)


def _checked(initializer, dtype, allowed, kind):
    dtype = dtypes.as_dtype(dtype)
    if dtype not in allowed:
        raise ValueError(f"{initializer}: dtype must be {kind}, got {dtype.name}.")
    return dtype


_NUMERIC = dtypes.NUMBER | dtypes.BOOL


@api("zeros_initializer")
class Zeros(Initializer):
    """Makes zeros.

    >>> tf.zeros_initializer()((2,)).numpy()
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape, dtype=dtypes.float32, **kwargs) -> Tensor:
        """Zeros of a shape and a numeric or boolean dtype."""
        shape = _part_shape("zeros_initializer", shape, kwargs)
        return zeros(shape, _checked("zeros_initializer", dtype, _NUMERIC, "numeric or boolean"))


@api("ones_initializer")
class Ones(Initializer):
    """Makes ones."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs) -> Tensor:
        """Ones of a shape and a numeric or boolean dtype."""
        shape = _part_shape("ones_initializer", shape, kwargs)
        return ones(shape, _checked("ones_initializer", dtype, _NUMERIC, "numeric or boolean"))


@api("constant_initializer")
class Constant(Initializer):
    """Makes tensors of a given value.

    Args:
        value: a number, or as many numbers as the tensor has, in any nesting.
        support_partition: whether parts of sharded variables may be made.

    >>> tf.constant_initializer([1, 2, 3, 4])((2, 2)).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """

    def __init__(self, value=0, support_partition=False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                "constant_initializer: value must be a scalar, list, tuple or NumPy array, "
                f"got {type(value).__name__}."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape, dtype=None, **kwargs) -> Tensor:
        """The value, in a shape and, if given, a dtype."""
        # TF: a part gets the whole shape.
        _part_shape("constant_initializer", shape, kwargs, self.support_partition)
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
        return constant(self.value, dtype=dtype, shape=shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


@api("random_normal_initializer")
class RandomNormal(Initializer):
    """Makes normal numbers.

    Args:
        mean, stddev: of the distribution.
        seed: with a seed, every call gives the same numbers.
    """

    def __init__(self, mean=0.0, stddev=0.05, seed=None) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape, dtype=dtypes.float32, **kwargs) -> Tensor:
        """Normal numbers of a shape and a floating-point dtype."""
        shape = _part_shape("random_normal_initializer", shape, kwargs)
        dtype = _checked("random_normal_initializer", dtype, dtypes.FLOATING, "floating point")
        if self.seed is None:
            return uniform_and_normal.normal(shape, self.mean, self.stddev, dtype)
        return uniform_and_normal.stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


@api("random_uniform_initializer")
class RandomUniform(Initializer):
    """Makes uniform numbers.

    Args:
        minval: the lower bound, included.
        maxval: the upper bound, excluded; by default 1 for floating-point numbers if None.
        seed: with a seed, every call gives the same numbers.
    """

    def __init__(self, minval=-0.05, maxval=0.05, seed=None) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def __call__(self, shape, dtype=dtypes.float32, **kwargs) -> Tensor:
        """Uniform numbers of a shape and a floating-point or integer dtype."""
        shape = _part_shape("random_uniform_initializer", shape, kwargs)
        dtype = _checked("random_uniform_initializer", dtype, dtypes.REAL, "floating point or integer")
        if self.seed is None:
            return uniform_and_normal.uniform(shape, self.minval, self.maxval, dtype)
        return uniform_and_normal.stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}
