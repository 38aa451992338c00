"""Each flag, and each field of a configuration file, sets what it says."""

import dataclasses

import pytest

import headrace as tf
from headrace._src.serving import configuration
from headrace._src.serving.command import _parser, _settings

FLAGS = [
    ("--host=0.0.0.0", "host", "0.0.0.0"),
    ("--rest_api_port=1", "rest_port", 1),
    ("--rest_api_port=0", "rest_port", None),
    ("--port=2", "grpc_port", 2),
    ("--port=0", "grpc_port", None),
    ("--enable_batching", "batching", tf.serving.BatchingSettings()),
    ("--rest_api_timeout_in_ms=1500", "rest.timeout", 1.5),
    ("--rest_api_max_body_bytes=7", "rest.largest_body", 7),
    ("--rest_api_enable_cors_support=true", "rest.cors", True),
    ("--file_system_poll_wait_seconds=0.5", "poll_seconds", 0.5),
    ("--max_num_load_retries=3", "retries", 3),
    ("--load_retry_interval_micros=2000000", "retry_seconds", 2.0),
    ("--saved_model_tags=a,b", "tags", ("a", "b")),
    ("--enable_model_warmup=false", "warms_up", False),
    ("--num_request_iterations_for_warmup=4", "warm_up_times", 4),
    ("--allow_file_access", "allow_file_access", True),
    ("--allow_version_labels_for_unavailable_models=1", "labels_may_wait", True),
    ("--enable_grpc_healthcheck_service=yes", "has_health", True),
    ("--num_call_threads=9", "threads", 9),
    ("--grpc_channel_arguments=grpc.a=1,grpc.b=x", "channel_arguments", (("grpc.a", 1), ("grpc.b", "x"))),
    ("--grpc_socket_path=/s", "grpc_socket", "/s"),
    ("--enable_per_model_batching_parameters", "model_batching", True),
    ("--worker_folder=/f", "shared_folder", "/f"),
]


def value_at(settings, name):
    for part in name.split("."):
        settings = getattr(settings, part)
    return settings


@pytest.mark.parametrize(("flag", "field", "value"), FLAGS)
def test_flags(flag, field, value):
    parse = _parser("tensorflow_model_server").parse_args
    assert value_at(_settings(parse([flag])), field) == value
    if flag not in ("--rest_api_port=0", "--port=0"):
        default = value_at(_settings(parse([])), field)
        assert default != value or flag == "--rest_api_port=0"


def test_every_field_has_a_flag():
    # Files say these; tests of files are elsewhere.
    by_files = {"tls", "rest"}
    assert {field.partition(".")[0] for _, field, _ in FLAGS} | by_files == set(tf.serving.ServerSettings._fields)
    assert {field[5:] for _, field, _ in FLAGS if field.startswith("rest.")} | {"metrics_path"} == set(
        tf.serving.RestSettings._fields
    )


BATCHING = [
    ("max_batch_size { value: 5 }", "max_batch_size", 5),
    ("batch_timeout_micros { value: 7 }", "batch_timeout_micros", 7),
    ("max_enqueued_batches { value: 3 }", "max_enqueued_batches", 3),
    ("num_batch_threads { value: 2 }", "num_batch_threads", 2),
    ("allowed_batch_sizes: 10 allowed_batch_sizes: 1000", "allowed_batch_sizes", (10, 1000)),
    ("enable_large_batch_splitting { value: true }", "enable_large_batch_splitting", True),
    ("max_execution_batch_size { value: 6 }", "max_execution_batch_size", 6),
]


@pytest.mark.parametrize(("text", "field", "value"), BATCHING)
def test_batching(tmp_path, text, field, value):
    (tmp_path / "file").write_text(text)
    found = configuration.read_batching(str(tmp_path / "file"))
    assert getattr(found, field) == value
    rest = {one.name for one in dataclasses.fields(found)} - {field}
    assert all(getattr(found, name) == getattr(tf.serving.BatchingSettings(), name) for name in rest)


def test_every_field_of_batching_is_there():
    assert {field for _, field, _ in BATCHING} == {one.name for one in dataclasses.fields(tf.serving.BatchingSettings)}


MODELS = [
    ("", "name", "m"),
    ("", "base_path", "/m"),
    ("model_version_policy { latest { num_versions: 3 } }", "policy", tf.serving.VersionPolicy("latest", 3)),
    ('version_labels { key: "a" value: 4 }', "labels", {"a": 4}),
    (
        'logging_config { log_collector_config { filename_prefix: "/l" } sampling_config { sampling_rate: 1 } }',
        "logging", tf.serving.LoggingSettings("/l"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "field", "value"), MODELS)
def test_models(tmp_path, text, field, value):
    (tmp_path / "file").write_text(f'model_config_list {{ config {{ name: "m" base_path: "/m" {text} }} }}')
    (found,) = configuration.read_models(str(tmp_path / "file"))
    assert getattr(found, field) == value


def test_every_field_of_a_model_is_there():
    assert {field for _, field, _ in MODELS} == {one.name for one in dataclasses.fields(tf.serving.ModelSettings)}


@pytest.mark.parametrize(
    ("kind", "values", "wanted"),
    [("latest", {"count": 2}, [5, 3]), ("all", {}, [5, 3, 1]), ("specific", {"versions": (1, 3, 9)}, [3, 1])],
)
def test_policies(kind, values, wanted):
    assert tf.serving.VersionPolicy(kind, **values).wanted([1, 5, 3]) == wanted


@pytest.mark.parametrize("flag", ["--port=99999", "--rest_api_port=70000", "--port=-1", "--port=x"])
def test_ports_are_numbers_of_sixteen_bits(flag, capsys):
    with pytest.raises(SystemExit):
        _parser("headrace serve").parse_args(["--model_name=m", flag])
    assert flag.partition("=")[2] in capsys.readouterr().err
