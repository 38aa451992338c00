"""The REST interface: what is asked, and what TensorFlow Serving's interface promises as the reply."""

import json
import re
import urllib.request

import pytest
from served_models import asked

CALL = "/v1/models/scaling:predict"
TEXTS = {"signature_name": "both"}
GOOD = [
    (CALL, {"instances": [[1, 2], [3, 4]]}, {"predictions": [[2.0, 4.0], [6.0, 8.0]]}),
    (CALL, {"instances": [{"x": [1.5, 2]}]}, {"predictions": [[3.0, 4.0]]}),
    (CALL, {"inputs": [[1, 2]]}, {"outputs": [[2.0, 4.0]]}),
    (CALL, {"inputs": {"x": [[1, 2]]}}, {"outputs": [[2.0, 4.0]]}),
    (CALL, {"signature_name": "serving_default", "inputs": [[1, 2]]}, {"outputs": [[2.0, 4.0]]}),
    ("/v1/models/scaling/versions/3:predict", {"inputs": [[0.1, 0]]}, {"outputs": [[0.2, 0.0]]}),
    ("/v1/models/scaling/labels/stable:predict", {"inputs": [[1, 2]]}, {"outputs": [[2.0, 4.0]]}),
    ("/V1/models/scaling:PREDICT", {"inputs": [[1, 2]]}, {"outputs": [[2.0, 4.0]]}),
    ("/v1/models/sc%61ling:predict", {"inputs": [[1, 2]]}, {"outputs": [[2.0, 4.0]]}),
    (
        CALL, {**TEXTS, "instances": [{"a": 1, "text": "ab"}, {"a": 2, "text": {"b64": "/w=="}}]},
        {"predictions": [{"image_bytes": {"b64": "YWIh"}, "sum": 3.0}, {"image_bytes": {"b64": "/yE="}, "sum": 3.0}]},
    ),
    (
        CALL, {**TEXTS, "inputs": {"a": [1], "text": ["abc"]}},
        {"outputs": {"image_bytes": [{"b64": "YWJjIQ=="}], "sum": [4.0]}},
    ),
    (CALL, {"signature_name": "whole", "inputs": [1, 2]}, {"outputs": 3}),
    (
        "/v1/models/scaling:classify", {"signature_name": "classify", "examples": [{"x": [2.0, 1.0]}]},
        {"results": [[["1", 4.0], ["0", 2.0]]]},
    ),
    (
        "/v1/models/scaling:regress",
        {"signature_name": "regress", "context": {"n": 5}, "examples": [{"x": [2.0, 1.0]}, {"x": [0.0, 1.0], "n": 1}]},
        {"results": [11.0, 3.0]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "reply"), GOOD)
def test_calls(server, path, body, reply):
    status, text = asked(server.rest_url + path, body)
    assert (status, json.loads(text)) == (200, reply)


BAD = [
    (CALL, b"", 400, "JSON Parse error"),
    (CALL, b'{"instances": [[1,', 400, "JSON Parse error: .* at offset: 18"),
    (CALL, b"[" * 100_000, 400, "JSON Parse error"),
    (CALL, b'{"instances": ["\xff"]}', 400, "JSON Parse error"),
    (CALL, b"3", 400, "must be a JSON object"),
    (CALL, {}, 400, "Missing 'inputs' or 'instances' key"),
    (CALL, {"inputs": [[1, 2]], "instances": [[1, 2]]}, 400, "either 'inputs' or 'instances'"),
    (CALL, {"instances": []}, 400, "at least one instance"),
    (CALL, {"instances": 3}, 400, "at least one instance"),
    (CALL, {"instances": [[1, 2], [3]]}, 400, "Encountered list at unexpected size"),
    (CALL, {"instances": [[1, 2, 3]]}, 400, "incompatible shape"),
    (CALL, {"instances": [["a", "b"]]}, 400, "not of expected type: float32"),
    (CALL, {"instances": [[True, False]]}, 400, "not of expected type"),
    (CALL, {"instances": [{"y": [1, 2]}]}, 400, "the inputs x, got y"),
    (CALL, {"instances": [{"x": [1, 2]}, {"z": [1, 2]}]}, 400, "same inputs"),
    (CALL, {**TEXTS, "instances": [1]}, 400, "several inputs: a, text"),
    (CALL, {**TEXTS, "inputs": {"a": [1], "text": [5]}}, 400, "Type: Number is not of expected type: string"),
    (CALL, {**TEXTS, "inputs": {"a": [1], "text": [{"b64": "?"}]}}, 400, "Unable to base64 decode"),
    (CALL, {**TEXTS, "inputs": {"a": [1], "text": [["a"], ["b", "c"]]}}, 400, "unexpected size"),
    (CALL, {"signature_name": "whole", "instances": [1, 2]}, 400, "inconsistent batch size"),
    (CALL, {"signature_name": "whole", "inputs": [1.5]}, 400, "not of expected type: int32"),
    (CALL, {"signature_name": "whole", "inputs": [2**40]}, 400, "beyond int32"),
    (CALL, {"signature_name": "whole", "inputs": [200]}, 400, "whole|assert|less"),
    (CALL, {"signature_name": "other", "inputs": [1]}, 400, 'signature name: "other" not found in signature def'),
    (CALL, {"signature_name": 3, "inputs": [1]}, 400, "must be a string"),
    (CALL, b" " * (2 << 20), 429, "--rest_api_max_body_bytes"),
    ("/v1/models/other:predict", {"inputs": [1]}, 404, r"Servable not found for request: Latest\(other\)"),
    ("/v1/models/scaling/versions/4:predict", {"inputs": [1]}, 404, r"Specific\(scaling, 4\)"),
    ("/v1/models/scaling/labels/none:predict", {"inputs": [1]}, 400, "Unrecognized servable version label: none"),
    ("/v1/models/scaling/labels/canary:predict", {"inputs": [1]}, 400, "version 4, which is not available"),
    ("/v1/models/scaling/versions/99999999999999999999:predict", {"inputs": [1]}, 400, "64 bits"),
    ("/v1/models/scaling:classify", {"examples": [{"x": [1.0, 2.0]}]}, 400, "method_name to be tensorflow/serving/cl"),
    ("/v1/models/scaling:classify", {"signature_name": "classify", "examples": []}, 400, "at least one example"),
    ("/v1/models/scaling:classify", {"signature_name": "classify", "examples": [3]}, 400, "object of features"),
    ("/v1/models/scaling:regress", {"signature_name": "regress", "examples": [{"x": [1.0, "a"]}]}, 400, "kinds"),
    ("/v1/models/scaling:other", {"inputs": [1]}, 400, "Malformed request: POST /v1/models/scaling:other"),
    ("/other", {"inputs": [1]}, 404, "Not Found"),
    ("/v1/models/scaling/versions/7", None, 404, "Could not find version 7 of model scaling"),
    ("/v1/models/other", None, 404, "Could not find any versions of model other"),
    ("/v1/models", None, 400, "Malformed request: GET /v1/models"),
    (CALL, None, 400, "Malformed request: GET /v1/models/scaling:predict"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "status", "text"), BAD)
def test_refusals(server, path, body, status, text):
    found, reply = asked(server.rest_url + path, body)
    assert found == status
    assert re.search(text, json.loads(reply)["error"])


def test_numbers_that_json_does_not_have(server):
    status, text = asked(server.rest_url + CALL, b'{"instances": [[NaN, -Infinity], [Infinity, 0.1]]} and more')
    assert status == 200
    assert text.replace(" ", "") == '{\n"predictions":[[NaN,-Infinity],[Infinity,0.2]]\n}'


def test_status_and_metadata(server):
    status, text = asked(server.rest_url + "/v1/models/scaling")
    assert status == 200
    assert json.loads(text) == {"model_version_status": [
        {"version": "3", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}},
    ]}  # fmt: skip
    assert asked(server.rest_url + "/v1/models/scaling/labels/stable")[0] == 200
    _, text = asked(server.rest_url + "/v1/models/scaling/versions/3/metadata")
    found = json.loads(text)
    assert found["model_spec"] == {"name": "scaling", "signature_name": "", "version": "3"}
    signature = found["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["inputs"]["x"]["dtype"] == "DT_FLOAT"
    assert [dim["size"] for dim in signature["inputs"]["x"]["tensor_shape"]["dim"]] == ["-1", "2"]


def test_other_pages(server):
    assert asked(server.rest_url + "/v2/health/live") == (200, '{"live": true}')
    assert asked(server.rest_url + "/v2/health/ready") == (200, '{"ready": true}')
    asked(server.rest_url + CALL, {"inputs": [[1, 2]]})
    _, text = asked(server.rest_url + "/monitoring/prometheus/metrics")
    assert ':tensorflow:serving:request_count{model_name="scaling",status="OK"}' in text
    assert 'le="+Inf"' in text
    _, text = asked(server.rest_url + "/")
    assert "<h2>scaling</h2>" in text
    assert "serving_default" in text


def test_pages_of_other_sites_may_ask(server):
    request = urllib.request.Request(server.rest_url + CALL, method="OPTIONS", headers={"Origin": "http://a.example"})
    with urllib.request.urlopen(request) as reply:
        assert reply.headers["access-control-allow-origin"] == "*"
