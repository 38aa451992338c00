"""Distributions of classes and counts: Bernoulli, Categorical, Multinomial, DirichletMultinomial."""

from typing import Any

from headrace._src.compat.distributions.base import (
    NOT_REPARAMETERIZED,
    Distribution,
    other_seed,
    parameter,
    with_parameters,
)
from headrace._src.compat.distributions.divergences import RegisterKL
from headrace._src.core import dtypes
from headrace._src.op.api import api
from headrace._src.ops.arrays import broadcasting, casting, filling, joining, measuring, ranking, rearranging, shaping
from headrace._src.ops.linalg import diagonals
from headrace._src.ops.linalg.matmul import matmul
from headrace._src.ops.math import elementwise, reductions, special
from headrace._src.ops.nn import losses as nn_losses
from headrace._src.ops.nn import softmax as nn_softmax
from headrace._src.ops.nn.activations import softplus
from headrace._src.ops.random import distributions as random_distributions
from headrace._src.ops.random import uniform_and_normal


def _both(label, logits, probs, several):
    """Logits and probabilities, of which one is given.

    Raises:
        ValueError: both are given, or none.
    """
    if (logits is None) == (probs is None):
        raise ValueError(f"{label}: give logits or probs, and not both.")
    if logits is not None:
        logits = parameter(logits, "logits")
        return logits, nn_softmax.softmax(logits) if several else elementwise.sigmoid(logits)
    probs = parameter(probs, "probs")
    return (elementwise.log(probs) if several else elementwise.log(probs) - elementwise.log1p(-probs)), probs


@api("compat.v1.distributions.Bernoulli", dispatch=False)
class Bernoulli(Distribution):
    """1 with a probability, otherwise 0.

    Args:
        logits: the logarithm of the odds; either these or `probs`.
        probs: the probability of 1.
        dtype: that of samples.
        validate_args: accepted.
        allow_nan_stats: accepted.
        name: a scope.

    >>> tf.compat.v1.distributions.Bernoulli(probs=0.25).prob(1).numpy()
    np.float32(0.25)
    """

    @with_parameters
    def __init__(self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
                 name="Bernoulli") -> None:  # fmt: skip
        self._logits, self._probs = _both("Bernoulli", logits, probs, several=False)
        super().__init__(dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    logits = property(lambda self: self._logits, doc="The logarithm of the odds.")
    probs = property(lambda self: self._probs, doc="The probability of 1.")

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"logits": sample_shape}

    def _batch_shape(self):
        return self._logits.shape

    def _batch_shape_tensor(self):
        return measuring.shape(self._logits)

    def _sample_n(self, n, seed):
        shape = joining.concat([shaping.reshape(n, [1]), self.batch_shape_tensor()], 0)
        found = uniform_and_normal.uniform(shape, dtype=self._probs.dtype, seed=seed)
        return casting.cast(found < self._probs, self._dtype)

    def _log_prob(self, event):
        event = casting.cast(event, self._logits.dtype)
        zero = filling.zeros_like(event) + filling.zeros_like(self._logits)
        return -nn_losses.sigmoid_cross_entropy_with_logits(labels=event + zero, logits=self._logits + zero)

    def _entropy(self):
        return -self._logits * (elementwise.sigmoid(self._logits) - 1) + softplus(-self._logits)

    def _mean(self):
        return self._probs

    def _variance(self):
        return self._probs * (1.0 - self._probs)

    def _mode(self):
        return casting.cast(self._probs > 0.5, self._dtype)


@api("compat.v1.distributions.Categorical", dispatch=False)
class Categorical(Distribution):
    """One of several classes.

    Args:
        logits: along the last axis; either these or `probs`.
        probs: the probabilities of classes.
        dtype: that of samples.
        validate_args: accepted.
        allow_nan_stats: accepted.
        name: a scope.

    >>> tf.compat.v1.distributions.Categorical(probs=[0.25, 0.75]).mode().numpy()
    np.int32(1)
    """

    @with_parameters
    def __init__(self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
                 name="Categorical") -> None:  # fmt: skip
        self._logits, self._probs = _both("Categorical", logits, probs, several=True)
        super().__init__(dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    logits = property(lambda self: self._logits, doc="Along the last axis.")
    probs = property(lambda self: self._probs, doc="The probabilities of classes.")

    @property
    def event_size(self):
        """How many classes there are."""
        return measuring.shape(self._logits)[-1]

    def _batch_shape(self):
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self):
        return measuring.shape(self._logits)[:-1]

    def _sample_n(self, n, seed):
        rows = shaping.reshape(self._logits, joining.stack([-1, self.event_size]))
        found = rearranging.transpose(random_distributions.categorical(rows, n, self._dtype, seed))
        return shaping.reshape(found, joining.concat([shaping.reshape(n, [1]), self.batch_shape_tensor()], 0))

    def _spread_classes(self, k):
        """The value as integers, and the logits, of the same shape but for the classes."""
        shape = broadcasting.broadcast_dynamic_shape(measuring.shape(k), self.batch_shape_tensor())
        logits = broadcasting.broadcast_to(self._logits, joining.concat([shape, [self.event_size]], 0))
        return broadcasting.broadcast_to(k, shape), logits

    def _log_prob(self, k):
        k, logits = self._spread_classes(k)
        return -nn_softmax.sparse_softmax_cross_entropy_with_logits(
            labels=casting.cast(k, dtypes.int64) if k.dtype.is_floating else k, logits=logits
        )

    def _cdf(self, k):
        k, logits = self._spread_classes(k)
        count = casting.cast(shaping.expand_dims(k, -1), dtypes.int32)
        before = casting.cast(filling.range_(self.event_size) < count, logits.dtype)
        return reductions.reduce_sum(nn_softmax.softmax(logits) * before, -1)

    def _entropy(self):
        return -reductions.reduce_sum(nn_softmax.log_softmax(self._logits) * self._probs, -1)

    def _mode(self):
        return casting.cast(ranking.argmax(self._logits, axis=-1), self._dtype)


class _Counts(Distribution):
    """How often each class comes in a number of draws."""

    _total_count: Any

    def _batch_shape_tensor(self):
        return measuring.shape(self._mean())[:-1]

    def _batch_shape(self):
        return self._mean().shape[:-1]

    def _event_shape_tensor(self):
        return measuring.shape(self._mean())[-1:]

    def _event_shape(self):
        return self._mean().shape[-1:]

    def _combinations(self, counts):
        """The logarithm of the number of orders in which counts can come."""
        each = reductions.reduce_sum(special.lgamma(counts + 1.0), -1)
        return special.lgamma(self._total_count + 1.0) - each

    def _draw(self, logits, n, seed):
        """Counts of draws, one by one; logits have a first axis for n samples."""
        rows = shaping.reshape(logits, joining.stack([-1, measuring.shape(logits)[-1]]))
        per_row = broadcasting.broadcast_to(self._total_count, joining.concat([[n], self.batch_shape_tensor()], 0))
        per_row = casting.cast(shaping.reshape(per_row, [-1]), dtypes.int32)
        most = reductions.reduce_max(per_row)
        drawn = random_distributions.categorical(rows, most, dtypes.int32, seed)
        counted = casting.cast(
            shaping.expand_dims(filling.range_(most), 0) < shaping.expand_dims(per_row, -1), self._dtype
        )
        ones = filling.one_hot(drawn, measuring.shape(logits)[-1], dtype=self._dtype)
        counts = reductions.reduce_sum(ones * shaping.expand_dims(counted, -1), -2)
        return shaping.reshape(counts, measuring.shape(logits))


@api("compat.v1.distributions.Multinomial", dispatch=False)
class Multinomial(_Counts):
    """How often each of several classes comes in a number of draws.

    Args:
        total_count: how many draws, as floating numbers.
        logits: along the last axis; either these or `probs`.
        probs: the probabilities of classes.
        validate_args: accepted.
        allow_nan_stats: accepted.
        name: a scope.

    >>> tf.compat.v1.distributions.Multinomial(4.0, probs=[0.25, 0.75]).mean().numpy().tolist()
    [1.0, 3.0]
    """

    @with_parameters
    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True,
                 name="Multinomial") -> None:  # fmt: skip
        self._total_count = parameter(total_count, "total_count")
        self._logits, self._probs = _both("Multinomial", logits, probs, several=True)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    total_count = property(lambda self: self._total_count, doc="How many draws.")
    logits = property(lambda self: self._logits, doc="Along the last axis.")
    probs = property(lambda self: self._probs, doc="The probabilities of classes.")

    def _mean(self):
        return self._probs * shaping.expand_dims(self._total_count, -1)

    def _sample_n(self, n, seed):
        shape = joining.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return self._draw(broadcasting.broadcast_to(self._logits, shape), n, seed)

    def _log_prob(self, counts):
        free = reductions.reduce_sum(counts * nn_softmax.log_softmax(self._logits), -1)
        return free + self._combinations(counts)

    def _covariance(self):
        mean = self._mean()
        probs = self._probs + filling.zeros_like(mean)
        product = -matmul(shaping.expand_dims(mean, -1), shaping.expand_dims(probs, -2))
        return diagonals.set_diag(product, self._variance())

    def _variance(self):
        mean = self._mean()
        return mean - mean * self._probs


@api("compat.v1.distributions.DirichletMultinomial", dispatch=False)
class DirichletMultinomial(_Counts):
    """Counts of classes whose probabilities are drawn from a Dirichlet distribution.

    Args:
        total_count: how many draws, as floating numbers.
        concentration: that of the Dirichlet distribution, along the last axis.
        validate_args: whether it is checked.
        allow_nan_stats: accepted.
        name: a scope.
    """

    @with_parameters
    def __init__(self, total_count, concentration, validate_args=False, allow_nan_stats=True,
                 name="DirichletMultinomial") -> None:  # fmt: skip
        self._total_count = parameter(total_count, "total_count")
        self._concentration = parameter(concentration, "concentration", positive=True, validate=validate_args)
        self._total = reductions.reduce_sum(self._concentration, -1)
        super().__init__(self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, name=name)

    total_count = property(lambda self: self._total_count, doc="How many draws.")
    concentration = property(lambda self: self._concentration, doc="That of the Dirichlet distribution.")
    total_concentration = property(lambda self: self._total, doc="The sum of it.")

    def _mean(self):
        return shaping.expand_dims(self._total_count / self._total, -1) * self._concentration

    def _sample_n(self, n, seed):
        shape = joining.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        each = broadcasting.broadcast_to(self._concentration, shape)
        gamma = random_distributions.gamma(shaping.reshape(n, [1]), each, None, self._dtype, seed)
        return self._draw(elementwise.log(gamma), n, other_seed(seed, "dirichlet_multinomial"))

    def _log_prob(self, counts):
        ordered = special.lbeta(self._concentration + counts) - special.lbeta(self._concentration)
        return ordered + self._combinations(counts)

    def _scale(self):
        total = shaping.expand_dims(self._total, -1)
        count = shaping.expand_dims(self._total_count, -1)
        return elementwise.sqrt((1.0 + total / count) / (1.0 + total))

    def _covariance(self):
        x = self._scale() * self._mean()
        product = -matmul(shaping.expand_dims(x, -1), shaping.expand_dims(x, -2))
        return diagonals.set_diag(product, self._variance())

    def _variance(self):
        scale = self._scale()
        x = scale * self._mean()
        return x * (shaping.expand_dims(self._total_count, -1) * scale - x)


# Divergences.


@RegisterKL(Bernoulli, Bernoulli)
def _bernoulli(a, b, name=None):
    zero = softplus(b.logits) - softplus(a.logits)
    one = softplus(-b.logits) - softplus(-a.logits)
    return elementwise.sigmoid(a.logits) * one + elementwise.sigmoid(-a.logits) * zero


@RegisterKL(Categorical, Categorical)
def _categorical(a, b, name=None):
    change = nn_softmax.log_softmax(a.logits) - nn_softmax.log_softmax(b.logits)
    return reductions.reduce_sum(nn_softmax.softmax(a.logits) * change, -1)
