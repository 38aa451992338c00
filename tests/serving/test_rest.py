"""The REST interface: limits, pages and headers. What is asked of models is in requests.tsv."""

import json
import re
import socket
import urllib.error
import urllib.request

import pytest
from served_models import asked

CALL = "/v1/models/scaling:predict"

BAD = [
    (CALL, b"[" * 100_000, 400, "JSON Parse error"),
    (CALL, b'{"instances": ' + b"[" * 100_000 + b"1" + b"]" * 100_000 + b"}", 400, "nested too deeply"),
    (CALL, b'{"instances": ' + b"[" * 100 + b"1" + b"]" * 100 + b"}", 400, "more than 64 deep"),
    (CALL, b'{"instances": [' + b"9" * 5000 + b"]}", 400, "Number too big"),
    (CALL, {"instances": [[1, 2, 3]]}, 400, "incompatible shape"),
    (CALL, {"instances": ["a" * 1000]}, 400, r"a\.\.\. Type: String"),
    (CALL, b" " * (2 << 20), 429, "--rest_api_max_body_bytes"),
    ("/v1/models/scaling/labels/canary:predict", {"inputs": [1]}, 400, "version 4, which is not available"),
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
    with pytest.raises(urllib.error.HTTPError, match="400"):  # nobody asks for a page of another site
        urllib.request.urlopen(urllib.request.Request(server.rest_url + CALL, method="OPTIONS"))


def test_headers_without_end(server):
    with socket.create_connection(server.rest_url.removeprefix("http://").split(":")) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 400")
