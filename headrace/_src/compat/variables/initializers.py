"""Initializers with their 1.x signatures: the dtype may be given when they are made."""

import math
from typing import Any

from headrace._src.compat.functions.arrays import constant
from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.constants import ones, zeros
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.ops.linalg.decompositions import qr
from headrace._src.ops.linalg.diagonals import MATRIX_SET_DIAG_MAIN, diag_part
from headrace._src.ops.math.elementwise import SIGN
from headrace._src.ops.random import uniform_and_normal


class Initializer:
    """Calling it with a shape gives a tensor."""

    def __init__(self, dtype=dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None) -> Any:
        raise NotImplementedError(f"{type(self).__name__}.__call__")

    def get_config(self) -> dict:
        """The arguments with which the initializer was made."""
        return {"dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config) -> "Initializer":
        """An initializer with the arguments of `config`."""
        return cls(**config)

    def _dtype(self, dtype):
        return self.dtype if dtype is None else dtypes.as_dtype(dtype)


def _floating(name, dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise TypeError(f"{name}: Expected floating point type, got {dtype}.")
    return dtype


@api("compat.v1.zeros_initializer", "compat.v1.initializers.zeros")
class Zeros(Initializer):
    """Makes zeros."""

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        return zeros(shape, self._dtype(dtype))


@api("compat.v1.ones_initializer", "compat.v1.initializers.ones")
class Ones(Initializer):
    """Makes ones."""

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        return ones(shape, self._dtype(dtype))


@api("compat.v1.constant_initializer", "compat.v1.initializers.constant")
class Constant(Initializer):
    """Makes tensors of a given value.

    Args:
        value: a number, or as many numbers as the tensor has.
        dtype: the dtype when the call gives none.
        verify_shape: whether the value must have the shape that is asked for.
    """

    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False) -> None:
        super().__init__(dtype)
        self.value = value
        self._verify_shape = verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, self._dtype(dtype), shape, verify_shape=verify)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value, "dtype": self.dtype.name}


@api("compat.v1.random_uniform_initializer", "compat.v1.initializers.random_uniform")
class RandomUniform(Initializer):
    """Makes numbers uniformly distributed in [minval, maxval)."""

    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=dtypes.float32) -> None:
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        high = self.maxval
        if high is None and self._dtype(dtype).is_floating:
            high = 1.0
        return uniform_and_normal.uniform(shape, self.minval, high, self._dtype(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


class _Normal(Initializer):
    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32) -> None:
        super().__init__(_floating(type(self).__name__, dtype))
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


@api("compat.v1.random_normal_initializer", "compat.v1.initializers.random_normal")
class RandomNormal(_Normal):
    """Makes normally distributed numbers."""

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        return uniform_and_normal.normal(shape, self.mean, self.stddev, self._dtype(dtype), seed=self.seed)


@api("compat.v1.truncated_normal_initializer", "compat.v1.initializers.truncated_normal")
class TruncatedNormal(_Normal):
    """Makes normally distributed numbers, at most two standard deviations from the mean."""

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        return uniform_and_normal.truncated_normal(shape, self.mean, self.stddev, self._dtype(dtype), seed=self.seed)


@api("compat.v1.uniform_unit_scaling_initializer", "compat.v1.initializers.uniform_unit_scaling")
class UniformUnitScaling(Initializer):
    """Makes uniformly distributed numbers that keep the scale of what they are multiplied with."""

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32) -> None:
        super().__init__(_floating("uniform_unit_scaling_initializer", dtype))
        self.factor, self.seed = factor, seed

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        inputs = 1.0
        for size in TensorShape(shape).as_list()[:-1]:
            inputs *= float(size)
        limit = math.sqrt(3 / max(inputs, 1.0)) * self.factor
        return uniform_and_normal.uniform(shape, -limit, limit, self._dtype(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


# A normal distribution cut off at two standard deviations has this standard deviation.
_TRUNCATED = 0.87962566103423978


@api("compat.v1.variance_scaling_initializer", "compat.v1.initializers.variance_scaling")
class VarianceScaling(Initializer):
    """Makes random numbers whose variance depends on the number of inputs or outputs.

    Args:
        scale: what the variance is multiplied with.
        mode: "fan_in", "fan_out" or "fan_avg": what it is divided by.
        distribution: "normal" or "truncated_normal", "untruncated_normal", or "uniform".
        seed: the op seed.
        dtype: the dtype when the call gives none.
    """

    def __init__(
        self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32
    ) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
        if distribution.lower() not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Argument `distribution` should be one of ('normal', 'uniform', 'truncated_normal', "
                             f"'untruncated_normal'). Received: {distribution}")
        super().__init__(_floating("variance_scaling_initializer", dtype))
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution.lower(), seed

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        dtype = self._dtype(dtype)
        whole = shape if partition_info is None else partition_info.full_shape
        inputs, outputs = fans(TensorShape(whole).as_list())
        count = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}[self.mode]
        scale = self.scale / max(1.0, count)
        if self.distribution in ("normal", "truncated_normal"):
            return uniform_and_normal.truncated_normal(shape, 0.0, math.sqrt(scale) / _TRUNCATED, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return uniform_and_normal.normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * scale)
        return uniform_and_normal.uniform(shape, -limit, limit, dtype, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed,
                "dtype": self.dtype.name}


def fans(shape):
    """How many inputs and outputs a unit has whose weights have that shape."""
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    window = 1
    for size in shape[:-2]:
        window *= size
    return shape[-2] * window, shape[-1] * window


@api("compat.v1.glorot_uniform_initializer", "compat.v1.initializers.glorot_uniform", "glorot_uniform_initializer")
class GlorotUniform(VarianceScaling):
    """Makes uniformly distributed numbers that keep the scale forwards and backwards."""

    def __init__(self, seed=None, dtype=dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


@api("compat.v1.glorot_normal_initializer", "compat.v1.initializers.glorot_normal")
class GlorotNormal(VarianceScaling):
    """Makes normally distributed numbers that keep the scale forwards and backwards."""

    def __init__(self, seed=None, dtype=dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype.name}


@api("compat.v1.initializers.lecun_normal", dispatch=False)
def lecun_normal(seed=None) -> Any:
    """A `variance_scaling` of scale 1 over the inputs, normal."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@api("compat.v1.initializers.lecun_uniform", dispatch=False)
def lecun_uniform(seed=None) -> Any:
    """A `variance_scaling` of scale 1 over the inputs, uniform."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@api("compat.v1.initializers.he_normal", dispatch=False)
def he_normal(seed=None) -> VarianceScaling:
    """A `variance_scaling` of scale 2 over the inputs, normal."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@api("compat.v1.initializers.he_uniform", dispatch=False)
def he_uniform(seed=None) -> Any:
    """A `variance_scaling` of scale 2 over the inputs, uniform."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


@api("compat.v1.orthogonal_initializer", "compat.v1.initializers.orthogonal")
class Orthogonal(Initializer):
    """Makes matrices with orthonormal columns (or rows, when they are fewer), times a gain."""

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32) -> None:
        super().__init__(_floating("orthogonal_initializer", dtype))
        self.gain, self.seed = gain, seed

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        dtype = self._dtype(dtype)
        dims = TensorShape(shape).as_list()
        if len(dims) < 2:
            raise ValueError(
                f"The tensor to initialize, specified by argument `shape` must be at least two-dimensional. "
                f"Received shape={shape}"
            )
        rows, columns = math.prod(dims[:-1]), dims[-1]
        tall = [max(rows, columns), min(rows, columns)]
        q, r = qr(uniform_and_normal.normal(tall, dtype=dtype, seed=self.seed), full_matrices=False)
        q = q * SIGN(diag_part(r))
        if rows < columns:
            q = TRANSPOSE(q, [1, 0])
        return RESHAPE(q, dims) * to_tensor(self.gain, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


@api("compat.v1.initializers.identity")
class Identity(Initializer):
    """Makes identity matrices, times a gain."""

    def __init__(self, gain=1.0, dtype=dtypes.float32) -> None:
        super().__init__(_floating("initializers.identity", dtype))
        self.gain = gain

    def __call__(self, shape, dtype=None, partition_info=None) -> Tensor:
        dims = TensorShape(shape).as_list()
        if len(dims) != 2:
            raise ValueError("The tensor to initialize, specified by argument `shape` must be two-dimensional. "
                             f"Received shape={shape}")
        dtype = self._dtype(dtype)
        return MATRIX_SET_DIAG_MAIN(zeros(dims, dtype), ones([min(dims)], dtype)) * to_tensor(self.gain, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}
