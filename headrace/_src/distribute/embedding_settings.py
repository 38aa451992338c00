"""`tf.tpu.experimental.embedding`: what tables of embeddings are like, who looks up in them, how they are trained."""

from __future__ import annotations

import enum
import functools
import math
from typing import Any

from headrace._src.core import dtypes
from headrace._src.core.shapes import TensorShape
from headrace._src.op.api import api
from headrace._src.ops.arrays.broadcasting import broadcast_to
from headrace._src.ops.arrays.filling import fill, range_
from headrace._src.ops.arrays.shaping import reshape
from headrace._src.ops.random.uniform_and_normal import truncated_normal

_COMBINERS = ("mean", "sum", "sqrtn")


@api("tpu.experimental.HardwareFeature", dispatch=False)
class HardwareFeature:
    """What a TPU can do.

    Args:
        tpu_hardware_feature_proto: the message that says it.
    """

    class EmbeddingFeature(enum.Enum):
        """How a TPU looks up embeddings."""

        UNSUPPORTED = "UNSUPPORTED"
        V1 = "V1"
        V2 = "V2"

    def __init__(self, tpu_hardware_feature_proto) -> None:
        self.tpu_hardware_feature_proto = tpu_hardware_feature_proto

    @property
    def embedding_feature(self) -> EmbeddingFeature:
        """How it looks up embeddings."""
        kinds = list(self.EmbeddingFeature)
        number = int(self.tpu_hardware_feature_proto.embedding_feature)
        return kinds[number] if 0 <= number < len(kinds) else self.EmbeddingFeature.UNSUPPORTED

    @property
    def num_embedding_devices_per_chip(self) -> int:
        """How many parts of a chip do that."""
        return self.tpu_hardware_feature_proto.num_embedding_devices_per_chip


def _constant(value, shape, dtype=dtypes.float32):
    return fill(shape, dtypes.as_dtype(dtype).as_numpy_dtype(value))


class EmbeddingOptimizer:
    """How embedding tables are trained: settings, and the variables that are kept for each table.

    Subclasses say in `SLOTS` which variables these are, and in `_first_values` what they begin with.
    """

    SLOTS: tuple[str, ...] = ()

    def __init__(
        self,
        learning_rate,
        use_gradient_accumulation=True,
        clip_weight_min=None,
        clip_weight_max=None,
        weight_decay_factor=None,
        multiply_weight_decay_factor_by_learning_rate=None,
        slot_variable_creation_fn=None,
        clipvalue=None,
        low_dimensional_packing_status=False,
    ) -> None:
        if slot_variable_creation_fn is not None and not callable(slot_variable_creation_fn):
            raise ValueError(
                f"slot_variable_creation_fn must be a function or None, got {slot_variable_creation_fn!r}."
            )
        if clipvalue is not None and not use_gradient_accumulation:
            raise ValueError(f"clipvalue={clipvalue!r} needs use_gradient_accumulation=True.")
        if multiply_weight_decay_factor_by_learning_rate is not None and weight_decay_factor is None:
            raise ValueError("multiply_weight_decay_factor_by_learning_rate is set, but weight_decay_factor is not.")
        if clipvalue is not None and not isinstance(clipvalue, tuple):
            clipvalue = (-clipvalue, clipvalue)
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min = clip_weight_min
        self.clip_weight_max = clip_weight_max
        self.weight_decay_factor = weight_decay_factor
        self.multiply_weight_decay_factor_by_learning_rate = multiply_weight_decay_factor_by_learning_rate
        self.slot_variable_creation_fn = slot_variable_creation_fn
        self.clip_gradient_min, self.clip_gradient_max = (None, None) if clipvalue is None else clipvalue
        self.low_dimensional_packing_status = low_dimensional_packing_status

    def _slot_names(self) -> list[str]:
        return list(self.SLOTS)

    def _first_values(self) -> list[float]:
        return [0.0] * len(self.SLOTS)

    def _slot_initializers(self) -> list[Any]:
        return [functools.partial(_constant, value) for value in self._first_values()]

    def _create_slots(self, table, variable_creator) -> dict[str, Any]:
        """The variables that are kept for a table, by name."""
        if self.slot_variable_creation_fn is not None:
            return self.slot_variable_creation_fn(table, self._slot_names(), self._slot_initializers())
        pairs = zip(self._slot_names(), self._slot_initializers())
        return {name: variable_creator(name, initializer) for name, initializer in pairs}

    def _settings(self):
        return {name: value for name, value in vars(self).items() if name != "slot_variable_creation_fn"}

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash((type(self).__name__, *(repr(value) for value in self._settings().values())))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._settings().items())})"


@api("tpu.experimental.embedding.SGD", dispatch=False)
class SGD(EmbeddingOptimizer):
    """Gradient descent. The settings that all optimizers of tables have are keywords.

    >>> tf.tpu.experimental.embedding.SGD(0.1).learning_rate
    0.1
    """

    def __init__(self, learning_rate=0.01, use_gradient_accumulation=True, clip_weight_min=None, clip_weight_max=None,
                 weight_decay_factor=None, multiply_weight_decay_factor_by_learning_rate=None, clipvalue=None,
                 low_dimensional_packing_status=False) -> None:  # fmt: skip
        super().__init__(
            learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max, weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate, None, clipvalue, low_dimensional_packing_status,
        )  # fmt: skip


@api("tpu.experimental.embedding.Adagrad", dispatch=False)
class Adagrad(EmbeddingOptimizer):
    """Adagrad, with an accumulator for each number of a table."""

    SLOTS = ("accumulators",)

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, *args, **kwargs) -> None:
        super().__init__(learning_rate, *args, **kwargs)
        if initial_accumulator_value <= 0:
            raise ValueError(f"initial_accumulator_value must be positive, got {initial_accumulator_value}.")
        self.initial_accumulator_value = initial_accumulator_value

    def _first_values(self):
        return [self.initial_accumulator_value]


@api("tpu.experimental.embedding.AdagradMomentum", dispatch=False)
class AdagradMomentum(EmbeddingOptimizer):
    """Adagrad with momentum."""

    SLOTS = ("accumulators", "momenta")

    def __init__(
        self, learning_rate=0.001, momentum=0.0, use_nesterov=False, exponent=2, beta2=1, epsilon=1e-10, *args, **kwargs
    ) -> None:
        super().__init__(learning_rate, *args, **kwargs)
        if epsilon <= 0:
            raise ValueError(f"epsilon must be positive, got {epsilon}.")
        if exponent <= 0:
            raise ValueError(f"exponent must be positive, got {exponent}.")
        self.momentum, self.use_nesterov, self.exponent = momentum, use_nesterov, exponent
        self.beta2, self.epsilon = beta2, epsilon


@api("tpu.experimental.embedding.FTRL", dispatch=False)
class FTRL(EmbeddingOptimizer):
    """Follow the regularised leader."""

    SLOTS = ("accumulators", "linears")

    def __init__(
        self,
        learning_rate=0.001,
        learning_rate_power=-0.5,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        beta=0.0,
        initial_accumulator_value=0.1,
        *args,
        multiply_linear_by_learning_rate=False,
        allow_zero_accumulator=False,
        **kwargs,
    ) -> None:
        super().__init__(learning_rate, *args, **kwargs)
        if initial_accumulator_value <= 0:
            raise ValueError(f"initial_accumulator_value must be positive, got {initial_accumulator_value}.")
        self.learning_rate_power = learning_rate_power
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.beta = beta
        self.initial_accumulator_value = initial_accumulator_value
        self.multiply_linear_by_learning_rate = multiply_linear_by_learning_rate
        self.allow_zero_accumulator = allow_zero_accumulator

    def _first_values(self):
        return [self.initial_accumulator_value, 0.0]


@api("tpu.experimental.embedding.Adam", dispatch=False)
class Adam(EmbeddingOptimizer):
    """Adam; by default rows that were not looked up stay as they are."""

    SLOTS = ("momenta", "velocities")

    def __init__(
        self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, lazy_adam=True, sum_inside_sqrt=True,
        *args, **kwargs,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, *args, **kwargs)
        for name, beta in (("beta_1", beta_1), ("beta_2", beta_2)):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"{name} must be at least 0 and below 1, got {beta}.")
        if epsilon <= 0:
            raise ValueError(f"epsilon must be positive, got {epsilon}.")
        if not self.use_gradient_accumulation and not lazy_adam:
            raise ValueError("lazy_adam=False needs use_gradient_accumulation=True.")
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.lazy_adam, self.sum_inside_sqrt = lazy_adam, sum_inside_sqrt


@api("tpu.experimental.embedding.QuantizationConfig", dispatch=False)
class QuantizationConfig:
    """How numbers of a table would be rounded: to `num_buckets` values from `lower` to `upper`."""

    def __init__(self, num_buckets, lower, upper) -> None:
        if num_buckets < 2:
            raise ValueError(f"num_buckets must be at least 2, got {num_buckets}.")
        self.num_buckets, self.lower, self.upper = num_buckets, lower, upper

    def __repr__(self):
        return f"QuantizationConfig(num_buckets={self.num_buckets!r}, lower={self.lower!r}, upper={self.upper!r})"


@api("tpu.experimental.embedding.RowIdInitializer", dispatch=False)
class RowIdInitializer:
    """An initializer that gives each row its number."""

    def __init__(self, offset=0) -> None:
        self.offset = offset

    def __call__(self, shape, dtype=dtypes.float32, **kwargs) -> Any:
        dtype = dtypes.as_dtype(dtype)
        rows = range_(self.offset, self.offset + shape[0], dtype=dtype)
        return broadcast_to(reshape(rows, [shape[0], *[1] * (len(shape) - 1)]), shape)


@api("tpu.experimental.embedding.TableConfig", dispatch=False)
class TableConfig:
    """A table of embeddings.

    Args:
        vocabulary_size: how many rows it has.
        dim: how many numbers a row has.
        initializer: gives its first values: a function of a shape; by default a truncated normal distribution with the
            standard deviation `1 / sqrt(dim)`.
        optimizer: how it is trained, if otherwise than the others.
        combiner: how several rows become one: "mean", "sum" or "sqrtn".
        name: of the table, and of its variable.
        quantization_config: a `QuantizationConfig`.
        layout: accepted.
        dtype: float32 or int32.

    >>> tf.tpu.experimental.embedding.TableConfig(vocabulary_size=10, dim=4, name="words").combiner
    'mean'
    """

    def __init__(
        self, vocabulary_size, dim, initializer=None, optimizer=None, combiner="mean", name=None,
        quantization_config=None, layout=None, dtype=dtypes.float32,
    ) -> None:  # fmt: skip
        for key, value in (("vocabulary_size", vocabulary_size), ("dim", dim)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"TableConfig: {key} must be a positive int, got {value!r}.")
        if initializer is not None and not callable(initializer):
            raise ValueError(f"TableConfig: initializer must be a function of a shape or None, got {initializer!r}.")
        if combiner not in _COMBINERS:
            raise ValueError(f"TableConfig: combiner must be one of {', '.join(_COMBINERS)}, got {combiner!r}.")
        if dtype not in (dtypes.float32, dtypes.int32):
            raise ValueError(f"TableConfig: dtype must be float32 or int32, got {dtype!r}.")
        usual = functools.partial(truncated_normal, mean=0.0, stddev=1 / math.sqrt(dim))
        self.vocabulary_size, self.dim, self.optimizer, self.combiner = vocabulary_size, dim, optimizer, combiner
        self.initializer = usual if initializer is None else initializer
        self.name, self.quantization_config, self.layout, self.dtype = name, quantization_config, layout, dtype

    def __repr__(self):
        return (
            f"TableConfig(vocabulary_size={self.vocabulary_size!r}, dim={self.dim!r}, optimizer={self.optimizer!r}, "
            f"combiner={self.combiner!r}, name={self.name!r})"
        )


@api("tpu.experimental.embedding.FeatureConfig", dispatch=False)
class FeatureConfig:
    """Something that is looked up in a table.

    Args:
        table: the `TableConfig`.
        max_sequence_length: of a sequence, how many rows are kept, each for itself; 0 where rows are combined to one.
        validate_weights_and_indices: whether ids and weights that are not positive are left out.
        output_shape: the shape of the result without its last dimension.
        name: of the feature.
    """

    def __init__(
        self, table, max_sequence_length=0, validate_weights_and_indices=True, output_shape=None, name=None
    ) -> None:
        if not isinstance(table, TableConfig):
            raise ValueError(f"FeatureConfig: table must be a TableConfig, got {type(table).__name__}.")
        if not isinstance(max_sequence_length, int) or max_sequence_length < 0:
            raise ValueError(
                f"FeatureConfig: max_sequence_length must be an int from 0 on, got {max_sequence_length!r}."
            )
        if not isinstance(validate_weights_and_indices, bool):
            raise ValueError(
                f"FeatureConfig: validate_weights_and_indices must be a bool, got {validate_weights_and_indices!r}."
            )
        self.table, self.max_sequence_length, self.name = table, max_sequence_length, name
        self.validate_weights_and_indices = validate_weights_and_indices
        self.output_shape = TensorShape(output_shape)

    def __repr__(self):
        return (
            f"FeatureConfig(table={self.table!r}, max_sequence_length={self.max_sequence_length!r}, "
            f"output_shape={self.output_shape!r}, name={self.name!r})"
        )
