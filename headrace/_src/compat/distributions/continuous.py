"""Distributions of numbers: Normal, Uniform, Laplace, Exponential, Gamma, Beta, StudentT; and of shares: Dirichlet."""

import math

import numpy as np

from headrace._src.compat.distributions.base import (
    FULLY_REPARAMETERIZED,
    Distribution,
    other_seed,
    parameter,
    with_parameters,
)
from headrace._src.compat.distributions.divergences import RegisterKL
from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape, broadcast_static_shape
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import broadcasting, casting, constants, filling, joining, measuring, passing, shaping
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.debugging import assertions
from headrace._src.ops.linalg import diagonals
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.math import elementwise, reductions, special
from headrace._src.ops.random import distributions as random_distributions
from headrace._src.ops.random import uniform_and_normal

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class _OfTwo(Distribution):
    """A distribution of scalars with parameters that are spread over each other."""

    _both: tuple

    def _batch_shape(self):
        shape = TensorShape([])
        for one in self._both:
            shape = broadcast_static_shape(shape, one.shape)
        return shape

    def _batch_shape_tensor(self):
        shape = to_tensor([], dtypes.int32)
        for one in self._both:
            shape = broadcasting.broadcast_dynamic_shape(shape, measuring.shape(one))
        return shape

    def _drawn(self, n):
        """The shape of n samples."""
        return joining.concat([shaping.reshape(n, [1]), self.batch_shape_tensor()], 0)

    def _spread(self, value):
        return value * constants.ones(self.batch_shape_tensor(), self._dtype)


@api("compat.v1.distributions.Normal", dispatch=False)
class Normal(_OfTwo):
    """The normal distribution.

    Args:
        loc: the mean.
        scale: the standard deviation.
        validate_args: whether `scale` is checked.
        allow_nan_stats: accepted.
        name: a scope.

    >>> normal = tf.compat.v1.distributions.Normal(0.0, [1.0, 2.0])
    >>> normal.cdf(0.0).numpy().tolist()
    [0.5, 0.5]
    """

    @with_parameters
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal") -> None:
        self._scale = parameter(scale, "scale", positive=True, validate=validate_args)
        self._loc = parameter(loc, "loc", self._scale.dtype)
        self._both = (self._loc, self._scale)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    loc = property(lambda self: self._loc, doc="The mean.")
    scale = property(lambda self: self._scale, doc="The standard deviation.")

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"loc": sample_shape, "scale": sample_shape}

    def _sample_n(self, n, seed):
        return uniform_and_normal.normal(self._drawn(n), dtype=self._dtype, seed=seed) * self._scale + self._loc

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _log_prob(self, x):
        return -0.5 * elementwise.square(self._z(x)) - (_HALF_LOG_2PI + elementwise.log(self._scale))

    def _cdf(self, x):
        return 0.5 * special.erfc(-self._z(x) / math.sqrt(2.0))

    def _survival_function(self, x):
        return 0.5 * special.erfc(self._z(x) / math.sqrt(2.0))

    def _log_cdf(self, x):
        return _log_normal_cdf(self._z(x))

    def _log_survival_function(self, x):
        return _log_normal_cdf(-self._z(x))

    def _quantile(self, p):
        return special.ndtri(p) * self._scale + self._loc

    def _entropy(self):
        return 0.5 + _HALF_LOG_2PI + elementwise.log(self._spread(self._scale))

    def _mean(self):
        return self._spread(self._loc)

    _mode = _mean

    def _stddev(self):
        return self._spread(self._scale)


def _log_normal_cdf(z):
    """The logarithm of the normal distribution's cdf, also far out, where the cdf is zero as a number."""
    far = -20.0 if z.dtype == dtypes.float64 else -10.0
    tail = SELECT_V2(z < far, z, filling.ones_like(z) * far)
    square = elementwise.square(tail)
    series = 1 - 1 / square + 3 / elementwise.square(square) - 15 / (elementwise.square(square) * square)
    outside = -0.5 * square - elementwise.log(-tail) - _HALF_LOG_2PI + elementwise.log(series)
    inner = SELECT_V2(z < far, filling.ones_like(z) * far, z)
    return SELECT_V2(z < far, outside, elementwise.log(0.5 * special.erfc(-inner / math.sqrt(2.0))))


@api("compat.v1.distributions.Uniform", dispatch=False)
class Uniform(_OfTwo):
    """Equally probable numbers of a range.

    Args:
        low, high: the range, `low` included.
        validate_args: whether `low < high` is checked.
        allow_nan_stats: accepted.
        name: a scope.

    >>> tf.compat.v1.distributions.Uniform(2.0, 4.0).mean().numpy()
    np.float32(3.0)
    """

    @with_parameters
    def __init__(self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform") -> None:
        self._low = parameter(low, "low")
        self._high = parameter(high, "high", self._low.dtype)
        if validate_args:
            check = assertions.assert_less(self._low, self._high, "Uniform: low must be below high.")
            with control_dependencies([] if check is None else [check]):
                self._low = passing.identity(self._low)
        self._both = (self._low, self._high)
        super().__init__(self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    low = property(lambda self: self._low, doc="The lower end.")
    high = property(lambda self: self._high, doc="The upper end.")

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"low": sample_shape, "high": sample_shape}

    def range(self, name="range"):
        """How wide the range is."""
        return self._high - self._low

    def _sample_n(self, n, seed):
        return self._low + self.range() * uniform_and_normal.uniform(self._drawn(n), dtype=self._dtype, seed=seed)

    def _prob(self, x):
        width = filling.ones_like(x) * self.range()
        inside = SELECT_V2((x < self._low) | (x >= self._high), filling.zeros_like(width), filling.ones_like(width))
        return SELECT_V2(elementwise.is_nan(x), x + 0 * width, inside / width)

    def _cdf(self, x):
        share = (x - self._low) / self.range()
        share = SELECT_V2(x < self._low, filling.zeros_like(share), share)
        return SELECT_V2(x >= self._high, filling.ones_like(share), share)

    def _quantile(self, p):
        return (1 - p) * self._low + p * self._high

    def _entropy(self):
        return elementwise.log(self.range())

    def _mean(self):
        return (self._low + self._high) / 2.0

    def _variance(self):
        return elementwise.square(self.range()) / 12.0

    def _stddev(self):
        return self.range() / math.sqrt(12.0)


@api("compat.v1.distributions.Laplace", dispatch=False)
class Laplace(_OfTwo):
    """Two exponential distributions, back to back.

    Args:
        loc: the middle.
        scale: how wide.
        validate_args: whether `scale` is checked.
        allow_nan_stats: accepted.
        name: a scope.
    """

    @with_parameters
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace") -> None:
        self._loc = parameter(loc, "loc")
        self._scale = parameter(scale, "scale", self._loc.dtype, positive=True, validate=validate_args)
        self._both = (self._loc, self._scale)
        super().__init__(self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    loc = property(lambda self: self._loc, doc="The middle.")
    scale = property(lambda self: self._scale, doc="How wide.")

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"loc": sample_shape, "scale": sample_shape}

    def _sample_n(self, n, seed):
        kind = self._dtype.as_numpy_dtype
        least = np.nextafter(kind(-1.0), kind(0.0))
        found = uniform_and_normal.uniform(self._drawn(n), least, 1.0, self._dtype, seed)
        return self._loc - self._scale * elementwise.sign(found) * elementwise.log1p(-elementwise.abs(found))

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _log_prob(self, x):
        return -elementwise.abs(self._z(x)) - math.log(2.0) - elementwise.log(self._scale)

    def _log_cdf(self, x):
        return _log_laplace_cdf(self._z(x))

    def _log_survival_function(self, x):
        return _log_laplace_cdf(-self._z(x))

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 + 0.5 * elementwise.sign(z) * (1.0 - elementwise.exp(-elementwise.abs(z)))

    def _entropy(self):
        return math.log(2.0) + 1 + elementwise.log(self._scale + filling.zeros_like(self._loc))

    def _mean(self):
        return self._loc + filling.zeros_like(self._scale)

    _mode = _mean

    def _stddev(self):
        return math.sqrt(2.0) * self._scale + filling.zeros_like(self._loc)


def _log_laplace_cdf(z):
    below = z - math.log(2.0)
    above = elementwise.log1p(-0.5 * elementwise.exp(-elementwise.abs(z)))
    return SELECT_V2(z < 0, below, above)


@api("compat.v1.distributions.Gamma", dispatch=False)
class Gamma(_OfTwo):
    """The gamma distribution.

    Args:
        concentration: its shape.
        rate: its inverse scale.
        validate_args: whether both are checked.
        allow_nan_stats: whether a mode that is not defined is NaN, or an error.
        name: a scope.
    """

    @with_parameters
    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma") -> None:
        self._concentration = parameter(concentration, "concentration", positive=True, validate=validate_args)
        self._rate = parameter(rate, "rate", self._concentration.dtype, positive=True, validate=validate_args)
        self._both = (self._concentration, self._rate)
        super().__init__(self._rate.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    concentration = property(lambda self: self._concentration, doc="Its shape.")
    rate = property(lambda self: self._rate, doc="Its inverse scale.")

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"concentration": sample_shape, "rate": sample_shape}

    def _sample_n(self, n, seed):
        return random_distributions.gamma(shaping.reshape(n, [1]), self._concentration, self._rate, self._dtype, seed)

    def _log_prob(self, x):
        free = (self._concentration - 1.0) * elementwise.log(x) - self._rate * x
        return free - (special.lgamma(self._concentration) - self._concentration * elementwise.log(self._rate))

    def _cdf(self, x):
        return special.igamma(self._concentration, self._rate * x)

    def _entropy(self):
        a = self._concentration
        return a - elementwise.log(self._rate) + special.lgamma(a) + (1.0 - a) * special.digamma(a)

    def _mean(self):
        return self._concentration / self._rate

    def _variance(self):
        return self._concentration / elementwise.square(self._rate)

    def _stddev(self):
        return elementwise.sqrt(self._concentration) / self._rate

    def _mode(self):
        found = (self._concentration - 1.0) / self._rate
        return self._where_defined(self._concentration > 1.0, found, "mode")


@api("compat.v1.distributions.Exponential", dispatch=False)
class Exponential(Gamma):
    """The exponential distribution: times between events that happen at a rate.

    Args:
        rate: how many events in one unit of time.
        validate_args: whether it is checked.
        allow_nan_stats: accepted.
        name: a scope.

    >>> tf.compat.v1.distributions.Exponential(4.0).mean().numpy()
    np.float32(0.25)
    """

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential") -> None:
        rate = parameter(rate, "rate")
        super().__init__(filling.ones_like(rate), rate, validate_args, allow_nan_stats, name)
        self._parameters = dict(rate=rate, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"rate": sample_shape}

    def _sample_n(self, n, seed):
        least = np.finfo(self._dtype.as_numpy_dtype).tiny  # zero has no logarithm
        return -elementwise.log(uniform_and_normal.uniform(self._drawn(n), least, 1.0, self._dtype, seed)) / self._rate


@api("compat.v1.distributions.StudentT", dispatch=False)
class StudentT(_OfTwo):
    """Student's t distribution.

    Args:
        df: degrees of freedom.
        loc: the middle.
        scale: how wide.
        validate_args: whether `df` is checked.
        allow_nan_stats: whether means and variances that are not defined are NaN, or an error.
        name: a scope.
    """

    @with_parameters
    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT") -> None:
        self._df = parameter(df, "df", positive=True, validate=validate_args)
        self._loc = parameter(loc, "loc", self._df.dtype)
        self._scale = parameter(scale, "scale", self._df.dtype)
        self._both = (self._df, self._loc, self._scale)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    df = property(lambda self: self._df, doc="Degrees of freedom.")
    loc = property(lambda self: self._loc, doc="The middle.")
    scale = property(lambda self: self._scale, doc="How wide.")

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"df": sample_shape, "loc": sample_shape, "scale": sample_shape}

    def _sample_n(self, n, seed):
        normal = uniform_and_normal.normal(self._drawn(n), dtype=self._dtype, seed=seed)
        df = self._df * constants.ones(self.batch_shape_tensor(), self._dtype)
        gamma = random_distributions.gamma(
            shaping.reshape(n, [1]), 0.5 * df, 0.5, self._dtype, other_seed(seed, "student_t")
        )
        return normal * elementwise.rsqrt(gamma / df) * self._scale + self._loc

    def _log_prob(self, x):
        y = (x - self._loc) / self._scale
        free = -0.5 * (self._df + 1.0) * elementwise.log1p(elementwise.square(y) / self._df)
        return free - (
            elementwise.log(elementwise.abs(self._scale)) + 0.5 * elementwise.log(self._df) + 0.5 * math.log(math.pi)
            + special.lgamma(0.5 * self._df) - special.lgamma(0.5 * (self._df + 1.0))
        )  # fmt: skip

    def _cdf(self, x):
        y = (x - self._loc) / elementwise.abs(self._scale)
        df = self._spread(self._df) + filling.zeros_like(y)
        below = 0.5 * special.betainc(0.5 * df, 0.5 * filling.ones_like(df), df / (elementwise.square(y) + df))
        return SELECT_V2(y < 0.0, below, 1.0 - below)

    def _entropy(self):
        half, more = 0.5 * self._df, 0.5 * (self._df + 1.0)
        both = special.lgamma(half) + math.lgamma(0.5) - special.lgamma(half + 0.5)
        return (
            elementwise.log(elementwise.abs(self._spread(self._scale))) + 0.5 * elementwise.log(self._df) + both
            + more * (special.digamma(more) - special.digamma(half))
        )  # fmt: skip

    def _mean(self):
        return self._where_defined(self._spread(self._df) > 1.0, self._spread(self._loc), "mean")

    def _variance(self):
        df = self._spread(self._df)
        above = SELECT_V2(df > 2.0, df - 2.0, filling.ones_like(df))
        found = elementwise.square(self._scale) * df / above
        found = SELECT_V2(df > 2.0, found, filling.fill(measuring.shape(df), to_tensor(np.inf, self._dtype)))
        return self._where_defined(df > 1.0, found, "variance")

    def _mode(self):
        return self._spread(self._loc)


@api("compat.v1.distributions.Beta", dispatch=False)
class Beta(_OfTwo):
    """The beta distribution, of numbers between 0 and 1.

    Args:
        concentration1, concentration0: its shape.
        validate_args: whether values and both are checked.
        allow_nan_stats: whether a mode that is not defined is NaN, or an error.
        name: a scope.
    """

    @with_parameters
    def __init__(self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True,
                 name="Beta") -> None:  # fmt: skip
        self._a = parameter(concentration1, "concentration1", positive=True, validate=validate_args)
        self._b = parameter(concentration0, "concentration0", self._a.dtype, positive=True, validate=validate_args)
        self._both = (self._a, self._b)
        super().__init__(self._a.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    concentration1 = property(lambda self: self._a, doc="Its shape towards 1.")
    concentration0 = property(lambda self: self._b, doc="Its shape towards 0.")
    total_concentration = property(lambda self: self._a + self._b, doc="The sum of both.")

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"concentration1": sample_shape, "concentration0": sample_shape}

    def _sample_n(self, n, seed):
        shape = shaping.reshape(n, [1])
        first = random_distributions.gamma(shape, self._spread(self._a), None, self._dtype, seed)
        other = random_distributions.gamma(shape, self._spread(self._b), None, self._dtype, other_seed(seed, "beta"))
        return first / (first + other)

    def _log_prob(self, x):
        free = (self._a - 1.0) * elementwise.log(x) + (self._b - 1.0) * elementwise.log1p(-x)
        return free - _log_beta(self._a, self._b)

    def _cdf(self, x):
        zero = filling.zeros_like(x)
        return special.betainc(self._spread(self._a) + zero, self._spread(self._b) + zero, self._spread(1.0) * x)

    def _entropy(self):
        a, b, total = self._a, self._b, self._a + self._b
        return (
            _log_beta(a, b) - (a - 1.0) * special.digamma(a) - (b - 1.0) * special.digamma(b)
            + (total - 2.0) * special.digamma(total)
        )  # fmt: skip

    def _mean(self):
        return self._a / (self._a + self._b)

    def _variance(self):
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self._a + self._b)

    def _mode(self):
        defined = (self._a > 1.0) & (self._b > 1.0)
        return self._where_defined(defined, (self._a - 1.0) / (self._a + self._b - 2.0), "mode")


def _log_beta(a, b):
    return special.lgamma(a) + special.lgamma(b) - special.lgamma(a + b)


@api("compat.v1.distributions.Dirichlet", dispatch=False)
class Dirichlet(Distribution):
    """The Dirichlet distribution, of shares that add up to 1.

    Args:
        concentration: for each of the shares, along the last axis.
        validate_args: whether it is checked.
        allow_nan_stats: whether a mode that is not defined is NaN, or an error.
        name: a scope.
    """

    @with_parameters
    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet") -> None:
        self._concentration = parameter(concentration, "concentration", positive=True, validate=validate_args)
        self._total = reductions.reduce_sum(self._concentration, -1)
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    concentration = property(lambda self: self._concentration, doc="For each of the shares.")
    total_concentration = property(lambda self: self._total, doc="The sum of all.")

    def _batch_shape(self):
        return self._total.shape

    def _batch_shape_tensor(self):
        return measuring.shape(self._total)

    def _event_shape(self):
        return self._concentration.shape[-1:]

    def _event_shape_tensor(self):
        return measuring.shape(self._concentration)[-1:]

    def _sample_n(self, n, seed):
        found = random_distributions.gamma(shaping.reshape(n, [1]), self._concentration, None, self._dtype, seed)
        return found / reductions.reduce_sum(found, -1, keepdims=True)

    def _log_prob(self, x):
        free = reductions.reduce_sum((self._concentration - 1.0) * elementwise.log(x), -1)
        return free - special.lbeta(self._concentration)

    def _entropy(self):
        count = casting.cast(self._event_shape_tensor()[0], self._dtype)
        return (
            special.lbeta(self._concentration) + (self._total - count) * special.digamma(self._total)
            - reductions.reduce_sum((self._concentration - 1.0) * special.digamma(self._concentration), -1)
        )  # fmt: skip

    def _mean(self):
        return self._concentration / shaping.expand_dims(self._total, -1)

    def _scaled_mean(self):
        total = shaping.expand_dims(self._total, -1)
        return self._mean() / elementwise.sqrt(1.0 + total)

    def _covariance(self):
        x = self._scaled_mean()
        product = -matmul(shaping.expand_dims(x, -1), shaping.expand_dims(x, -2))
        return diagonals.set_diag(product, self._variance())

    def _variance(self):
        scale = elementwise.rsqrt(1.0 + shaping.expand_dims(self._total, -1))
        x = scale * self._mean()
        return x * (scale - x)

    def _mode(self):
        count = casting.cast(self._event_shape_tensor()[0], self._dtype)
        found = (self._concentration - 1.0) / shaping.expand_dims(self._total - count, -1)
        defined = reductions.reduce_all(self._concentration > 1.0, -1, keepdims=True) & elementwise.is_finite(found)
        return self._where_defined(defined, found, "mode")


# Divergences.


@RegisterKL(Normal, Normal)
def _normal(a, b, name=None):
    ratio = elementwise.square(a.scale / b.scale)
    return elementwise.square(a.loc - b.loc) / (2 * elementwise.square(b.scale)) + 0.5 * (
        ratio - 1 - elementwise.log(ratio)
    )


@RegisterKL(Gamma, Gamma)
def _gamma(a, b, name=None):
    return (
        (a.concentration - b.concentration) * special.digamma(a.concentration)
        + special.lgamma(b.concentration) - special.lgamma(a.concentration)
        + b.concentration * (elementwise.log(a.rate) - elementwise.log(b.rate))
        + a.concentration * (b.rate / a.rate - 1.0)
    )  # fmt: skip


@RegisterKL(Beta, Beta)
def _beta(a, b, name=None):
    def change(first, second):
        return (second - first) * special.digamma(first)

    def size(one):
        total = one.concentration1 + one.concentration0
        return special.lgamma(one.concentration1) + special.lgamma(one.concentration0) - special.lgamma(total)

    return size(b) - size(a) - (
        change(a.concentration1, b.concentration1) + change(a.concentration0, b.concentration0)
        - change(a.total_concentration, b.total_concentration)
    )  # fmt: skip


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlet(a, b, name=None):
    logs = special.digamma(a.concentration) - special.digamma(shaping.expand_dims(a.total_concentration, -1))
    change = a.concentration - b.concentration
    return reductions.reduce_sum(change * logs, -1) - special.lbeta(a.concentration) + special.lbeta(b.concentration)
