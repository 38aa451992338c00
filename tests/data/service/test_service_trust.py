"""Whom the data service talks to, and what a pipeline from another program may do."""

import os
import socket
import stat
import struct
import types

import numpy as np
import pytest

import headrace as tf
from headrace._src import index
from headrace._src.data.saving import dataset_graphs, received_graphs
from headrace._src.data.service import credentials, messages
from headrace._src.formats.graph_messages import GraphDef
from headrace._src.graph.control import python_functions
from headrace._src.op.registry import lookup

service = tf.data.experimental.service
Dataset = tf.data.Dataset
SECONDS = 300
HEAD = struct.Struct("<4sIQ")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where secrets are, of this test only."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv(credentials.SECRET_VARIABLE, raising=False)
    return tmp_path / f"headrace-{os.getuid()}"


@pytest.fixture
def dispatcher(folder):
    server = service.DispatchServer()
    yield server
    server.stop()


def address_of(server):
    return server.target.partition("://")[2]


def connected(server):
    """A connection as a stranger has it."""
    one = socket.create_connection(("127.0.0.1", int(address_of(server).rpartition(":")[2])), SECONDS)
    one.settimeout(SECONDS)
    return one


def known(server):
    """A connection of somebody who knows the secret, from another program as it were."""
    one = connected(server)
    credentials.introduce(one, address_of(server))
    return one


def asked(connection, payload=b"", **fields):
    messages.send(connection, fields, payload)
    return messages.receive(connection)


# The secret.


def test_the_secret_is_in_a_file_of_the_user(dispatcher, folder):
    (path,) = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with known(dispatcher) as one:
        answer, _ = asked(one, kind="worker", address="localhost:1", process=1)
    assert answer == {"tasks": [], "streams": [], "is_kept": False}
    dispatcher.stop()
    assert list(folder.iterdir()) == []


def test_files_of_dispatchers_that_were_killed_go(folder):
    service.DispatchServer().stop()
    dead = folder / f"service-{'0' * 32}-{2**22 + 1}"  # more than there are processes
    dead.write_bytes(b"secret")
    alive = folder / f"service-{'1' * 32}-{os.getpid()}"
    alive.write_bytes(b"secret")
    service.DispatchServer().stop()
    assert list(folder.iterdir()) == [alive]


def test_strangers_are_not_answered(dispatcher):
    greeting = credentials._GREETING
    for reply in (b"", b"\0" * 64, b"GET / HTTP/1.0\r\n\r\n", os.urandom(64), os.urandom(200)):
        with connected(dispatcher) as one:
            assert one.recv(greeting.size, socket.MSG_WAITALL)[:4] == b"HDS2"
            try:
                one.sendall(reply)
                one.shutdown(socket.SHUT_WR)
                assert one.recv(100) == b""
            except OSError:
                pass  # it was closed with bytes unread


def test_a_reply_that_was_overheard_is_worth_nothing(dispatcher):
    with connected(dispatcher) as one, connected(dispatcher) as two:
        _, name, asked_one = credentials._GREETING.unpack(one.recv(52, socket.MSG_WAITALL))
        secret = credentials.Credentials.found(name, "here")
        reply = credentials._REPLY.pack(b"x" * 32, secret._signed(b"client", asked_one, b"x" * 32))
        two.recv(52, socket.MSG_WAITALL)
        two.sendall(reply)  # of the other connection
        assert two.recv(100) == b""
        one.sendall(reply)
        assert one.recv(32, socket.MSG_WAITALL) == secret._signed(b"server", b"x" * 32, asked_one)


def test_who_does_not_know_the_secret_is_told(dispatcher, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "elsewhere"))
    # By another name, so that it is not the server itself that is called.
    peer = messages.Peer(address_of(dispatcher).replace("localhost", "127.0.0.1"), "dispatcher")
    with pytest.raises(tf.errors.UnauthenticatedError, match=credentials.SECRET_VARIABLE):
        peer.call("tasks", iteration=1)
    monkeypatch.setenv(credentials.SECRET_VARIABLE, "guessed")
    with pytest.raises(tf.errors.UnauthenticatedError, match="another secret"):
        peer.call("tasks", iteration=1)


def test_a_secret_of_the_users_own(folder, monkeypatch):
    monkeypatch.setenv(credentials.SECRET_VARIABLE, "our secret")
    server = service.DispatchServer()
    assert not folder.exists()
    with known(server) as one:
        assert asked(one, kind="tasks", iteration=1)[0]["error"] == tf.errors.NOT_FOUND
    server.stop()


def test_servers_of_strangers_are_not_believed(dispatcher, folder):
    """Somebody else listens at the port, and says what can be heard there."""
    name = dispatcher._server.credentials.name
    for greeting, last in [
        (credentials._GREETING.pack(b"HDS2", name, b"x" * 32), os.urandom(32)),
        (credentials._GREETING.pack(b"HDS2", name, b"x" * 32), b""),
        (credentials._GREETING.pack(b"HDS2", b"n" * 16, b"x" * 32), os.urandom(32)),
        (os.urandom(52), b""),
    ]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            with socket.create_connection(listener.getsockname(), SECONDS) as one:
                other, _ = listener.accept()
                with other:
                    other.sendall(greeting + last)
                    other.shutdown(socket.SHUT_WR)
                    with pytest.raises(tf.errors.UnauthenticatedError):
                        credentials.introduce(one, "here")


def test_a_folder_that_is_not_private(folder):
    folder.mkdir(mode=0o755)
    os.chmod(folder, 0o755)
    with pytest.raises(tf.errors.FailedPreconditionError, match=credentials.SECRET_VARIABLE):
        service.DispatchServer()


def test_few_strangers_at_a_time(folder, monkeypatch):
    monkeypatch.setattr(messages, "_MOST_STRANGERS", 2)
    server = service.DispatchServer()
    with connected(server) as one, connected(server) as two:
        assert one.recv(52, socket.MSG_WAITALL)
        assert two.recv(52, socket.MSG_WAITALL)
        with connected(server) as three:
            assert three.recv(52) == b""
    for _ in range(1000):  # until it has seen that they have gone
        with connected(server) as four:
            if four.recv(52):
                break
    else:
        pytest.fail("nobody is admitted any more")
    server.stop()


def test_the_first_words_have_ten_seconds_altogether(monkeypatch):
    """A stranger who sends a byte at a time does not keep a place."""
    now = [0.0]

    class Slow:
        timeouts: list = []

        def settimeout(self, seconds):
            self.timeouts.append(seconds)

        def recv(self, size):
            now[0] += 4
            return b"x"

    monkeypatch.setattr(credentials, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    with pytest.raises(TimeoutError):
        credentials._exactly(Slow(), 64)
    assert Slow.timeouts == [10, 6, 2]


# Messages.


def test_bytes_that_are_no_messages(dispatcher):
    rng = np.random.default_rng(0)
    attacks = [
        b"GET / HTTP/1.0\r\n\r\n", HEAD.pack(b"HDS2", 1 << 31, 0), HEAD.pack(b"HDS2", 3, 0) + b"[1]",
        HEAD.pack(b"HDS2", 6, 0) + b"{}{}{}", HEAD.pack(b"HDS2", 4000, 0) + b"[" * 4000,
        *[rng.bytes(40) for _ in range(20)],
    ]  # fmt: skip
    for attack in attacks:
        with known(dispatcher) as one:
            try:
                one.sendall(attack)
                one.shutdown(socket.SHUT_WR)
                assert one.recv(100) == b""
            except OSError:
                pass  # it was closed with bytes unread


NUMBER = {"kind": "tasks", "iteration": 1}
ITERATION = dict(kind="iteration", dataset_id="1", mode=0, job_name="", repetition=0, consumers=0, cached=False)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"kind": "nothing"}, tf.errors.UNIMPLEMENTED),
        ({"kind": 3}, tf.errors.UNIMPLEMENTED),
        ({}, tf.errors.UNIMPLEMENTED),
        ({"kind": "handle"}, tf.errors.UNIMPLEMENTED),
        ({"kind": "tasks"}, tf.errors.INVALID_ARGUMENT),
        ({**NUMBER, "iteration": "x"}, tf.errors.INVALID_ARGUMENT),
        ({**NUMBER, "iteration": [1]}, tf.errors.INVALID_ARGUMENT),
        ({**NUMBER, "iteration": True}, tf.errors.INVALID_ARGUMENT),
        ({**NUMBER, "iteration": 1.5}, tf.errors.INVALID_ARGUMENT),
        ({**NUMBER, "more": 1}, tf.errors.INVALID_ARGUMENT),
        (NUMBER, tf.errors.NOT_FOUND),
        (ITERATION, tf.errors.NOT_FOUND),
        ({"kind": "register", "dataset_id": None, "spec": "xyz", "cardinality": 1}, tf.errors.INVALID_ARGUMENT),
        ({"kind": "register", "dataset_id": 3, "spec": None, "cardinality": 1}, tf.errors.INVALID_ARGUMENT),
        ({"kind": "split", "iteration": 1, "source": 0, "walk": 0, "size": None}, tf.errors.INVALID_ARGUMENT),
    ],
)
def test_wrong_messages(dispatcher, fields, code):
    with known(dispatcher) as one:
        assert asked(one, **fields)[0]["error"] == code
        assert asked(one, **NUMBER)[0]["error"] == tf.errors.NOT_FOUND  # and the server goes on


def test_wrong_messages_to_workers(dispatcher):
    worker = service.WorkerServer(service.WorkerConfig(address_of(dispatcher)))
    dataset = Dataset.range(3).repeat()
    read = dataset.apply(
        service.distribute("parallel_epochs", dispatcher.target, job_name="a", consumer_index=0, num_consumers=2)
    )
    iterator = iter(read)
    assert int(next(iterator)) == 0
    (task,) = dispatcher._server._state.task_of
    port = int(worker._address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), SECONDS) as one:
        credentials.introduce(one, "the worker")
        for wrong in ({"consumer": 2, "round": 0}, {"consumer": -1, "round": 0}, {"consumer": 0, "round": -1}, {},
                      {"consumer": "x", "round": 0}, {"task": None}, {"kind": "tasks"}):  # fmt: skip
            answer, _ = asked(one, **{"kind": "element", "task": task, **wrong})
            assert answer["error"] in (tf.errors.INVALID_ARGUMENT, tf.errors.UNIMPLEMENTED)
        answer, payload = asked(one, kind="element", task=task, consumer=1, round=0)
        assert not answer["end"]
        assert payload
    del iterator
    worker.stop()


def test_messages_have_a_limit(dispatcher, monkeypatch):
    with known(dispatcher) as one:
        one.sendall(HEAD.pack(b"HDS2", 2, 1 << 60) + b"{}")
        answer, _ = messages.receive(one)
        assert answer["error"] == tf.errors.RESOURCE_EXHAUSTED
        assert messages.LIMIT_VARIABLE in answer["message"]
    monkeypatch.setenv(messages.LIMIT_VARIABLE, "1000")
    with known(dispatcher) as one:
        with pytest.raises(tf.errors.ResourceExhaustedError, match=f"1001 bytes.*1000.*{messages.LIMIT_VARIABLE}"):
            messages.send(one, {}, b"x" * 1001)
    monkeypatch.setenv(messages.LIMIT_VARIABLE, "many")
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of bytes"):
        messages.largest_message()


def test_datasets_of_another_dispatcher_are_not_confused(folder):
    first = service.DispatchServer()
    number = service.register_dataset(first.target, Dataset.range(3)).numpy()
    first.stop()
    second = service.DispatchServer()
    assert service.register_dataset(second.target, Dataset.range(3)).numpy() != number
    second.stop()


# What pipelines may do.


def graph_of(body, *nodes):
    """The bytes of a pipeline with further operations, in the graph or in a function of it."""
    data = dataset_graphs.encoded(Dataset.range(3).map(lambda x: x + 1).stage)
    size, count = dataset_graphs._SIZES.unpack_from(data)
    start = dataset_graphs._SIZES.size
    message = GraphDef.FromString(data[start : start + size])
    place = message.node if body == "graph" else message.library.function[0].node_def
    for node in nodes:
        place.add().CopyFrom(node)
    text = message.SerializeToString()
    return dataset_graphs._SIZES.pack(len(text), count) + text + data[start + size :]


def node_of(make):
    """The operations that a function makes."""
    with tf.Graph().as_default() as graph:
        make()
    return list(graph.as_graph_def().node)


@pytest.mark.parametrize("body", ["graph", "function"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.io.write_file("/nowhere/x", "y"),
        lambda: tf.print("x", output_stream="file:///nowhere/x"),
        lambda: tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name="v"),
        lambda: tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="t"),
        lambda: tf.raw_ops.FIFOQueueV2(component_types=[tf.int64]),
        lambda: tf.py_function(lambda: None, [], []),
        lambda: tf.numpy_function(lambda: np.int64(1), [], tf.int64),
        lambda: tf.numpy_function(lambda: np.int64(1), [], tf.int64, stateful=False),
    ],
)
def test_what_pipelines_of_others_may_not_do(make, body):
    with pytest.raises(tf.errors.PermissionDeniedError, match="is refused"):
        dataset_graphs.decoded(graph_of(body, *node_of(make)))


def test_a_python_function_is_not_called_by_its_token():
    called = []
    with tf.Graph().as_default() as graph:
        tf.py_function(lambda: called.append(1), [], [])
    (node,) = graph.as_graph_def().node
    assert python_functions._PROCESS in node.attr["token"].s.decode()  # the right one, which a file may have
    with pytest.raises(tf.errors.PermissionDeniedError, match="calls a Python function"):
        dataset_graphs.decoded(graph_of("graph", node))
    assert not called


@pytest.mark.parametrize("guess", ["pyfunc_0", "pyfunc_0_0000000000000000", "", "generator_0"])
def test_guessed_tokens_name_nothing(guess):
    with tf.Graph().as_default() as graph:
        tf.py_function(lambda: 1, [], tf.int64, name="call")
    message = graph.as_graph_def()
    message.node[0].attr["token"].s = guess.encode()
    imported = tf.compat.v1.wrap_function(
        lambda: tf.import_graph_def(message, return_elements=["call:0"])[0], []
    )
    with pytest.raises(tf.errors.PermissionDeniedError, match="this process did not make"):
        imported()


def test_the_sender_is_told_as_well():
    dataset = Dataset.range(3).map(lambda x: (tf.io.write_file("/nowhere/x", "y"), x)[1])
    with pytest.raises(tf.errors.UnimplementedError, match=r"(?s)cannot be sent.*WriteFile"):
        dataset_graphs.encoded(dataset.stage)


def test_what_pipelines_of_others_may_do(tmp_path):
    (tmp_path / "lines").write_text("a\nb\n")
    for dataset in (
        Dataset.list_files(str(tmp_path / "*")).flat_map(tf.data.TextLineDataset),
        Dataset.range(3).map(lambda x: tf.random.uniform([]) + tf.cast(x, tf.float32)),
        Dataset.range(3).map(lambda x: tf.io.read_file(str(tmp_path / "lines"))),
        Dataset.range(3).cache(str(tmp_path / "cache")),
        Dataset.range(3).snapshot(str(tmp_path / "snapshot")),
        Dataset.range(3).map(lambda x: tf.cond(x > 1, lambda: x, lambda: -x)).shuffle(3),
    ):
        stage = dataset_graphs.decoded(dataset_graphs.encoded(dataset.stage))
        assert stage.cardinality() == dataset.stage.cardinality()


def test_the_rule_knows_every_op():
    assert received_graphs._ALLOWED <= index.OPS.keys()
    allowed = {name for name in index.OPS if received_graphs._refusal_of(_named(name)) is None}
    effects = {name for name in index.OPS if lookup(name).stateful}
    assert not allowed & {"WriteFile", "SaveV2", "SaveDatasetV2", "EagerPyFunc", "PyFuncStateless", "XlaCallModule"}
    assert allowed & effects >= {"ReadFile", "TFRecordDatasetV2", "TensorSliceDataset", "RandomUniform"}


def _named(name):
    message = GraphDef()
    message.node.add(op=name, name="x")
    return message.node[0]
