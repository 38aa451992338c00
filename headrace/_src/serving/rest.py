"""The REST interface of TensorFlow Serving, as an ASGI application."""

from __future__ import annotations

import asyncio
import json
import re
import time
import urllib.parse
from collections.abc import Callable
from typing import NamedTuple

from headrace._src.core import errors
from headrace._src.core.garbage import collection_paused
from headrace._src.core.lazy import LazyModule
from headrace._src.op.api import api
from headrace._src.serving import json_examples, json_replies, json_values
from headrace._src.serving.inference import CODES, METHODS, Asked, Inference, classes_of, values_of
from headrace._src.serving.json_tensors import shortened
from headrace._src.serving.page import page

_json_format = LazyModule("google.protobuf.json_format")

_WHICH = r"(?:/versions/(?P<version>\d+)|/labels/(?P<label>[^/:]+))?"
# TF: the path is compared without regard to case, but the method must be written small.
_CALL = re.compile(rf"(?i:/v1/models/(?P<model>[^/:]+){_WHICH}):(?P<method>classify|regress|predict)")
_ABOUT = re.compile(rf"(?i:/v1/models(?:/(?P<model>[^/:]+))?{_WHICH}(?:/(?P<part>metadata))?)")
_HTTP = {
    "OK": 200, "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409, "ABORTED": 409, "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}  # fmt: skip
_JSON, _HTML, _PLAIN = b"application/json", b"text/html; charset=utf-8", b"text/plain; version=0.0.4"
_LARGE = 1 << 16  # bytes from which on JSON is read and written in a thread


@api("serving.RestSettings", dispatch=False)
class RestSettings(NamedTuple):
    """How the REST interface behaves.

    Attributes:
        timeout: how many seconds a request may take, its body included.
        largest_body: how many bytes it may have.
        cors: whether pages of other sites may ask.
        metrics_path: where Prometheus reads; None for nowhere.
    """

    timeout: float = 30.0
    largest_body: int = 256 << 20
    cors: bool = False
    metrics_path: str | None = None


class _Reply(NamedTuple):
    body: bytes
    status: int = 200
    kind: bytes = _JSON


class RestApplication:
    """Answers HTTP requests: `await application(scope, receive, send)`.

    Args:
        inference: what answers requests.
        settings: how.
    """

    def __init__(self, inference: Inference, settings: RestSettings = RestSettings()):
        self._inference = inference
        self._settings = settings

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        if scope["type"] != "http":
            return
        begun = time.perf_counter()
        model, error = "", None
        try:
            # Names are decoded after the path is divided.
            path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
            found = _CALL.fullmatch(path) if scope["method"] == "POST" else None
            if found is not None:
                model = urllib.parse.unquote(found["model"])
            async with asyncio.timeout(self._settings.timeout):
                reply = await self._reply(scope, receive, path, found)
        except TimeoutError:
            error = errors.DeadlineExceededError(None, None, "Timed out waiting for the request or the model.")
            reply = _problem(error)
        except Exception as problem:
            error = problem
            reply = _problem(problem)
        await self._send(scope, send, reply)
        if model:
            self._inference.note(model, "REST", begun, error)

    async def _reply(self, scope, receive, path, found) -> _Reply:
        method = scope["method"]
        if found is not None:
            body = await self._body(scope, receive)
            return await self._call(found, body)
        if method == "OPTIONS" and self._settings.cors and any(name == b"origin" for name, _ in scope["headers"]):
            return _Reply(b"", 200)
        if method == "GET":
            about = _ABOUT.fullmatch(path)
            if about is not None:
                if about["model"] is None:
                    raise errors.invalid_argument("Missing model name in request.")
                return self._metadata(about) if about["part"] == "metadata" else self._status(about)
            if path == "/":
                return _Reply(page(self._inference).encode(), kind=_HTML)
            if path in ("/v2/health/live", "/v2/health/ready"):
                return self._health(path)
            if path == self._settings.metrics_path:
                return _Reply(self._inference.metrics.text().encode(), kind=_PLAIN)
        if path.lower().startswith("/v1/"):
            raise errors.invalid_argument(f"Malformed request: {method} {path}")
        return _Reply(b'{ "error": "Not Found" }', 404)

    async def _body(self, scope, receive):
        said = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if said.isdigit() and int(said) > self._settings.largest_body:
            raise await self._too_large(receive)
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise errors.cancelled("The client has gone.")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._settings.largest_body:
                parts.clear()
                raise await self._too_large(receive)
            if not message.get("more_body"):
                return b"".join(parts)

    async def _too_large(self, receive):
        # Who is answered while they still send may never see the answer. Not more is read than a request may have.
        left = self._settings.largest_body
        while left > 0:
            message = await receive()
            if not message.get("more_body"):
                break
            left -= len(message.get("body", b""))
        return errors.resource_exhausted(
            f"The request has more than {self._settings.largest_body} bytes, the most that this server takes "
            "(--rest_api_max_body_bytes)."
        )

    async def _threaded(self, size, function, *arguments):
        """Call something that takes long for large requests."""
        if size < _LARGE:
            return function(*arguments)
        return await asyncio.get_running_loop().run_in_executor(
            self._inference.executor, _without_collection, function, *arguments
        )

    async def _call(self, found, body) -> _Reply:
        asked = _asked(found)
        method = found["method"]
        if method == "predict":
            return await self._predict(asked, body)
        asked, examples = await self._threaded(len(body), _examples_in, asked, body)
        _, outputs = await self._inference.examples(asked, examples, METHODS[method])
        if method == "classify":
            return _Reply(json_replies.classes_reply(classes_of(outputs, len(examples))))
        return _Reply(json_replies.values_reply(values_of(outputs, len(examples))))

    async def _predict(self, asked, body) -> _Reply:
        servable, signature, arrays, by_rows = await self._threaded(len(body), self._inputs_in, asked, body)
        outputs = await self._inference.predict(servable, signature, arrays)
        total = sum(array.nbytes for array in outputs.values())
        return _Reply(await self._threaded(total, json_replies.reply_of, outputs, by_rows))

    def _inputs_in(self, asked, body):
        """What a prediction is for, and its inputs."""
        request, asked = _parsed(asked, body)
        servable, signature = self._inference.find(asked)
        numbers = json_values.has_only_numbers(body, request)
        return servable, signature, *json_values.arrays_of_request(request, signature, numbers)

    def _status(self, found) -> _Reply:
        asked = _asked(found)
        statuses = self._inference.models.status(asked.model, asked.version, asked.label)
        told = [
            {
                "version": str(status.version), "state": status.state,
                "status": {"error_code": CODES.get(status.code, "UNKNOWN"), "error_message": status.message},
            }
            for status in statuses
        ]  # fmt: skip
        return _Reply(json.dumps({"model_version_status": told}, indent=1).encode())

    def _metadata(self, found) -> _Reply:
        asked = _asked(found)
        servable = self._inference.models.find(asked.model, asked.version, asked.label)
        signatures = {
            name: _json_format.MessageToDict(
                signature.definition, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
            )
            for name, signature in servable.signatures.items()
        }
        told = {
            "model_spec": {"name": servable.name, "signature_name": "", "version": str(servable.version)},
            "metadata": {"signature_def": {"signature_def": signatures}},
        }
        return _Reply(json.dumps(told, indent=1).encode())

    def _health(self, path) -> _Reply:
        is_live = path.endswith("live") or self._inference.models.are_ready
        return _Reply(json.dumps({path.rpartition("/")[2]: is_live}).encode(), 200 if is_live else 503)

    async def _send(self, scope, send, reply):
        headers = [(b"content-type", reply.kind), (b"content-length", str(len(reply.body)).encode())]
        if self._settings.cors:
            headers += [
                (b"access-control-allow-origin", b"*"), (b"access-control-allow-methods", b"GET, POST"),
                (b"access-control-allow-headers", b"Content-Type"),
            ]  # fmt: skip
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else reply.body})


async def _live(receive, send):
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _without_collection(function, *arguments):
    """Call something that makes very many lists, for each thousand of which Python would look for garbage."""
    with collection_paused():
        return function(*arguments)


def _parsed(asked, body):
    """A request, and what it is for."""
    request = json_values.parsed(body)
    name = request.get("signature_name", "")
    if not isinstance(name, str):
        raise errors.invalid_argument(
            f"JSON Value: {shortened(request)} not formatted correctly. 'signature_name' key must be a string value."
        )
    return request, asked._replace(signature=name)


def _examples_in(asked, body):
    request, asked = _parsed(asked, body)
    return asked, json_examples.examples_of(request)


def _asked(found) -> Asked:
    version = found["version"]
    if version is not None and int(version) >= 1 << 63:
        raise errors.invalid_argument(f"Failed to convert version: {version} to numeric.")
    label = found["label"]
    return Asked(
        urllib.parse.unquote(found["model"]), None if version is None else int(version),
        None if label is None else urllib.parse.unquote(label),
    )  # fmt: skip


def _problem(error) -> _Reply:
    code = CODES.get(getattr(error, "error_code", errors.INTERNAL), "INTERNAL")
    text = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
    return _Reply(json.dumps({"error": text}).encode(), _HTTP.get(code, 500))
