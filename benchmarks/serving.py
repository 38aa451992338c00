"""Requests per second of `headrace serve`, beside LitServe with TensorFlow inside and mosec with headrace inside.

    python benchmarks/serving.py [--models mlp,cnn,image] [--servers headrace,litserve,mosec] [--seconds 3] [--rounds 1]
        [--connections 1,16,64] [--litserve "PYTHON [FOLDER]"] [--mosec PYTHON] [--switch] [--grpc] [--record]

The servers serve the same SavedModel, one after another in each round; those that are not measured are stopped
meanwhile. Load comes from `wrk` if that is installed, otherwise from a client in Python, which takes more of the
processor away. --switch measures headrace alone: the 99th percentile while a new version takes over every second,
beside that without. --grpc asks headrace by a client of gRPC, in Python. --litserve names a Python with TensorFlow and
LitServe (and a folder for its path); --mosec one with headrace and mosec. --record adds to
benchmarks/serving_results.txt.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import numpy as np
import serving_load

import headrace as tf
from headrace._src.formats import serving_messages as messages

HERE = pathlib.Path(__file__).resolve().parent
RESULT = HERE / "serving_results.txt"
SHAPES = {"mlp": (784,), "cnn": (28, 28, 1), "image": (224, 224, 3)}
_DIGITS = 4  # of the numbers in bodies, as of pictures that were divided by 255


def _layers(name):
    keras = tf.keras
    if name == "mlp":
        return [keras.layers.Dense(256, activation="relu"), keras.layers.Dense(10, activation="softmax")]
    first = [keras.layers.Conv2D(16, 7, strides=4, activation="relu")] if name == "image" else []
    return [
        *first, keras.layers.Conv2D(16, 3, activation="relu"), keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, activation="relu"), keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(10, activation="softmax"),
    ]  # fmt: skip


def save(name, path):
    """A SavedModel."""
    model = tf.keras.Sequential([tf.keras.Input(SHAPES[name]), *_layers(name)])
    model.export(path, verbose=False)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Served:
    """A server, in a group of processes of its own.

    Args:
        name: of the server.
        command: what starts it.
        path: what is asked.
        body: what is sent.
        environment: for it.
    """

    def __init__(self, name, command, port, path, body, environment=None):
        self.name, self.port, self.path, self.body = name, port, path, body
        self._process = subprocess.Popen(
            command, start_new_session=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 120
        while True:
            try:
                self.ask()
                break
            except OSError as error:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{name} does not answer: {error}") from None
                time.sleep(0.2)
        for _ in range(60):  # compiled, and its caches filled
            self.ask()

    def ask(self):
        """One request."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{self.path}", self.body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read())

    def send(self, number):
        """A signal to all of its processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def end(self):
        """End them all."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self.send(signal.SIGKILL)


def start(name, base, body_of, options):
    """A server of a name."""
    port, rpc = free_port(), free_port()
    rows = {"instances": body_of}
    if name == "headrace":
        batching = pathlib.Path(base) / "batching"
        batching.write_text(
            "max_batch_size { value: 16 } allowed_batch_sizes: [1, 2, 4, 8, 16] num_batch_threads { value: 1 }"
        )
        command = [sys.executable, "-m", "headrace", "serve", "--model_name=m", f"--model_base_path={base}",
                   f"--port={rpc}", f"--rest_api_port={port}", "--file_system_poll_wait_seconds=0.2",
                   *options.flags.split()]  # fmt: skip
        if options.batching:
            command += ["--enable_batching", f"--batching_parameters_file={batching}"]
        served = Served(name, command, port, "/v1/models/m:predict", json.dumps(rows).encode())
        served.rpc = rpc
        return served
    body = json.dumps(rows).encode()
    if name == "litserve":
        python, _, folder = options.litserve.partition(" ")
        command = [python, str(HERE / "serving_peers" / "litserve_app.py"), f"{base}/1", str(port)]
        return Served(name, command, port, "/predict", body, {"PYTHONPATH": folder, "PATH": "/usr/bin:/bin"})
    command = [options.mosec, str(HERE / "serving_peers" / "mosec_app.py"), "--port", str(port)]
    environment = {**os.environ, "SERVED_MODEL": f"{base}/1"}
    return Served(name, command, port, "/inference", body, environment)


def measure(name, options):
    """Lines about a model."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        save(name, f"{folder}/m/1")
        row = np.round(np.random.default_rng(0).random(SHAPES[name]), _DIGITS).tolist()
        servers = []
        try:
            for server in options.servers:
                servers.append(start(server, f"{folder}/m", [row], options))
                servers[-1].send(signal.SIGSTOP)
            for count in options.connections:
                found = {server.name: [] for server in servers}
                for _ in range(options.rounds):
                    for server in servers:
                        server.send(signal.SIGCONT)
                        found[server.name].append(serving_load.load(server, count, options.seconds))
                        server.send(signal.SIGSTOP)
                for server in servers:
                    best = max(found[server.name], key=lambda one: one.rate)
                    lines.append(f"{name:6s} {count:3d} connections  {server.name:9s} {best}")
                    print(lines[-1], flush=True)
        finally:
            for server in servers:
                server.end()
    return lines


def measure_grpc(name, options):
    """Lines about headrace over gRPC."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        save(name, f"{folder}/m/1")
        row = np.round(np.random.default_rng(0).random(SHAPES[name]), _DIGITS).astype(np.float32)
        server = start("headrace", f"{folder}/m", [row.tolist()], options)
        request = messages.PredictRequest()
        request.model_spec.name = "m"
        (given,) = tf.saved_model.load(f"{folder}/m/1").signatures["serving_default"].structured_input_signature[1]
        request.inputs[given] = tf.make_tensor_proto(row[np.newaxis]).SerializeToString()
        try:
            for count in options.connections:
                found = serving_load.load_grpc(server.rpc, request.SerializeToString(), count, options.seconds)
                lines.append(f"{name:6s} {count:3d} calls at once over gRPC  headrace {found}")
                print(lines[-1], flush=True)
        finally:
            server.end()
    return lines


def switch(name, options):
    """The 99th percentile while versions change, and while they do not."""
    with tempfile.TemporaryDirectory() as folder:
        save(name, f"{folder}/m/1")
        row = np.round(np.random.default_rng(0).random(SHAPES[name]), _DIGITS).tolist()
        server = start("headrace", f"{folder}/m", [row], options)
        ended = threading.Event()

        def add():
            number = 1
            while not ended.wait(1.0):
                number += 1
                shutil.copytree(f"{folder}/m/1", f"{folder}/new")
                pathlib.Path(f"{folder}/new").rename(f"{folder}/m/{number}")

        try:
            lines = []
            for count in options.connections:
                plain = serving_load.load(server, count, options.seconds)
                ended.clear()
                thread = threading.Thread(target=add)
                thread.start()
                during = serving_load.load(server, count, options.seconds)
                ended.set()
                thread.join()
                for path in pathlib.Path(f"{folder}/m").iterdir():
                    if path.name not in ("1", "batching"):
                        shutil.rmtree(path)
                ratio = during.last / plain.last
                lines.append(f"{name:6s} {count:3d} connections  without {plain}; with a version each second {during}; "
                             f"p99 {ratio:.2f} times")  # fmt: skip
                print(lines[-1], flush=True)
                time.sleep(1)
        finally:
            server.end()
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="mlp,cnn,image")
    parser.add_argument("--servers", default="headrace,litserve,mosec")
    parser.add_argument("--connections", default="1,16,64")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--litserve", default="python3")
    parser.add_argument("--mosec", default=sys.executable)
    parser.add_argument("--flags", default="", help="further flags of headrace serve")
    parser.add_argument("--batching", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--switch", action="store_true")
    parser.add_argument("--grpc", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    options.servers = options.servers.split(",")
    options.connections = [int(count) for count in options.connections.split(",")]
    lines = [f"{datetime.date.today()}, headrace {tf.__version__}, Python {platform.python_version()}, load from "
             f"{serving_load.kind()}, {options.seconds} s each"]  # fmt: skip
    for name in options.models.split(","):
        kind = switch if options.switch else measure_grpc if options.grpc else measure
        lines += kind(name, options)
    if options.record:
        with open(RESULT, "a") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
