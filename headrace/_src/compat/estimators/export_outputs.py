"""What a model gives when it is served: outputs that become signatures of a SavedModel."""

from typing import Any

from headrace._src.compat.saving.signature_messages import (
    build_signature_def,
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)
from headrace._src.compat.saving.tensor_infos import tensor_info
from headrace._src.core import dtypes
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.saved_model import constants

_DEFAULT = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


@api("estimator.export.ExportOutput", "compat.v1.estimator.export.ExportOutput")
class ExportOutput:
    """Base of what a model gives when it is served."""

    def as_signature_def(self, receiver_tensors) -> Any:
        """The `SignatureDef` message for these inputs.

        Args:
            receiver_tensors: the tensors that are fed, by name.
        """
        raise NotImplementedError(f"{type(self).__name__} must define as_signature_def.")


def _the_only_string(label, receiver_tensors):
    """The encoded examples that a classification or regression takes.

    Raises:
        ValueError: there are other inputs than one of strings.
    """
    if len(receiver_tensors) != 1:
        raise ValueError(f"{label} takes one input, of encoded examples; there are {sorted(receiver_tensors)}.")
    (examples,) = receiver_tensors.values()
    if examples.dtype != dtypes.string:
        raise ValueError(f"{label} takes encoded examples, which are strings; the input is {examples.dtype.name}.")
    return examples


@api("estimator.export.ClassificationOutput", "compat.v1.estimator.export.ClassificationOutput")
class ClassificationOutput(ExportOutput):
    """Classes, their scores, or both, for each example.

    Args:
        scores: floating numbers.
        classes: strings.

    Raises:
        ValueError: there is neither, or one is of another dtype.
    """

    def __init__(self, scores=None, classes=None) -> None:
        if scores is None and classes is None:
            raise ValueError("ClassificationOutput: give scores, classes or both.")
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"ClassificationOutput: scores must be a tensor of floating numbers, got {scores!r}.")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype == dtypes.string):
            raise ValueError(f"ClassificationOutput: classes must be a tensor of strings, got {classes!r}.")
        self._scores = scores
        self._classes = classes

    scores = property(lambda self: self._scores)
    classes = property(lambda self: self._classes)

    def as_signature_def(self, receiver_tensors) -> Any:
        """The signature of a classification."""
        examples = _the_only_string("ClassificationOutput", receiver_tensors)
        return classification_signature_def(examples, self._classes, self._scores)


@api("estimator.export.RegressionOutput", "compat.v1.estimator.export.RegressionOutput")
class RegressionOutput(ExportOutput):
    """A number for each example.

    Args:
        value: a tensor of floating numbers.

    Raises:
        ValueError: it is not floating.
    """

    def __init__(self, value) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"RegressionOutput: value must be a tensor of floating numbers, got {value!r}.")
        self._value = value

    value = property(lambda self: self._value)

    def as_signature_def(self, receiver_tensors) -> Any:
        """The signature of a regression."""
        return regression_signature_def(_the_only_string("RegressionOutput", receiver_tensors), self._value)


@api("estimator.export.PredictOutput", "compat.v1.estimator.export.PredictOutput")
class PredictOutput(ExportOutput):
    """Any tensors.

    Args:
        outputs: tensors by name, or one, which is then called "output".

    Raises:
        ValueError: there are none, or one is no tensor.
    """

    def __init__(self, outputs) -> None:
        self._outputs = _named("PredictOutput", outputs, "output")

    outputs = property(lambda self: self._outputs)

    def as_signature_def(self, receiver_tensors) -> Any:
        """The signature of a prediction."""
        return predict_signature_def(receiver_tensors, self._outputs)


@api("estimator.export.EvalOutput", "compat.v1.estimator.export.EvalOutput")
class EvalOutput(ExportOutput):
    """Predictions, the loss and the metrics of a model, for one that is exported in the mode `EVAL`.

    Args:
        loss: a tensor, or tensors by name.
        predictions: a tensor, or tensors by name.
        metrics: by name, pairs of a value and an update.
    """

    _method = "tensorflow/supervised/eval"

    def __init__(self, loss=None, predictions=None, metrics=None) -> None:
        self._loss = None if loss is None else _named("EvalOutput", loss, "loss")
        self._predictions = None if not predictions else _named("EvalOutput", predictions, "predictions")
        self._metrics = dict(metrics or {})

    loss = property(lambda self: self._loss)
    predictions = property(lambda self: self._predictions)
    metrics = property(lambda self: self._metrics)

    def as_signature_def(self, receiver_tensors) -> Any:
        """The signature of an evaluation."""
        outputs = dict(self._loss or {})
        for key, value in (self._predictions or {}).items():
            outputs[key if key.startswith("predictions") else f"predictions/{key}"] = value
        for key, (value, update) in self._metrics.items():
            outputs[f"metrics/{key}/value"] = value
            outputs[f"metrics/{key}/update_op"] = update
        inputs = {key: tensor_info(value) for key, value in receiver_tensors.items()}
        described = {key: tensor_info(value) for key, value in outputs.items()}
        return build_signature_def(inputs, described, self._method)


class TrainOutput(EvalOutput):
    """The same of a model that is exported in the mode `TRAIN`."""

    _method = "tensorflow/supervised/training"


def _named(label, tensors, single):
    named = tensors if isinstance(tensors, dict) else {single: tensors}
    if not named:
        raise ValueError(f"{label}: there must be at least one tensor.")
    for key, value in named.items():
        if not isinstance(value, Tensor):
            raise ValueError(f"{label}: {key!r} must be a tensor, got {value!r}.")
    return dict(named)


def with_default(outputs: dict) -> dict:
    """The outputs, one of which is the default one.

    Raises:
        ValueError: there are several, and none is the default one.
    """
    if _DEFAULT in outputs or not outputs:
        return dict(outputs)
    if len(outputs) == 1:
        (only,) = outputs.values()
        return {**outputs, _DEFAULT: only}
    raise ValueError(
        f"export_outputs: of several, one must have the key {_DEFAULT!r}, "
        f"which servers take when none is named; there are {sorted(outputs)}."
    )


def signatures(outputs: dict, receiver_tensors: dict, alternatives: dict | None) -> dict:
    """The messages of all signatures that are possible: an output may not fit the inputs.

    Args:
        outputs: export outputs by name.
        receiver_tensors: the tensors that are fed, by name.
        alternatives: other such dictionaries, by name.

    Raises:
        ValueError: the default output does not fit the inputs.
    """
    found, refused = {}, {}
    for key, output in outputs.items():
        for other, tensors in {None: receiver_tensors, **(alternatives or {})}.items():
            name = key if other is None else other if key == _DEFAULT else f"{other}:{key}"
            try:
                found[name] = output.as_signature_def(tensors)
            except ValueError as error:
                refused[name] = error
    if _DEFAULT not in found and _DEFAULT in refused and not found:
        raise refused[_DEFAULT]
    return found
