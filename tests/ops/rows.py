"""Rows: expressions over `tf` and seeded inputs, which real TensorFlow and headrace both evaluate.

    ROWS = [
        row("tf.math.sqrt(a)", a=uniform(0.1, 2, 3, 4)),
        *each("float16 float32 float64", "tf.math.add(a, b)", a=normal(2, 3), b=normal(3)),
        row("tf.reshape(a, [4, -1])", a=normal(2, 3)),          # raises: the exception's class is recorded
    ]

This module knows neither TensorFlow nor headrace, so that the recorder can run it with the one and the tests with
the other. Every float or complex input is watched, and gradients are recorded too, unless `grad=False`.
"""

import dataclasses
import hashlib

import ml_dtypes
import numpy as np


@dataclasses.dataclass(frozen=True)
class Input:
    """How to make one input; `dtype` None means the row's dtype T."""

    kind: str
    shape: tuple = ()
    low: float = 0.0
    high: float = 1.0
    dtype: str | None = None
    literal: str = ""

    def make(self, rng: np.random.Generator, dtype: str) -> np.ndarray:
        wanted = numpy_dtype(self.dtype or dtype)
        if self.kind == "literal":
            # Given as text, so that rows hash; `inf`, `nan` and nested lists are fine.
            value = eval(self.literal, {"inf": np.inf, "nan": np.nan, "np": np})  # our own rows
            if self.dtype is None and not self.literal_numeric(value):
                return np.array(value, dtype=object)
            return np.array(value, dtype=wanted)
        if self.kind == "boolean":
            return rng.random(self.shape) < 0.5
        if self.kind == "integers":
            return rng.integers(int(self.low), int(self.high), self.shape).astype(wanted)
        if self.kind == "normal":
            sample = rng.standard_normal(self.shape)
            if wanted.kind == "c":
                sample = sample + 1j * rng.standard_normal(self.shape)
            elif wanted.kind in "iu":
                sample = np.round(sample * 4) if wanted.kind == "i" else np.abs(np.round(sample * 4))
            elif wanted.kind == "b":
                sample = sample > 0
            return np.asarray(sample).astype(wanted)
        sample = rng.uniform(self.low, self.high, self.shape)
        if wanted.kind == "c":
            sample = sample + 1j * rng.uniform(self.low, self.high, self.shape)
        return np.asarray(sample).astype(wanted)

    @staticmethod
    def literal_numeric(value):
        return np.array(value).dtype.kind not in "OUS"


def numpy_dtype(name: str) -> np.dtype:
    if name == "string":
        return np.dtype(object)
    return np.dtype(getattr(ml_dtypes, name, name))


def normal(*shape, dtype=None) -> Input:
    """Standard normal; rounded and scaled for integer dtypes."""
    return Input("normal", shape, dtype=dtype)


def uniform(low, high, *shape, dtype=None) -> Input:
    return Input("uniform", shape, low, high, dtype)


def integers(low, high, *shape, dtype="int32") -> Input:
    """From low up to but not including high."""
    return Input("integers", shape, low, high, dtype)


def booleans(*shape) -> Input:
    return Input("boolean", shape, dtype="bool")


def value(literal, dtype=None) -> Input:
    """A given value: `value([1, 2], "int32")`, `value([["a", "b"]])`."""
    if isinstance(literal, np.ndarray):
        literal = literal.tolist()
    return Input("literal", literal=repr(literal), dtype=dtype)


@dataclasses.dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        code: an expression, or statements that assign `result`.
        inputs: names and how to make them; in `code` they are tensors.
        dtype: T, the dtype of inputs that name none; `{T}` in the code stands for it.
        grad: record and compare gradients.
        fd: compare gradients with finite differences (first and second order) in float64. False where the
            function is not smooth, or random, or has no float64.
        second: False to leave out the second-order comparison.
        rtol, atol: instead of the dtype's defaults.
        lower: compare kernels with lowerings.
        ours: None, or the reason why headrace decides otherwise than TensorFlow here (a written decision);
            the row is then not compared, only run.
    """

    code: str
    inputs: tuple = ()
    dtype: str = "float32"
    grad: bool = True
    fd: bool = True
    second: bool = True
    rtol: float | None = None
    atol: float | None = None
    lower: bool = True
    ours: str | None = None

    @property
    def key(self) -> str:
        """What identifies the recorded result: changes when the computation changes."""
        text = repr((self.code, self.inputs, self.dtype, self.grad))
        return hashlib.sha1(text.encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        return f"{self.code[:60]}|{self.dtype}|{self.key[:6]}".replace("\n", ";")

    def arrays(self, dtype=None) -> dict[str, np.ndarray]:
        """The inputs, the same on every machine; with `dtype`, made as if T were that."""
        seed = int(hashlib.sha1((self.code + self.dtype).encode()).hexdigest()[:8], 16)
        rng = np.random.Generator(np.random.PCG64(seed))
        return {name: spec.make(rng, dtype or self.dtype) for name, spec in self.inputs}


def row(code, *, dtype="float32", grad=True, fd=True, second=True, rtol=None, atol=None, lower=True,
        ours=None, **inputs) -> Row:  # fmt: skip
    code = code.replace("{T}", dtype)
    return Row(code, tuple(inputs.items()), dtype, grad, fd, second, rtol, atol, lower, ours)


def each(dtypes: str, code, **options) -> list[Row]:
    """One row per dtype, for inputs that name no dtype and for `{T}` in the code."""
    return [row(code, dtype=dtype, **options) for dtype in dtypes.split()]


FLOATS = "float16 bfloat16 float32 float64"
COMPLEXES = "complex64 complex128"
INTS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
SIGNED = "int8 int16 int32 int64"
