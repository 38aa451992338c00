"""What a `model_fn` returns: `EstimatorSpec`, and the modes in which it is called."""

from typing import Any, NamedTuple

from headrace._src.compat.estimators.export_outputs import ExportOutput, with_default
from headrace._src.compat.sessions.scaffold import Scaffold
from headrace._src.compat.sessions.session_hooks import SessionRunHook
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.operation import Operation
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.shaping import reshape
from headrace._src.ops.sparse.tensor import SparseTensor


@api("estimator.ModeKeys", "compat.v1.estimator.ModeKeys")
class ModeKeys:
    """For what a `model_fn` is called.

    >>> tf.estimator.ModeKeys.PREDICT
    'infer'
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict
    export_outputs: dict | None
    training_chief_hooks: tuple
    training_hooks: tuple
    scaffold: Any
    evaluation_hooks: tuple
    prediction_hooks: tuple


@api("estimator.EstimatorSpec", "compat.v1.estimator.EstimatorSpec", dispatch=False)
class EstimatorSpec(_Fields):
    """What a model is in a mode: a `model_fn` returns it.

    Args:
        mode: one of `tf.estimator.ModeKeys`.
        predictions: a tensor, or tensors by name; for `PREDICT`.
        loss: a scalar tensor; for `TRAIN` and `EVAL`.
        train_op: an operation that takes a step; for `TRAIN`.
        eval_metric_ops: by name, pairs of a value and an update, as functions of `tf.compat.v1.metrics` return them.
        export_outputs: by name, `tf.estimator.export.ExportOutput` objects; each becomes a signature.
        training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks: `SessionRunHook` objects.
        scaffold: a `tf.compat.v1.train.Scaffold`.

    Raises:
        ValueError: what the mode needs is missing, or the loss is no scalar.
        TypeError: an argument is of another type.

    >>> with tf.Graph().as_default():
    ...     spec = tf.estimator.EstimatorSpec("infer", predictions={"y": tf.constant([1.0])})
    >>> sorted(spec.predictions)
    ['y']
    """

    __slots__ = ()

    def __new__(
        cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, export_outputs=None,
        training_chief_hooks=None, training_hooks=None, scaffold=None, evaluation_hooks=None, prediction_hooks=None,
    ):  # fmt: skip
        if mode not in MODES:
            raise ValueError(f"EstimatorSpec: mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}.")
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op: EstimatorSpec for training needs an operation that takes a step.")
        if mode != ModeKeys.PREDICT and loss is None:
            raise ValueError(f"Missing loss: EstimatorSpec in the mode {mode!r} needs a scalar.")
        if mode == ModeKeys.PREDICT and predictions is None:
            raise ValueError("Missing predictions: EstimatorSpec for predicting needs a tensor or a dictionary.")
        if train_op is not None and not isinstance(train_op, (Tensor, Operation)):
            raise TypeError(f"EstimatorSpec: train_op must be an operation or a tensor, got {train_op!r}.")
        if scaffold is not None and not isinstance(scaffold, Scaffold):
            raise TypeError(f"EstimatorSpec: scaffold must be a tf.compat.v1.train.Scaffold, got {scaffold!r}.")
        hooks = [
            _hooks(label, given)
            for label, given in (
                ("training_chief_hooks", training_chief_hooks), ("training_hooks", training_hooks),
                ("evaluation_hooks", evaluation_hooks), ("prediction_hooks", prediction_hooks),
            )
        ]  # fmt: skip
        return super().__new__(
            cls, mode, _predictions(predictions), None if loss is None else _scalar(loss), train_op,
            _metrics(eval_metric_ops), _outputs(export_outputs), hooks[0], hooks[1], scaffold, hooks[2], hooks[3],
        )  # fmt: skip


def _predictions(given):
    if given is None:
        return {}
    for value in given.values() if isinstance(given, dict) else [given]:
        if not isinstance(value, (Tensor, SparseTensor)):
            raise TypeError(f"EstimatorSpec: predictions must be tensors, got {value!r}.")
    return given


def _scalar(loss):
    loss = to_tensor(loss)
    if loss.shape.num_elements() not in (1, None):
        raise ValueError(f"EstimatorSpec: loss must be a scalar, got shape {loss.shape}.")
    return loss if loss.shape.rank == 0 else reshape(loss, [])


def _metrics(given):
    """By name, pairs of a value and an update."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise TypeError(f"EstimatorSpec: eval_metric_ops must be a dictionary, got {given!r}.")
    found = {}
    for key, value in given.items():
        if hasattr(value, "result") and hasattr(value, "updates"):  # a metric of Keras 2, in a graph
            value = (value.result(), list(value.updates))
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                f"EstimatorSpec: the metric {key!r} must be a pair of a value and an update, as functions of "
                f"tf.compat.v1.metrics return them, got {value!r}."
            )
        found[key] = value
    return found


def _outputs(given):
    if given is None:
        return None
    if not isinstance(given, dict):
        raise TypeError(f"EstimatorSpec: export_outputs must be a dictionary, got {given!r}.")
    for key, value in given.items():
        if not isinstance(value, ExportOutput):
            raise TypeError(
                f"EstimatorSpec: export_outputs[{key!r}] must be a tf.estimator.export.ExportOutput, got {value!r}."
            )
    return with_default(given)


def _hooks(label, given):
    hooks = tuple(given or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"EstimatorSpec: {label} must be SessionRunHook objects, got {hook!r}.")
    return hooks
