"""The gRPC services of TensorFlow Serving: PredictionService, SessionService, ModelService, and the health service."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from headrace._src.core import errors
from headrace._src.core.dtypes import as_dtype
from headrace._src.core.lazy import LazyModule
from headrace._src.formats.tensor_protos import array_to_proto
from headrace._src.formats.tensor_wire import parse_tensor
from headrace._src.serving import configuration
from headrace._src.serving.inference import CODES, Asked, Inference, check_method, classes_of, values_of
from headrace._src.serving.servables import CLASSIFY, DEFAULT_SIGNATURE, REGRESS

_grpc = LazyModule("grpc")
_protobuf = LazyModule("google.protobuf.message")
_messages = LazyModule("headrace._src.formats.serving_messages")
_PACKAGE = "tensorflow.serving"
_SIGNATURE_MAP = f"type.googleapis.com/{_PACKAGE}.SignatureDefMap"


class GrpcServices:
    """Handlers of the services.

    Args:
        inference: what answers requests.
        has_health: whether the health service is offered.
        publish: told the configuration of models, when a client changes it.
    """

    def __init__(
        self, inference: Inference, has_health: bool = False, publish: Callable[[bytes], Any] = lambda config: None
    ):
        self._inference = inference
        self._has_health = has_health
        self._publish = publish

    def handlers(self) -> list[Any]:
        """What a gRPC server is given."""
        m = _messages
        services = {
            f"{_PACKAGE}.PredictionService": {
                "Predict": (self.predict, m.PredictRequest),
                "Classify": (self.classify, m.ClassificationRequest),
                "Regress": (self.regress, m.RegressionRequest),
                "MultiInference": (self.multi_inference, m.MultiInferenceRequest),
                "GetModelMetadata": (self.metadata, m.GetModelMetadataRequest),
            },
            f"{_PACKAGE}.SessionService": {"SessionRun": (self.session_run, m.SessionRunRequest)},
            f"{_PACKAGE}.ModelService": {
                "GetModelStatus": (self.status, m.GetModelStatusRequest),
                "HandleReloadConfigRequest": (self.reload, m.ReloadConfigRequest),
            },
        }
        if self._has_health:
            services["grpc.health.v1.Health"] = {"Check": (self.health, m.HealthCheckRequest)}
        return [
            _grpc.method_handlers_generic_handler(service, {
                name: _grpc.unary_unary_rpc_method_handler(
                    self._guarded(function, kind), response_serializer=lambda message: message.SerializeToString(),
                )
                for name, (function, kind) in methods.items()
            })
            for service, methods in services.items()
        ]  # fmt: skip

    def _guarded(self, function: Callable[[Any], Awaitable[Any]], kind: Any):
        """Messages parsed, errors as gRPC has them, and requests counted."""

        async def answer(data, context):
            begun, problem, request = time.perf_counter(), None, None
            try:
                request = _parsed(kind, data)
                return await function(request)
            except Exception as error:
                problem = error
                code = CODES.get(getattr(error, "error_code", errors.INTERNAL), "INTERNAL")
                text = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
                await context.abort(getattr(_grpc.StatusCode, code), text)
            finally:
                if hasattr(request, "model_spec") and function != self.status:
                    self._inference.note(request.model_spec.name, "GRPC", begun, problem)

        return answer

    async def predict(self, request: Any) -> Any:
        """Call a signature with tensors by name."""
        servable, signature = self._inference.find(_asked(request), _missing_key)
        arrays = {name: _array(name, data) for name, data in request.inputs.items()}
        _check_outputs(request.output_filter, signature)
        outputs = await self._inference.predict(servable, signature, arrays)
        response = _messages.PredictResponse()
        _describe(response.model_spec, servable, signature.name)
        for name in request.output_filter or outputs:
            response.outputs[name] = array_to_proto(outputs[name], signature.outputs[name].dtype).SerializeToString()
        return response

    async def session_run(self, request: Any) -> Any:
        """Feed and fetch tensors of a model's graph, by their names there or by those of a signature."""
        asked = _asked(request)
        servable = self._inference.models.find(asked.model, asked.version, asked.label)
        feeds = {one.name: _array(one.name, one.tensor) for one in request.feed}
        if len(feeds) < len(request.feed):
            raise errors.invalid_argument(f"A tensor is fed twice: {', '.join(one.name for one in request.feed)}.")
        named = {name: name for name in (*feeds, *request.fetch)}
        if request.tensor_name_is_alias:
            definition = servable.signature(asked.signature, _missing_key).definition
            infos = {**definition.inputs, **definition.outputs}
            unknown = [name for name in named if name not in infos]
            if unknown:
                raise errors.invalid_argument(
                    f"The signature has no input or output {', '.join(unknown)}. There are: {', '.join(sorted(infos))}."
                )
            named = {name: infos[name].name for name in named}
        fed = {named[name]: array for name, array in feeds.items()}
        fetched = [named[name] for name in request.fetch]
        outputs = await self._inference.session_run(servable, fed, fetched, list(request.target))
        response = _messages.SessionRunResponse()
        _describe(response.model_spec, servable, asked.signature)
        for name in request.fetch:
            array = outputs[named[name]]
            response.tensor.add(name=name, tensor=array_to_proto(array, as_dtype(array.dtype)).SerializeToString())
        return response

    async def classify(self, request: Any) -> Any:
        """Labels and scores of Examples."""
        examples = _examples(request.input)
        servable, outputs = await self._inference.examples(_asked(request), examples, CLASSIFY)
        response = _messages.ClassificationResponse()
        _describe(response.model_spec, servable, request.model_spec.signature_name or DEFAULT_SIGNATURE)
        _fill_classes(response.result, outputs, len(examples))
        return response

    async def regress(self, request: Any) -> Any:
        """Values of Examples."""
        examples = _examples(request.input)
        servable, outputs = await self._inference.examples(_asked(request), examples, REGRESS)
        response = _messages.RegressionResponse()
        _describe(response.model_spec, servable, request.model_spec.signature_name or DEFAULT_SIGNATURE)
        response.result.regressions.extend(
            [_messages.Regression(value=value) for value in values_of(outputs, len(examples))]
        )
        return response

    async def multi_inference(self, request: Any) -> Any:
        """Several classifications and regressions of the same Examples."""
        self._check_tasks(request.tasks)
        examples = _examples(request.input)
        response = _messages.MultiInferenceResponse()
        for task in request.tasks:
            asked = _asked(task)
            servable, outputs = await self._inference.examples(asked, examples, task.method_name)
            result = response.results.add()
            _describe(result.model_spec, servable, asked.signature or DEFAULT_SIGNATURE)
            if task.method_name == CLASSIFY:
                _fill_classes(result.classification_result, outputs, len(examples))
            else:
                values = values_of(outputs, len(examples))
                result.regression_result.regressions.extend([_messages.Regression(value=value) for value in values])
        return response

    def _check_tasks(self, tasks):
        """That several calls are for one model, and each for another of its signatures."""
        if not tasks:
            raise errors.invalid_argument("ModelSpec has no name specified.")
        seen = set()
        for task in tasks:
            if not task.model_spec.name:
                raise errors.invalid_argument("Found ModelSpec with an empty model name.")
            if task.model_spec.name != tasks[0].model_spec.name:
                raise errors.invalid_argument("All ModelSpecs in a MultiInferenceRequest must have one model name.")
            _, signature = self._inference.find(_asked(task), _missing_in_graph)
            if signature.name in seen:
                raise errors.invalid_argument(f"Duplicate evaluation of signature: {signature.name}")
            seen.add(signature.name)
            if task.method_name not in (CLASSIFY, REGRESS):
                raise errors.unimplemented(f"Unsupported signature method_name: {task.method_name}")
            check_method(signature, task.method_name)

    async def metadata(self, request: Any) -> Any:
        """The signatures of a model."""
        asked = _asked(request)
        if not request.metadata_field:
            raise errors.invalid_argument("GetModelMetadataRequest must specify at least one metadata_field")
        for name in request.metadata_field:
            if name != "signature_def":
                raise errors.invalid_argument(f"Metadata field {name} is not supported")
        servable = self._inference.models.find(asked.model, asked.version, asked.label)
        signatures = _messages.SignatureDefMap()
        for name, signature in servable.signatures.items():
            signatures.signature_def[name] = signature.definition.SerializeToString()
        response = _messages.GetModelMetadataResponse()
        _describe(response.model_spec, servable, "")
        response.metadata["signature_def"].type_url = _SIGNATURE_MAP
        response.metadata["signature_def"].value = signatures.SerializeToString()
        return response

    async def status(self, request: Any) -> Any:
        """The states of the versions of a model."""
        asked = _asked(request)
        response = _messages.GetModelStatusResponse()
        for one in self._inference.models.status(asked.model, asked.version, asked.label):
            told = response.model_version_status.add(version=one.version)
            told.state = configuration.STATES[one.state]
            told.status.error_code, told.status.error_message = one.code, one.message
        return response

    async def reload(self, request: Any) -> Any:
        """Serve other models from now on."""
        settings = configuration.settings_of(request.config)
        await asyncio.get_running_loop().run_in_executor(None, self._inference.models.reload, settings)
        self._publish(request.config.SerializeToString())
        return _messages.ReloadConfigResponse()

    async def health(self, request: Any) -> Any:
        """Whether models are served."""
        if request.service not in ("", "ModelService", "PredictionService"):
            raise errors.not_found(f"There is no service {request.service!r}.")
        is_ready = self._inference.models.are_ready
        return _messages.HealthCheckResponse(status=1 if is_ready else 2)


def _parsed(kind, data):
    try:
        return kind.FromString(data)
    except _protobuf.DecodeError as error:
        raise errors.invalid_argument(f"The request is no {kind.__name__}: {error}") from None


def _asked(request) -> Asked:
    if not request.HasField("model_spec"):
        raise errors.invalid_argument("Missing ModelSpec")
    spec = request.model_spec
    version = spec.version.value if spec.HasField("version") else None
    return Asked(spec.name, version, spec.version_label or None, spec.signature_name)


def _missing_key(name):
    return errors.failed_precondition(f'Serving signature key "{name}" not found.')


def _missing_in_graph(name):
    return errors.invalid_argument(f"Requested signature not found in model graph: {name}")


def _check_outputs(wanted, signature):
    for number, name in enumerate(wanted):
        if name not in signature.outputs:
            raise errors.invalid_argument(
                f"output tensor alias not found in signature: {name} (outputs: {', '.join(signature.outputs)})"
            )
        if name in wanted[:number]:
            raise errors.invalid_argument(f"duplicate output tensor alias: {name}")


def _describe(spec, servable, signature):
    spec.name = servable.name
    spec.version.value = servable.version
    spec.signature_name = signature


def _array(name, data) -> np.ndarray:
    try:
        array, _ = parse_tensor(data)
    except (ValueError, IndexError, errors.OpError) as error:
        raise errors.invalid_argument(f"tensor parsing error: {name}: {error}") from None
    return array


def _examples(given) -> list[bytes]:
    kind = given.WhichOneof("kind")
    if kind is None:
        raise errors.invalid_argument("Input is empty.")
    examples = list(getattr(given, kind).examples)
    if kind == "example_list_with_context":
        # Fields of messages that follow each other are joined, so this gives each example the features of the context.
        context = given.example_list_with_context.context
        examples = [context + example for example in examples]
    return examples


def _fill_classes(result, outputs, count):
    for row in classes_of(outputs, count):
        result.classifications.add().classes.extend([_messages.Class(label=label, score=score) for label, score in row])
