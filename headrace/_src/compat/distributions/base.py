"""`Distribution`: what all share. Each kind defines some of `_sample_n`, `_log_prob`, `_cdf`, `_mean` and others."""

import contextlib
import functools
import hashlib
from typing import Any

from headrace._src.compat.distributions.divergences import kl_divergence
from headrace._src.core import dtypes
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.op.api import api, export
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import joining, measuring, passing, shaping
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.debugging import assertions
from headrace._src.ops.math import elementwise, reductions


@api("compat.v1.distributions.ReparameterizationType")
class ReparameterizationType:
    """Whether gradients go through samples.

    Args:
        rep_type: its name.

    >>> tf.compat.v1.distributions.FULLY_REPARAMETERIZED
    <Reparameterization Type: FULLY_REPARAMETERIZED>
    """

    def __init__(self, rep_type) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"

    def __eq__(self, other) -> bool:
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")
export("compat.v1.distributions.FULLY_REPARAMETERIZED")(FULLY_REPARAMETERIZED)
export("compat.v1.distributions.NOT_REPARAMETERIZED")(NOT_REPARAMETERIZED)


def other_seed(seed, salt: str) -> int | None:
    """Another seed, where a sample needs several random numbers. TF: so seeds give TensorFlow's numbers."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF


def parameter(value, name: str, dtype=None, positive: bool = False, validate: bool = False) -> Tensor:
    """A parameter as a tensor of floating numbers, perhaps with a check that it is positive."""
    hint = None if hasattr(value, "dtype") else dtypes.float32
    tensor = to_tensor(value, dtype, hint)
    if not tensor.dtype.is_floating:
        raise TypeError(f"{name} must be floating, got {tensor.dtype.name}.")
    if not (positive and validate):
        return passing.identity(tensor, name=name)
    check = assertions.assert_positive(tensor)
    with control_dependencies([] if check is None else [check]):
        return passing.identity(tensor, name=name)


@api("compat.v1.distributions.Distribution", dispatch=False)
class Distribution:
    """Base of distributions.

    Args:
        dtype: that of samples.
        reparameterization_type: whether gradients go through samples.
        validate_args: whether arguments are checked.
        allow_nan_stats: whether statistics that are not defined are NaN, or an error.
        parameters: the arguments that made it.
        graph_parents: accepted.
        name: the scope of its operations.
    """

    def __init__(
        self, dtype, reparameterization_type, validate_args, allow_nan_stats, parameters=None, graph_parents=None,
        name=None,
    ) -> None:  # fmt: skip
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = {key: value for key, value in (parameters or {}).items()
                            if key not in ("self", "__class__")}  # fmt: skip
        self._name = name or type(self).__name__

    dtype = property(lambda self: self._dtype, doc="The dtype of samples.")
    name = property(lambda self: self._name, doc="The scope of its operations.")
    parameters = property(lambda self: dict(self._parameters), doc="The arguments that made it.")
    reparameterization_type = property(lambda self: self._reparameterization_type)
    allow_nan_stats = property(lambda self: self._allow_nan_stats)
    validate_args = property(lambda self: self._validate_args)

    def copy(self, **override_parameters_kwargs) -> "Distribution":
        """The same distribution with some other arguments."""
        return type(self)(**{**self._parameters, **override_parameters_kwargs})

    def __repr__(self) -> str:
        return (f"tfp.distributions.{type(self).__name__}(\"{self._name}\", batch_shape={self.batch_shape}, "
                f"event_shape={self.event_shape}, dtype={self._dtype.name})")  # fmt: skip

    # Shapes. Kinds define `_batch_shape_tensor` and `_batch_shape`, and of events where these are no scalars.

    @property
    def batch_shape(self) -> TensorShape:
        """How many distributions it is, as far as is known."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one sample, as far as is known."""
        return TensorShape(self._event_shape())

    def batch_shape_tensor(self, name="batch_shape_tensor") -> Tensor:
        """How many distributions it is."""
        return self._shape_of(self.batch_shape, self._batch_shape_tensor, name)

    def event_shape_tensor(self, name="event_shape_tensor") -> Tensor:
        """The shape of one sample."""
        return self._shape_of(self.event_shape, self._event_shape_tensor, name)

    def _shape_of(self, known, compute, name):
        with self._scope(name):
            return to_tensor(known.as_list(), dtypes.int32) if known.is_fully_defined() else compute()

    def is_scalar_event(self, name="is_scalar_event") -> Tensor:
        """Whether a sample is a scalar."""
        return to_tensor(self.event_shape.rank == 0)

    def is_scalar_batch(self, name="is_scalar_batch") -> Tensor:
        """Whether it is a single distribution."""
        return to_tensor(self.batch_shape.rank == 0)

    def _batch_shape(self) -> Any:
        raise NotImplementedError(f"_batch_shape is not implemented: {type(self).__name__}")

    def _batch_shape_tensor(self) -> Any:
        raise NotImplementedError(f"_batch_shape_tensor is not implemented: {type(self).__name__}")

    def _event_shape(self) -> Any:
        return []

    def _event_shape_tensor(self) -> Any:
        return to_tensor([], dtypes.int32)

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes") -> dict:
        """The shapes of parameters that give samples of a shape."""
        with name_scope(name):
            return cls._param_shapes(to_tensor(sample_shape, dtypes.int32))

    @classmethod
    def param_static_shapes(cls, sample_shape) -> dict:
        """The same as known shapes."""
        found = cls._param_shapes(to_tensor(TensorShape(sample_shape).as_list(), dtypes.int32))
        return {key: TensorShape(value.numpy().tolist()) for key, value in found.items()}

    @classmethod
    def _param_shapes(cls, sample_shape) -> dict:
        raise NotImplementedError(f"_param_shapes is not implemented: {cls.__name__}")

    # Samples and functions of values.

    def _scope(self, name):
        stack = contextlib.ExitStack()
        stack.enter_context(name_scope(self._name))
        stack.enter_context(name_scope(name))
        return stack

    def _has(self, method):
        return hasattr(self, method)

    def _refuse(self, method):
        return NotImplementedError(f"{method} is not implemented: {type(self).__name__}")

    def sample(self, sample_shape=(), seed=None, name="sample") -> Tensor:
        """Samples.

        Args:
            sample_shape: how many, for each of the batch.
            seed: a Python integer, for the same ones again.
            name: a scope.
        """
        if not self._has("_sample_n"):
            raise self._refuse("sample")
        with self._scope(name):
            wanted = to_tensor(sample_shape, dtypes.int32)
            flat = shaping.reshape(wanted, [-1])
            found = self._sample_n(reductions.reduce_prod(flat), seed)  # type: ignore[attr-defined]
            found = shaping.reshape(found, joining.concat([flat, measuring.shape(found)[1:]], 0))
            return found

    def _value(self, value):
        return to_tensor(value, self._dtype)

    def _first(self, value, name, kwargs, *ways):
        """The first of some ways to compute a function of a value; each is a method and what is done to its result."""
        with self._scope(name):
            value = self._value(value)
            for method, after in ways:
                if self._has(method):
                    return after(getattr(self, method)(value, **kwargs))
        raise self._refuse(name)

    def log_prob(self, value, name="log_prob", **kwargs) -> Tensor:
        """The logarithm of the probability, or of its density."""
        return self._first(value, name, kwargs, ("_log_prob", _same), ("_prob", elementwise.log))

    def prob(self, value, name="prob", **kwargs) -> Tensor:
        """The probability, or its density."""
        return self._first(value, name, kwargs, ("_prob", _same), ("_log_prob", elementwise.exp))

    def log_cdf(self, value, name="log_cdf", **kwargs) -> Tensor:
        """The logarithm of the probability of at most a value."""
        return self._first(value, name, kwargs, ("_log_cdf", _same), ("_cdf", elementwise.log))

    def cdf(self, value, name="cdf", **kwargs) -> Tensor:
        """The probability of at most a value."""
        return self._first(value, name, kwargs, ("_cdf", _same), ("_log_cdf", elementwise.exp))

    def survival_function(self, value, name="survival_function", **kwargs) -> Tensor:
        """The probability of more than a value."""
        return self._first(
            value, name, kwargs, ("_survival_function", _same), ("_cdf", lambda x: 1.0 - x),
            ("_log_cdf", lambda x: 1.0 - elementwise.exp(x)),
        )  # fmt: skip

    def log_survival_function(self, value, name="log_survival_function", **kwargs) -> Tensor:
        """The logarithm of the probability of more than a value."""
        return self._first(
            value, name, kwargs, ("_log_survival_function", _same), ("_survival_function", elementwise.log),
            ("_cdf", lambda x: elementwise.log1p(-x)), ("_log_cdf", lambda x: elementwise.log1p(-elementwise.exp(x))),
        )  # fmt: skip

    def quantile(self, value, name="quantile", **kwargs) -> Tensor:
        """The value of which at most a probability is below."""
        return self._first(value, name, kwargs, ("_quantile", _same))

    # Statistics.

    def _statistic(self, name, *ways):
        with self._scope(name):
            for method, after in ways:
                if self._has(method):
                    return after(getattr(self, method)())
        raise self._refuse(name)

    def mean(self, name="mean") -> Tensor:
        """The mean."""
        return self._statistic(name, ("_mean", _same))

    def mode(self, name="mode") -> Tensor:
        """The most probable value."""
        return self._statistic(name, ("_mode", _same))

    def variance(self, name="variance") -> Tensor:
        """The variance."""
        return self._statistic(name, ("_variance", _same), ("_stddev", elementwise.square))

    def stddev(self, name="stddev") -> Tensor:
        """The standard deviation."""
        return self._statistic(name, ("_stddev", _same), ("_variance", elementwise.sqrt))

    def covariance(self, name="covariance") -> Tensor:
        """The covariances of the parts of a sample."""
        return self._statistic(name, ("_covariance", _same))

    def entropy(self, name="entropy") -> Tensor:
        """The entropy, in nats."""
        return self._statistic(name, ("_entropy", _same))

    def kl_divergence(self, other, name="kl_divergence") -> Tensor:
        """The Kullback-Leibler divergence from another distribution."""
        with self._scope(name):
            return kl_divergence(self, other, self._allow_nan_stats)

    def cross_entropy(self, other, name="cross_entropy") -> Tensor:
        """The entropy and the divergence from another distribution."""
        with self._scope(name):
            return self.entropy() + kl_divergence(self, other, self._allow_nan_stats)

    def _where_defined(self, defined, value, what):
        """A statistic where it is defined: elsewhere NaN, or an error."""
        if self._allow_nan_stats:
            nan = to_tensor(float("nan"), value.dtype)
            return SELECT_V2(defined, value, nan + 0 * value)
        check = assertions.Assert(reductions.reduce_all(defined), [f"{what} is not defined for all parameters."])
        with control_dependencies([] if check is None else [check]):
            return passing.identity(value)


def _same(value):
    return value


def with_parameters(init):
    """Lets a constructor keep its arguments, for `copy` and `parameters`."""

    @functools.wraps(init)
    def keeping(self, *args, **kwargs):
        names = init.__code__.co_varnames[1 : init.__code__.co_argcount]
        usual = dict(zip(reversed(names), reversed(init.__defaults__ or ())))
        init(self, *args, **kwargs)
        self._parameters = {**usual, **dict(zip(names, args)), **kwargs}

    return keeping
