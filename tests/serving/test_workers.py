"""`headrace serve --workers`: processes that serve together."""

import os
import re
import signal
import subprocess
import sys

import pytest
from hostile_requests import free_port
from served_models import asked, save

from headrace._src.serving.command import main


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--workers=0"], "--workers must be positive"),
        (["--workers=2", "--grpc_socket_path=/tmp/s"], "--grpc_socket_path is for one process"),
    ],
)
def test_what_cannot_begin(arguments, text, capsys):
    assert main(["--model_base_path=/x", "--port=8500", *arguments]) == 1
    assert text in capsys.readouterr().err


def until(process, pattern):
    """What a process says, up to a line with a pattern."""
    seen = ""
    for line in process.stderr:
        seen += line
        if re.search(pattern, line):
            return seen
    raise AssertionError(seen)


@pytest.mark.slow
def test_several_processes(tmp_path):
    save(tmp_path / "models", 1)
    (tmp_path / "memory").mkdir()
    config = tmp_path / "monitoring"
    config.write_text("prometheus_config { enable: true }")
    port = free_port()
    command = [sys.executable, "-m", "headrace", "serve", "--model_name=m", f"--model_base_path={tmp_path / 'models'}",
               "--port=0", f"--rest_api_port={port}", "--workers=2", f"--monitoring_config_file={config}",
               f"--shared_memory_folder={tmp_path / 'memory'}"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        until(process, "REST at")
        url = f"http://127.0.0.1:{port}"
        (folder,) = (tmp_path / "memory").iterdir()
        workers = {int(path.read_text()) for path in folder.glob("*.up")}
        assert len(workers) == 2
        for _ in range(20):
            assert asked(f"{url}/v1/models/m:predict", {"instances": [[1, 2]]})[0] == 200
        assert main(["--model_base_path=/x", "--port=0", f"--rest_api_port={port}", "--workers=2"]) == 1
        os.kill(min(workers), signal.SIGKILL)
        assert "was ended by SIGKILL; it is started again" in until(process, "started again")
        until(process, "is available")
        assert asked(f"{url}/v1/models/m:predict", {"instances": [[1, 2]]})[0] == 200
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 0
    assert not list((tmp_path / "memory").iterdir())


@pytest.mark.slow
def test_a_process_that_cannot_begin_ends_all(tmp_path):
    command = [sys.executable, "-m", "headrace", "serve", "--model_base_path=/x", "--port=0",
               f"--rest_api_port={free_port()}", "--workers=2", "--host=999.0.0.1"]  # fmt: skip
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "999.0.0.1" in found.stderr
