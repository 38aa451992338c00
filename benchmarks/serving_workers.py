"""What each process of `headrace serve --workers` adds to memory, for a model of 500 MB.

    python benchmarks/serving_workers.py [--megabytes 500] [--few 2] [--many 4] [--record]

Serves the model with few and with many processes, asks until all have answered compiled, and adds up the memory of all
processes, shared pages divided among those that share them (Pss). The processes that compile are listed, and not
added: they end by themselves when there is nothing to compile. --record writes serving_workers_results.txt beside
this file.
"""

import argparse
import datetime
import json
import pathlib
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import headrace as tf

RESULT = pathlib.Path(__file__).resolve().parent / "serving_workers_results.txt"
_LAYERS = 8
_REQUESTS = 120


def save(path, megabytes):
    """A network of square matrices, of so many megabytes; the side of the matrices."""
    side = int((megabytes * 1e6 / 4 / _LAYERS) ** 0.5)
    model = tf.Module()
    model.weights = [tf.Variable(tf.random.normal([side, side]) / side**0.5) for _ in range(_LAYERS)]

    @tf.function(input_signature=[tf.TensorSpec([None, side], tf.float32, name="x")])
    def call(x):
        for weight in model.weights:
            x = tf.matmul(tf.tanh(x) * 1.5 + tf.exp(-x * x), weight)  # enough to be compiled
        return {"y": x[:, :4]}

    tf.saved_model.save(model, path, signatures=call)
    return side


def is_compiling(process):
    """Whether a process is one that compiles for another."""
    return "compiling.worker" in pathlib.Path(f"/proc/{process}/cmdline").read_text()


def processes(process):
    """A process and those that it has started."""
    found, waiting = [], [process]
    while waiting:
        one = waiting.pop()
        found.append(one)
        for path in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
            waiting += map(int, path.read_text().split())
    return found


def memory_of(process):
    """(Megabytes that a process shares in part, megabytes that it has alone): Pss and the private ones."""
    try:
        text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:  # it has ended
        return 0.0, 0.0
    found = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in text.splitlines()[1:]}
    return found["Pss"], found["Private_Clean"] + found["Private_Dirty"]


def megabytes_of(process):
    """The memory of a server's processes, shared pages divided among those that share them."""
    return sum(memory_of(one)[0] for one in processes(process) if not is_compiling(one))


def described(process):
    """A line about each process of a server."""
    for one in processes(process):
        words = pathlib.Path(f"/proc/{one}/cmdline").read_text().split("\0")
        what = next((word for word in words if word.startswith("--worker_number")), " ".join(words[:4])[-60:])
        shared, private = memory_of(one)
        print(f"  {one} {what}: Pss {shared:.0f} MB, its own {private:.0f} MB", flush=True)


def measure(base, side, count):
    """The memory of a server with so many processes, in megabytes."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "headrace", "serve", "--model_name=m", f"--model_base_path={base}", "--port=0",
               f"--rest_api_port={port}", f"--workers={count}"]  # fmt: skip
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            if "REST at" in line:
                break
        body = json.dumps({"instances": [[0.5] * side]}).encode()
        for number in range(_REQUESTS * count):  # each on a connection of its own, which any process may get
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models/m:predict", body, timeout=300) as reply:
                reply.read()
            if number == _REQUESTS * count // 2:
                time.sleep(5)  # programs are compiled meanwhile
        found = [megabytes_of(server.pid)]
        while len(found) < 3 or max(found[-3:]) - min(found[-3:]) > 5:
            time.sleep(1)
            found.append(megabytes_of(server.pid))
        described(server.pid)
        return found[-1]
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--few", type=int, default=2)
    parser.add_argument("--many", type=int, default=4)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        side = save(f"{folder}/1", options.megabytes)
        few, many = (measure(folder, side, count) for count in (options.few, options.many))
    added = (many - few) / (options.many - options.few)
    text = (
        f"{datetime.date.today()}, headrace {tf.__version__}, Python {platform.python_version()}: a model of "
        f"{options.megabytes} MB takes {few:.0f} MB with {options.few} processes, {many:.0f} MB with {options.many}: "
        f"each adds {added:.0f} MB, {added / options.megabytes:.0%} of the model"
    )
    print(text)
    if options.record:
        RESULT.write_text(text + "\n")
    return int(added > 0.2 * options.megabytes)


if __name__ == "__main__":
    sys.exit(main())
