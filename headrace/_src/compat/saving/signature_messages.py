"""`tf.compat.v1.saved_model.signature_def_utils`: what a graph takes and returns, as `SignatureDef` messages."""

from typing import Any

from headrace._src.compat.saving.tensor_infos import tensor_info
from headrace._src.core import dtypes
from headrace._src.formats import durable_files, files
from headrace._src.formats.model_messages import SignatureDef
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.saved_model import constants
from headrace._src.saved_model.model_files import read_saved_model

_SPACE = "compat.v1.saved_model"
_UTILS = "compat.v1.saved_model.signature_def_utils"


@api(f"{_SPACE}.build_signature_def", f"{_UTILS}.build_signature_def", dispatch=False)
def build_signature_def(inputs=None, outputs=None, method_name=None, defaults=None) -> Any:
    """A `SignatureDef` message.

    Args:
        inputs: names to `TensorInfo` messages.
        outputs: the same.
        method_name: what a server does with it.
        defaults: names of inputs to their values if they are not given.

    Raises:
        ValueError: a default is given for something that is no input.
    """
    proto = SignatureDef(method_name=method_name or "")
    for given, field in ((inputs, proto.inputs), (outputs, proto.outputs)):
        for name, info in (given or {}).items():
            field[name].MergeFromString(info.SerializeToString())
    for name, value in (defaults or {}).items():
        if name not in proto.inputs:
            raise ValueError(f"build_signature_def: the default {name!r} belongs to none of the inputs.")
        message = value if hasattr(value, "SerializeToString") else to_tensor(value)._a
        proto.defaults[name].MergeFromString(message.SerializeToString())
    return proto


def _info(value):
    return tensor_info(value if hasattr(value, "dtype") else to_tensor(value))


@api(f"{_SPACE}.regression_signature_def", f"{_UTILS}.regression_signature_def", dispatch=False)
def regression_signature_def(examples, predictions) -> Any:
    """The signature of a regression: strings of `tf.train.Example` in, float32 numbers out.

    Raises:
        ValueError: a tensor is missing or of another dtype.
    """
    if examples is None:
        raise ValueError("Regression `examples` cannot be None.")
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    given, found = _info(examples), _info(predictions)
    if given.dtype != dtypes.string.as_datatype_enum:
        raise ValueError(
            f"Regression input tensors must be of type string. Found tensors with type {given.dtype}."
        )
    if found.dtype != dtypes.float32.as_datatype_enum:
        raise ValueError(f"Regression output tensors must be of type float. Found tensors with type {found.dtype}.")
    return build_signature_def(
        {constants.REGRESS_INPUTS: given}, {constants.REGRESS_OUTPUTS: found}, constants.REGRESS_METHOD_NAME
    )


@api(f"{_SPACE}.classification_signature_def", f"{_UTILS}.classification_signature_def", dispatch=False)
def classification_signature_def(examples, classes, scores) -> Any:
    """The signature of a classification: strings of `tf.train.Example` in, classes (strings) and scores (float32) out.

    Raises:
        ValueError: a tensor is missing or of another dtype.
    """
    if examples is None:
        raise ValueError("Classification `examples` cannot be None.")
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    given = _info(examples)
    if given.dtype != dtypes.string.as_datatype_enum:
        raise ValueError(f"Classification input tensors must be of type string. Found tensors of type {given.dtype}")
    outputs = {}
    if classes is not None:
        found = outputs[constants.CLASSIFY_OUTPUT_CLASSES] = _info(classes)
        if found.dtype != dtypes.string.as_datatype_enum:
            raise ValueError(
                f"Classification classes must be of type string Tensor. Found tensors of type {found.dtype}.`"
            )
    if scores is not None:
        found = outputs[constants.CLASSIFY_OUTPUT_SCORES] = _info(scores)
        if found.dtype != dtypes.float32.as_datatype_enum:
            raise ValueError("Classification scores must be a float tensor.")
    return build_signature_def({constants.CLASSIFY_INPUTS: given}, outputs, constants.CLASSIFY_METHOD_NAME)


@api(f"{_SPACE}.predict_signature_def", f"{_UTILS}.predict_signature_def", dispatch=False)
def predict_signature_def(inputs, outputs) -> Any:
    """The signature of a prediction: any tensors in and out, by name.

    Args:
        inputs: names to tensors.
        outputs: the same.

    Raises:
        ValueError: there are none.
    """
    if not inputs:
        raise ValueError("Prediction `inputs` cannot be None or empty.")
    if outputs is None:
        raise ValueError("Prediction `outputs` cannot be None or empty.")
    given = {name: _info(tensor) for name, tensor in inputs.items()}
    found = {name: _info(tensor) for name, tensor in outputs.items()}
    return build_signature_def(given, found, constants.PREDICT_METHOD_NAME)


@api(f"{_SPACE}.is_valid_signature", f"{_UTILS}.is_valid_signature", dispatch=False)
def is_valid_signature(signature_def) -> bool:
    """Whether a server can use a signature: it is a regression, classification or prediction with the right tensors."""
    if signature_def is None:
        return False
    method, inputs, outputs = signature_def.method_name, signature_def.inputs, signature_def.outputs
    text, number = dtypes.string.as_datatype_enum, dtypes.float32.as_datatype_enum
    if method == constants.PREDICT_METHOD_NAME:
        return bool(inputs) and bool(outputs)
    if method == constants.REGRESS_METHOD_NAME:
        return _are(inputs, {constants.REGRESS_INPUTS: text}) and _are(outputs, {constants.REGRESS_OUTPUTS: number})
    if method == constants.CLASSIFY_METHOD_NAME:
        allowed = {constants.CLASSIFY_OUTPUT_CLASSES: text, constants.CLASSIFY_OUTPUT_SCORES: number}
        wanted = {name: kind for name, kind in allowed.items() if name in outputs}
        return _are(inputs, {constants.CLASSIFY_INPUTS: text}) and bool(wanted) and _are(outputs, wanted)
    return False


def _are(infos, kinds):
    return set(infos) == set(kinds) and all(infos[name].dtype == kind for name, kind in kinds.items())


@api(f"{_UTILS}.MethodNameUpdater")
class MethodNameUpdater:
    """Changes what the signatures of a SavedModel say that servers do with them.

    Args:
        export_dir: the folder of the SavedModel.
    """

    def __init__(self, export_dir) -> None:
        self._folder = files.path_string(export_dir)
        self._message = read_saved_model(self._folder)

    def replace_method_name(self, signature_key, method_name, tags=None) -> None:
        """Change the method name of a signature.

        Args:
            signature_key: its key.
            method_name: the new name.
            tags: of the graph; all graphs by default.

        Raises:
            ValueError: there is no such signature or graph.
        """
        if not signature_key:
            raise ValueError("`signature_key` must be defined.")
        if not method_name:
            raise ValueError("`method_name` must be defined.")
        wanted = None if tags is None else {tags} if isinstance(tags, str) else set(tags)
        fitting = [x for x in self._message.meta_graphs if wanted is None or set(x.meta_info_def.tags) == wanted]
        if not fitting:
            raise ValueError(
                f"MetaGraphDef associated with tags {tags} could not be found in SavedModel. This means either you "
                "specified invalid tags or your SavedModel does not have a MetaGraphDef with the specified tags."
            )
        for graph in fitting:
            if signature_key not in graph.signature_def:
                raise ValueError(
                    f"MetaGraphDef associated with tags {tags} does not have a signature_def with key: "
                    f"'{signature_key}'. This means either you specified the wrong signature key or forgot to put the "
                    "signature_def with the corresponding key in your SavedModel."
                )
            graph.signature_def[signature_key].method_name = method_name

    def save(self, new_export_dir=None) -> None:
        """Write the message, to its folder or to another one, which needs a copy of the variables too."""
        folder = self._folder if new_export_dir is None else files.path_string(new_export_dir)
        path = files.join(folder, constants.SAVED_MODEL_FILENAME_PB)
        durable_files.replace(path, self._message.SerializeToString())
