"""The gRPC services, asked with messages that have TensorFlow Serving's field numbers."""

import grpc
import numpy as np
import pytest

import headrace as tf
from headrace._src.formats import serving_messages as messages
from headrace._src.formats.model_messages import SignatureDef

PREDICTION, MODEL = "tensorflow.serving.PredictionService", "tensorflow.serving.ModelService"


@pytest.fixture(scope="module")
def channel(server):
    with grpc.insecure_channel(server.grpc_address) as one:
        yield one


def called(channel, method, request, kind):
    send = channel.unary_unary(
        f"/{method}", request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=kind.FromString,
    )  # fmt: skip
    return send(request, timeout=300)


def prediction(array, name="x", **spec):
    request = messages.PredictRequest()
    request.model_spec.name = spec.pop("model", "scaling")
    request.model_spec.signature_name = spec.pop("signature", "")
    if "version" in spec:
        request.model_spec.version.value = spec["version"]
    request.model_spec.version_label = spec.get("label", "")
    request.inputs[name] = tf.make_tensor_proto(array).SerializeToString()
    return request


def test_predictions(channel):
    request = prediction(np.array([[1, 2]], np.float32))
    for spec in ({}, {"version": 3}, {"label": "stable"}):
        request = prediction(np.array([[1, 2]], np.float32), **spec)
        found = called(channel, f"{PREDICTION}/Predict", request, messages.PredictResponse)
        assert tf.io.parse_tensor(found.outputs["y"], tf.float32).numpy().tolist() == [[2.0, 4.0]]
        assert (found.model_spec.name, found.model_spec.version.value) == ("scaling", 3)
        assert found.model_spec.signature_name == "serving_default"
    request.output_filter.append("y")
    assert list(called(channel, f"{PREDICTION}/Predict", request, messages.PredictResponse).outputs) == ["y"]


@pytest.mark.parametrize(
    ("request_of", "code", "text"),
    [
        (
            lambda: prediction(np.float32([[1, 2]]), name="z"),
            "INVALID_ARGUMENT",
            r"extra: {z}. Missing but required: {x}",
        ),
        (lambda: prediction(np.float64([[1, 2]])), "INVALID_ARGUMENT", "inconsistent type: float64"),
        (lambda: prediction(np.float32([[1, 2, 3]])), "INVALID_ARGUMENT", "incompatible shape"),
    ],
)
def test_refusals(channel, request_of, code, text):
    with pytest.raises(grpc.RpcError, match=text) as raised:
        called(channel, f"{PREDICTION}/Predict", request_of(), messages.PredictResponse)
    assert raised.value.code().name == code


def test_bytes_that_are_no_message(channel):
    send = channel.unary_unary(f"/{PREDICTION}/Predict")
    with pytest.raises(grpc.RpcError, match="The request is no PredictRequest") as raised:
        send(b"\xff\xff", timeout=300)
    assert raised.value.code().name == "INVALID_ARGUMENT"


def test_bytes_that_are_no_tensor(channel):
    request = prediction(np.float32([[1, 2]]))
    request.inputs["x"] = b"\x08\x01\x12\xff"
    with pytest.raises(grpc.RpcError, match="tensor parsing error: x"):
        called(channel, f"{PREDICTION}/Predict", request, messages.PredictResponse)


def examples(request, *rows):
    request.model_spec.name = "scaling"
    for row in rows:
        feature = tf.train.Feature(float_list=tf.train.FloatList(value=row))
        example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
        request.input.example_list.examples.append(example.SerializeToString())
    return request


def test_examples(channel):
    request = examples(messages.ClassificationRequest(), [2.0, 1.0])
    request.model_spec.signature_name = "classify"
    found = called(channel, f"{PREDICTION}/Classify", request, messages.ClassificationResponse)
    assert [(one.label, one.score) for one in found.result.classifications[0].classes] == [("1", 4.0), ("0", 2.0)]
    request = examples(messages.RegressionRequest(), [2.0, 1.0], [1.0, 0.0])
    request.model_spec.signature_name = "regress"
    found = called(channel, f"{PREDICTION}/Regress", request, messages.RegressionResponse)
    assert [one.value for one in found.result.regressions] == [6.0, 2.0]
    plain = examples(messages.RegressionRequest(), [2.0, 1.0])
    request = messages.MultiInferenceRequest(input=plain.input)
    for name in ("classify", "regress"):
        task = request.tasks.add(method_name=f"tensorflow/serving/{name}")
        task.model_spec.name, task.model_spec.signature_name = "scaling", name
    found = called(channel, f"{PREDICTION}/MultiInference", request, messages.MultiInferenceResponse)
    assert found.results[0].classification_result.classifications[0].classes[0].label == "1"
    assert found.results[1].regression_result.regressions[0].value == 6.0


def test_the_context_is_part_of_each_example(channel):
    plain = examples(messages.RegressionRequest(), [2.0, 1.0])
    request = messages.RegressionRequest()
    request.model_spec.name, request.model_spec.signature_name = "scaling", "regress"
    given = request.input.example_list_with_context
    given.examples.extend(plain.input.example_list.examples)
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    given.context = tf.train.Example(features=tf.train.Features(feature={"n": feature})).SerializeToString()
    found = called(channel, f"{PREDICTION}/Regress", request, messages.RegressionResponse)
    assert [one.value for one in found.result.regressions] == [13.0]


def test_metadata_status_and_health(channel):
    request = messages.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "scaling"
    found = called(channel, f"{PREDICTION}/GetModelMetadata", request, messages.GetModelMetadataResponse)
    packed = found.metadata["signature_def"]
    assert packed.type_url == "type.googleapis.com/tensorflow.serving.SignatureDefMap"
    signatures = messages.SignatureDefMap.FromString(packed.value).signature_def
    assert SignatureDef.FromString(signatures["whole"]).inputs["i"].dtype == tf.int32.as_datatype_enum
    request = messages.GetModelStatusRequest()
    request.model_spec.name = "scaling"
    found = called(channel, f"{MODEL}/GetModelStatus", request, messages.GetModelStatusResponse)
    (status,) = found.model_version_status
    assert (status.version, status.state, status.status.error_code) == (3, 30, 0)
    health = "grpc.health.v1.Health/Check"
    assert called(channel, health, messages.HealthCheckRequest(), messages.HealthCheckResponse).status == 1
