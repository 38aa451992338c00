"""Profiles that another process asks for."""

import glob
import os
import socket
import threading

import pytest
from profiles import events_of

import headrace as tf
from headrace._src.formats.profile_messages import XSpace
from headrace._src.profiler import service

pytest.importorskip("grpc", reason="grpcio is not installed")
client, server = tf.profiler.experimental.client, tf.profiler.experimental.server


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def address():
    port = free_port()
    server.start(port)
    server.start(port)  # once is enough
    yield f"127.0.0.1:{port}"
    service._servers.pop(port).stop(None).wait()


@pytest.fixture
def working():
    """Something that runs all the time, in another thread."""
    end = threading.Event()

    def work():
        x = tf.ones([4, 4])
        while not end.wait(0.001):
            x = tf.tanh(tf.matmul(x, x))

    thread = threading.Thread(target=work)
    thread.start()
    yield
    end.set()
    thread.join()


def test_a_profile(address, working, tmp_path):
    client.trace(f"grpc://{address}", str(tmp_path), duration_ms=50)
    (path,) = glob.glob(f"{tmp_path}/plugins/profile/*/*.xplane.pb")
    assert os.path.basename(path) == f"{address.replace(':', '_')}.xplane.pb"
    with open(path, "rb") as file:
        names = {event.name for event in events_of(XSpace.FromString(file.read()))}
    assert "MatMul" in " ".join(names)


def test_some_servers_are_enough(address, working, tmp_path, caplog):
    client.trace(address, str(tmp_path), 20, worker_list=f"127.0.0.1:{free_port()}")
    assert len(glob.glob(f"{tmp_path}/plugins/profile/*/*.xplane.pb")) == 1
    assert "UNAVAILABLE" in caplog.text


def test_while_another_is_recorded(address, tmp_path):
    with tf.profiler.experimental.Profile(str(tmp_path / "other")):
        with pytest.raises(tf.errors.UnavailableError, match="ALREADY_EXISTS: Another profiler is running"):
            client.trace(address, str(tmp_path), 20, num_tracing_attempts=1)


def test_a_folder_that_cannot_be_written_to(address, working, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.UnavailableError, match="INTERNAL: The profile cannot be written to"):
        client.trace(address, str(tmp_path / "file"), 20, num_tracing_attempts=1)


@pytest.mark.parametrize("kind", [RuntimeError, tf.errors.UnavailableError])
def test_nobody_is_there(kind, tmp_path):
    with pytest.raises(kind, match=r"No trace event was collected .* after 2 attempt\(s\). 127.0.0.1:\d+: UNAVAILABLE"):
        client.trace(f"grpc://127.0.0.1:{free_port()}", str(tmp_path), 10, num_tracing_attempts=2)


@pytest.mark.parametrize("text", ["", "localhost", "grpc://localhost", "localhost:port", "a:1,,b:2"])
def test_what_is_no_address(text, tmp_path):
    with pytest.raises(RuntimeError, match="as a host-port pair"):
        client.trace(text, str(tmp_path), 10)


def test_no_duration(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="duration_ms must be greater than zero"):
        client.trace("localhost:1", str(tmp_path), 0)


def test_there_is_nothing_to_monitor(address):
    with pytest.raises(RuntimeError, match="UNIMPLEMENTED"):
        client.monitor(address, 10)


def test_a_port_that_is_taken():
    with socket.socket() as other:
        other.bind(("0.0.0.0", 0))
        other.listen()
        with pytest.raises(RuntimeError, match="cannot be used; take another one"):
            server.start(other.getsockname()[1])


def test_without_grpc(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(service.importlib, "import_module", missing)
    with pytest.raises(ImportError, match="pip install grpcio"):
        server.start(1)
