"""`tf.estimator.export`: what a served model is fed, and how features come of it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from headrace._src.compat.sessions.session import placeholder
from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.ops.parsing.examples import parse_example
from headrace._src.ops.ragged.tensor import RaggedTensor
from headrace._src.ops.sparse.tensor import SparseTensor

_TENSORS = (Tensor, SparseTensor, RaggedTensor)


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: dict | None = None


def _named(label, tensors, single):
    named = tensors if isinstance(tensors, dict) else {single: tensors}
    for key, value in named.items():
        if not isinstance(key, (str, int)):
            raise ValueError(f"{label}: names must be strings, got {key!r}.")
        if not isinstance(value, _TENSORS):
            raise ValueError(f"{label}: {key!r} must be a tensor, got {value!r}.")
    return dict(named)


def _checked(label, receiver_tensors, alternatives):
    if alternatives is not None and not isinstance(alternatives, dict):
        raise ValueError(f"{label}: receiver_tensors_alternatives must be a dictionary, got {alternatives!r}.")
    others = {key: _named(label, value, "input") for key, value in (alternatives or {}).items()}
    return _named(label, receiver_tensors, "input"), others or None


@api("estimator.export.ServingInputReceiver", "compat.v1.estimator.export.ServingInputReceiver", dispatch=False)
class ServingInputReceiver(_Receiver):
    """The features of a served model, and the tensors that are fed.

    Args:
        features: a tensor, or tensors by name.
        receiver_tensors: the same, of what is fed.
        receiver_tensors_alternatives: other such dictionaries, by name.

    Raises:
        ValueError: one is no tensor.
    """

    __slots__ = ()

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        fed, others = _checked("ServingInputReceiver", receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, _named("ServingInputReceiver", features, "feature"), fed, others)


@api(
    "estimator.export.TensorServingInputReceiver", "compat.v1.estimator.export.TensorServingInputReceiver",
    dispatch=False,
)  # fmt: skip
class TensorServingInputReceiver(_Receiver):
    """As `ServingInputReceiver`, for a model whose features are one tensor, not a dictionary.

    Args:
        features: a tensor.
        receiver_tensors: what is fed: a tensor, or tensors by name.
        receiver_tensors_alternatives: other such dictionaries, by name.

    Raises:
        ValueError: features are no tensor.
    """

    __slots__ = ()

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if not isinstance(features, _TENSORS):
            raise ValueError(f"TensorServingInputReceiver: features must be one tensor, got {features!r}.")
        fed, others = _checked("TensorServingInputReceiver", receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, features, fed, others)


class SupervisedInputReceiver(NamedTuple):
    """Features and labels of an exported model that is trained or evaluated, and the tensors that are fed."""

    features: Any
    labels: Any
    receiver_tensors: dict


@api(
    "estimator.export.build_parsing_serving_input_receiver_fn",
    "compat.v1.estimator.export.build_parsing_serving_input_receiver_fn",
    dispatch=False,
)
def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None) -> Callable:
    """A function for `export_saved_model`: the model is fed encoded `tf.train.Example` messages.

    Args:
        feature_spec: what `tf.io.parse_example` must be told.
        default_batch_size: how many examples; any number by default.

    >>> spec = {"x": tf.io.FixedLenFeature([1], tf.float32)}
    >>> with tf.Graph().as_default():
    ...     receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)()
    >>> sorted(receiver.receiver_tensors)
    ['examples']
    """

    def receive() -> ServingInputReceiver:
        examples = placeholder(dtypes.string, [default_batch_size], "input_example_tensor")
        return ServingInputReceiver(parse_example(examples, feature_spec), {"examples": examples})

    return receive


def _fed(features, default_batch_size):
    """Placeholders like the features, which may be tensors or specs."""
    made = {}
    for name, one in features.items():
        shape = one.shape
        if shape.rank is not None and shape.rank > 0:
            shape = [default_batch_size, *shape.as_list()[1:]]
        made[name] = placeholder(one.dtype, shape, name)
    return made


@api(
    "estimator.export.build_raw_serving_input_receiver_fn",
    "compat.v1.estimator.export.build_raw_serving_input_receiver_fn",
    dispatch=False,
)
def build_raw_serving_input_receiver_fn(features, default_batch_size=None) -> Callable:
    """A function for `export_saved_model`: the model is fed the features themselves.

    Args:
        features: tensors or specs by name; the first dimension is the batch.
        default_batch_size: how many examples; any number by default.

    >>> features = {"x": tf.TensorSpec([None, 2])}
    >>> with tf.Graph().as_default():
    ...     receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(features)()
    >>> receiver.features["x"].shape
    TensorShape([None, 2])
    """

    def receive() -> ServingInputReceiver:
        fed = _fed(features, default_batch_size)
        return ServingInputReceiver(dict(fed), fed)

    return receive


@api(
    "estimator.experimental.build_raw_supervised_input_receiver_fn",
    "compat.v1.estimator.experimental.build_raw_supervised_input_receiver_fn",
    dispatch=False,
)
def build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=None) -> Callable:
    """As `build_raw_serving_input_receiver_fn`, with labels, for a model that is exported for evaluation.

    Args:
        features, labels: tensors or specs, or dictionaries of them by name.
        default_batch_size: how many examples; any number by default.

    Raises:
        ValueError: a feature and a label have the same name.
    """

    def receive() -> SupervisedInputReceiver:
        given = {
            key: value if isinstance(value, dict) else {single: value}
            for key, value, single in (("features", features, "features"), ("labels", labels, "labels"))
        }
        twice = set(given["features"]) & set(given["labels"])
        if twice:
            raise ValueError(f"Features and labels must have different names; both have {sorted(twice)}.")
        fed = {key: _fed(value, default_batch_size) for key, value in given.items()}
        parts = [
            dict(fed[key]) if isinstance(value, dict) else fed[key][key]
            for key, value in (("features", features), ("labels", labels))
        ]
        return SupervisedInputReceiver(*parts, {**fed["features"], **fed["labels"]})

    return receive
