"""TensorFlow Serving's configuration files: models, batching, monitoring, TLS."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace._src.core import errors
from headrace._src.core.lazy import LazyModule
from headrace._src.formats import files
from headrace._src.serving.batching import BatchingSettings
from headrace._src.serving.models import AVAILABLE, END, LOADING, START, UNLOADING, ModelSettings, VersionPolicy
from headrace._src.serving.request_log import LoggingSettings

_messages = LazyModule("headrace._src.formats.serving_messages")
_text_format = LazyModule("google.protobuf.text_format")

STATES = {START: 10, LOADING: 20, AVAILABLE: 30, UNLOADING: 40, END: 50}


def read_text(path: str, kind: Any) -> Any:
    """The message that a text file holds.

    Raises:
        NotFoundError: there is no such file.
        InvalidArgumentError: it holds something else; the message has the line.
    """
    text = files.read(path).decode("utf-8", "replace")
    try:
        return _text_format.Parse(text, kind())
    except _text_format.ParseError as error:
        raise errors.invalid_argument(f"{path}: {error}") from None


def read_models(path: str) -> list[ModelSettings]:
    """The models of a file with a `ModelServerConfig`."""
    return settings_of(read_text(path, _messages.ModelServerConfig))


def settings_of(message: Any) -> list[ModelSettings]:
    """The models of a `ModelServerConfig`.

    Raises:
        InvalidArgumentError: one lacks a name or a folder, or is of another platform.
    """
    if message.WhichOneof("config") != "model_config_list":
        raise errors.invalid_argument("A configuration of models must have a model_config_list.")
    found = []
    for one in message.model_config_list.config:
        if not one.name or not one.base_path:
            raise errors.invalid_argument(
                f"A model must have a name and a base_path, got {one.name!r}, {one.base_path!r}."
            )
        if one.model_platform not in ("", "tensorflow"):
            raise errors.invalid_argument(
                f"The model {one.name} is of the platform {one.model_platform!r}; this server has 'tensorflow' only."
            )
        found.append(ModelSettings(one.name, one.base_path, _policy(one), dict(one.version_labels), _logging(one)))
    return found


def _logging(message):
    if not message.HasField("logging_config"):
        return None
    prefix = message.logging_config.log_collector_config.filename_prefix
    if not prefix:
        raise errors.invalid_argument(f"The logging_config of {message.name} must have a filename_prefix.")
    return LoggingSettings(prefix, message.logging_config.sampling_config.sampling_rate)


def _policy(message):
    choice = message.model_version_policy.WhichOneof("policy_choice")
    policy = message.model_version_policy
    if choice == "all":
        return VersionPolicy("all")
    if choice == "specific":
        return VersionPolicy("specific", versions=tuple(policy.specific.versions))
    return VersionPolicy("latest", policy.latest.num_versions or 1)


def read_batching(path: str) -> BatchingSettings:
    """The settings of a file with `BatchingParameters`."""
    message = read_text(path, _messages.BatchingParameters)
    given = {
        name: getattr(message, name).value
        for name in ("max_batch_size", "batch_timeout_micros", "max_enqueued_batches", "num_batch_threads",
                     "enable_large_batch_splitting", "max_execution_batch_size")
        if message.HasField(name)
    }  # fmt: skip
    return BatchingSettings(allowed_batch_sizes=tuple(message.allowed_batch_sizes), **given)


def read_metrics_path(path: str) -> str | None:
    """Where Prometheus reads, by a file with a `MonitoringConfig`; None for nowhere."""
    message = read_text(path, _messages.MonitoringConfig).prometheus_config
    return (message.path or "/monitoring/prometheus/metrics") if message.enable else None


class TlsSettings(NamedTuple):
    """Keys and certificates, as PEM."""

    key: bytes
    certificate: bytes
    authority: bytes | None
    asks_clients: bool


def read_tls(path: str) -> TlsSettings:
    """The keys of a file with an `SSLConfig`.

    Raises:
        InvalidArgumentError: something is missing.
    """
    message = read_text(path, _messages.SSLConfig)
    if not message.server_key or not message.server_cert:
        raise errors.invalid_argument(f"{path}: server_key and server_cert must both be given.")
    if message.client_verify and not message.custom_ca:
        raise errors.invalid_argument(f"{path}: client_verify needs a custom_ca.")
    return TlsSettings(
        message.server_key.encode(), message.server_cert.encode(), message.custom_ca.encode() or None,
        message.client_verify,
    )  # fmt: skip
