"""The rows of requests.tsv, and the messages that those of gRPC are."""

import json
import pathlib

import numpy as np

import headrace as tf
from headrace._src.formats import serving_messages as messages

PREDICTION, MODEL = "tensorflow.serving.PredictionService", "tensorflow.serving.ModelService"
METHODS = {
    "Predict": (PREDICTION, "PredictRequest", "PredictResponse"),
    "Classify": (PREDICTION, "ClassificationRequest", "ClassificationResponse"),
    "Regress": (PREDICTION, "RegressionRequest", "RegressionResponse"),
    "MultiInference": (PREDICTION, "MultiInferenceRequest", "MultiInferenceResponse"),
    "GetModelMetadata": (PREDICTION, "GetModelMetadataRequest", "GetModelMetadataResponse"),
    "GetModelStatus": (MODEL, "GetModelStatusRequest", "GetModelStatusResponse"),
    "Check": ("grpc.health.v1.Health", "HealthCheckRequest", "HealthCheckResponse"),
    "Other": (PREDICTION, "PredictRequest", "PredictResponse"),
}


def rows():
    """(number of the line, how it is asked, body, status, reply, source) of each row."""
    lines = (pathlib.Path(__file__).parent / "requests.tsv").read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            yield number, *line.split("\t")


def body_of(text):
    """The bytes of a body over REST."""
    return bytes.fromhex(text[4:]) if text.startswith("hex:") else text.encode()


def path_of(method):
    """Where a method is called over gRPC."""
    return f"/{METHODS[method][0]}/{method}"


def message_of(method, text):
    """The message for a row's body."""
    return request_of(METHODS[method][1], json.loads(text))


def tensor(kind, value):
    if kind == "hex":
        return bytes.fromhex(value)
    if kind == "bytes":
        return tf.make_tensor_proto(value).SerializeToString()
    return tf.make_tensor_proto(np.array(value, tf.as_dtype(kind).as_numpy_dtype)).SerializeToString()


def example(features):
    lists = {name: tf.train.Feature(float_list=tf.train.FloatList(value=value)) for name, value in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=lists)).SerializeToString()


def name_model(spec, given):
    spec.name, spec.signature_name = given["model"], given.get("signature", "")
    if "version" in given:
        spec.version.value = given["version"]
    if "label" in given:
        spec.version_label = given["label"]
    spec.SetInParent()


def request_of(kind, given):
    request = getattr(messages, kind)()
    if "model" in given:
        name_model(request.model_spec, given)
    for name, value in given.get("inputs", {}).items():
        request.inputs[name] = tensor(*value)
    if "context" in given:
        request.input.example_list_with_context.context = example(given["context"])
        request.input.example_list_with_context.examples.extend(map(example, given["examples"]))
    elif "examples" in given:
        request.input.example_list.examples.extend(map(example, given["examples"]))
    for model, signature, method in given.get("tasks", ()):
        task = request.tasks.add(method_name=f"tensorflow/serving/{method}")
        name_model(task.model_spec, {"model": model, "signature": signature})
    if "filter" in given:
        request.output_filter.extend(given["filter"])
    if "fields" in given:
        request.metadata_field.extend(given["fields"])
    if "service" in given:
        request.service = given["service"]
    return request
