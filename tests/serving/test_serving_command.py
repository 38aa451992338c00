"""`headrace serve` and `tensorflow_model_server`: flags, files, and a server as a program."""

import re
import signal
import socket
import subprocess
import sys

import pytest
from served_models import asked, save

import headrace as tf
from headrace._src.serving import configuration
from headrace._src.serving.command import main


def test_configuration_of_models(tmp_path):
    path = tmp_path / "models.config"
    path.write_text("""
        model_config_list {
          config { name: "a" base_path: "/a" model_platform: "tensorflow"
                   model_version_policy { specific { versions: 4 versions: 5 } }
                   version_labels { key: "stable" value: 4 } }
          config { name: "b" base_path: "/b" model_version_policy { latest { num_versions: 2 } } }
          config { name: "c" base_path: "/c" model_version_policy { all {} } }
          config { name: "d" base_path: "/d" }
        }""")
    found = configuration.read_models(str(path))
    assert [(one.policy.kind, one.policy.count, one.policy.versions) for one in found] == [
        ("specific", 1, (4, 5)), ("latest", 2, ()), ("all", 1, ()), ("latest", 1, ()),
    ]  # fmt: skip
    assert found[0].labels == {"stable": 4}
    for text, problem in (("model_config_list { config { nam", "models.config"), ("", "model_config_list"),
                          ('model_config_list { config { name: "a" } }', "base_path")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(tf.errors.InvalidArgumentError, match=problem):
            configuration.read_models(str(path))


def test_other_configuration(tmp_path):
    path = tmp_path / "file"
    path.write_text("max_batch_size { value: 8 } batch_timeout_micros { value: 100 } allowed_batch_sizes: [4, 8]")
    found = configuration.read_batching(str(path))
    assert (found.max_batch_size, found.batch_timeout_micros, found.allowed_batch_sizes) == (8, 100, (4, 8))
    path.write_text("prometheus_config { enable: true }")
    assert configuration.read_metrics_path(str(path)) == "/monitoring/prometheus/metrics"
    path.write_text('prometheus_config { enable: true path: "/m" }')
    assert configuration.read_metrics_path(str(path)) == "/m"
    path.write_text('server_key: "k"')
    with pytest.raises(tf.errors.InvalidArgumentError, match="server_cert"):
        configuration.read_tls(str(path))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "--model_base_path"),
        (["--model_base_path=/x", "--port=0"], "neither"),
        (["--model_base_path=/x", "--batching_parameters_file=/y"], "--enable_batching"),
        (["--model_config_file=/nowhere"], "/nowhere"),
        (["--model_base_path=/x", "--grpc_channel_arguments=a"], "name=value"),
    ],
)
def test_what_cannot_begin(arguments, text, capsys):
    assert main(arguments) == 1
    assert text in capsys.readouterr().err


@pytest.mark.slow
def test_a_server_is_a_program(tmp_path):
    save(tmp_path, 1)
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "headrace", "serve", "--model_name=m", f"--model_base_path={tmp_path}",
               "--port=0", f"--rest_api_port={port}", "--enable_batching",
               "--tensorflow_session_parallelism=2"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    seen = ""
    for line in process.stderr:
        seen += line
        if "REST at" in line:
            break
    url = re.search(r"REST at (\S+)", seen)[1]
    assert "--tensorflow_session_parallelism has no effect" in seen
    assert asked(f"{url}/v1/models/m:predict", {"instances": [[1, 2]]})[0] == 200
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 0
