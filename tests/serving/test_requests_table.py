"""requests.tsv: what is asked over REST and gRPC, and what TensorFlow Serving promises to answer."""

import http.client
import json
import logging
import math
import re

import grpc
import pytest
from table_models import save_all
from table_requests import METHODS, body_of, message_of, path_of, rows

import headrace as tf
from headrace._src.formats import serving_messages as messages
from headrace._src.formats.tensor_wire import parse_tensor

STATES = {30: "AVAILABLE", 50: "END"}


ROWS = [
    pytest.param(asked, body, status, reply, id=f"{number}-{asked}") for number, asked, body, status, reply, _ in rows()
]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    logging.getLogger("headrace.serving").setLevel(logging.CRITICAL)
    settings = tf.serving.ServerSettings(
        rest=tf.serving.RestSettings(metrics_path="/monitoring/prometheus/metrics"), has_health=True, poll_seconds=0
    )
    with tf.serving.Server(save_all(tmp_path_factory.mktemp("served")), settings=settings) as server:
        with grpc.insecure_channel(server.grpc_address) as channel:
            connection = http.client.HTTPConnection(*server.rest_url.removeprefix("http://").split(":"), timeout=300)
            yield connection, channel
            connection.close()


def same(found, wanted):
    """Whether two values of JSON are equal, where a NaN equals a NaN and whole numbers are not fractions."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(
            same(found[key], wanted[key]) for key in wanted
        )  # fmt: skip
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, float) and math.isnan(wanted):
        return isinstance(found, float) and math.isnan(found)
    return type(found) is type(wanted) and found == wanted


def check_reply(text, reply):
    if reply.startswith("~"):
        assert re.search(reply[1:], text)
    else:
        assert same(json.loads(text), json.loads(reply)), text


def test_there_are_enough_rows_and_most_are_promised():
    sources = [source for *_, source in rows()]
    assert all(sources)
    assert len([source for source in sources if not source.startswith("own")]) >= 150


@pytest.mark.parametrize(("asked", "body", "status", "reply"), [row for row in ROWS if "gRPC" not in row.values[0]])
def test_rest(served, asked, body, status, reply):
    connection = served[0]
    method, path = asked.split(" ")
    connection.request(method, path, body_of(body) if method not in ("GET", "HEAD") else None)
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == int(status), text
    if status == "200" or path.startswith("/v2/"):
        check_reply(text, reply)
    elif method != "HEAD":
        assert answer.headers["content-type"] == "application/json"
        assert re.search(reply, json.loads(text)["error"]), text


def classes(result):
    return [[[one.label, one.score] for one in row.classes] for row in result.classifications]


def values(result):
    return [one.value for one in result.regressions]


def told(response):
    """What a response says, as JSON."""
    found = {}
    if hasattr(response, "model_spec"):
        spec = response.model_spec
        found |= {"model": spec.name, "version": spec.version.value, "signature": spec.signature_name}
    kind = type(response).__name__
    if kind == "PredictResponse":
        arrays = {name: parse_tensor(data)[0] for name, data in response.outputs.items()}
        found["outputs"] = {
            name: (array.real if array.dtype.kind == "c" else array).tolist() for name, array in arrays.items()
        }
    elif kind == "ClassificationResponse":
        found["classes"] = classes(response.result)
    elif kind == "RegressionResponse":
        found["values"] = values(response.result)
    elif kind == "MultiInferenceResponse":
        found["results"] = [
            classes(one.classification_result)
            if one.HasField("classification_result")
            else values(one.regression_result)
            for one in response.results
        ]
    elif kind == "GetModelStatusResponse":
        found["versions"] = [
            [one.version, STATES[one.state], one.status.error_code] for one in response.model_version_status
        ]
    elif kind == "GetModelMetadataResponse":
        found["type"] = response.metadata["signature_def"].type_url
    else:
        found["status"] = response.status
    return found


@pytest.mark.parametrize(("asked", "body", "status", "reply"), [row for row in ROWS if "gRPC" in row.values[0]])
def test_grpc(served, asked, body, status, reply):
    method = asked.removeprefix("gRPC ")
    send = served[1].unary_unary(
        path_of(method), request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=getattr(messages, METHODS[method][2]).FromString,
    )  # fmt: skip
    message = message_of(method, body)
    if status == "OK":
        check_reply(json.dumps(told(send(message, timeout=300))), reply)
        return
    with pytest.raises(grpc.RpcError) as raised:
        send(message, timeout=300)
    assert (raised.value.code().name, bool(re.search(reply, raised.value.details()))) == (status, True)
