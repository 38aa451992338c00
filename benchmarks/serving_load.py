"""Load for a server: connections that each send the next request when the last is answered."""

import asyncio
import re
import shutil
import subprocess
import tempfile
import time
from typing import NamedTuple

import grpc


class Load(NamedTuple):
    """What a server did: requests per second, two percentiles in milliseconds, and how many requests failed."""

    rate: float
    middle: float
    last: float
    failed: int

    def __str__(self):
        failed = f", {self.failed} FAILED" if self.failed else ""
        return f"{self.rate:8.0f}/s  p50 {self.middle:7.2f} ms  p99 {self.last:7.2f} ms{failed}"


def kind():
    """What makes the load."""
    return "wrk" if shutil.which("wrk") else "a client in Python"


def load(server, connections, seconds):
    """Ask a server.

    Args:
        server: has `port`, `path` and `body`.
        connections: how many.
        seconds: for how long.
    """
    if shutil.which("wrk"):
        return _with_wrk(server, connections, seconds)
    return asyncio.run(_with_python(server, connections, seconds))


def _with_wrk(server, connections, seconds):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script, tempfile.NamedTemporaryFile("wb") as body:
        body.write(server.body)
        body.flush()
        script.write(
            'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
            f'wrk.body = io.open("{body.name}", "rb"):read("*a")\n'
        )
        script.flush()
        text = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--latency", "--timeout", "60s", "-s",
             script.name, f"http://127.0.0.1:{server.port}{server.path}"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return Load(rate, _milliseconds(text, "50%"), _milliseconds(text, "99%"), int(failed[1]) if failed else 0)


def _milliseconds(text, part):
    number, unit = re.search(rf"\s{part}\s+([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def load_grpc(port, request, connections, seconds):
    """Ask a server over gRPC: calls at the same time over one connection, as clients of TensorFlow Serving have it.

    Args:
        port: of gRPC.
        request: an encoded `PredictRequest`.
        connections: how many calls.
        seconds: for how long.
    """
    return asyncio.run(_with_grpc(port, request, connections, seconds))


async def _with_grpc(port, request, connections, seconds):
    times, failed, end = [], 0, time.perf_counter() + seconds

    async def ask(call):
        nonlocal failed
        while time.perf_counter() < end:
            begun = time.perf_counter()
            try:
                await call(request)
            except grpc.aio.AioRpcError:
                failed += 1
            times.append(time.perf_counter() - begun)

    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
        await asyncio.gather(*(ask(call) for _ in range(connections)))
    return _summed(times, seconds, failed)


def _summed(times, seconds, failed):
    times = sorted(times)
    middle, last = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
    return Load(len(times) / seconds, middle * 1e3, last * 1e3, failed)


async def _with_python(server, connections, seconds):
    head = f"POST {server.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
    request = f"{head}{len(server.body)}\r\n\r\n".encode() + server.body
    times, failed, end = [], 0, time.perf_counter() + seconds

    async def ask():
        nonlocal failed
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        while time.perf_counter() < end:
            begun = time.perf_counter()
            writer.write(request)
            reply = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", reply)[1]))
            times.append(time.perf_counter() - begun)
            failed += b" 200 " not in reply[:16]
        writer.close()

    await asyncio.gather(*(ask() for _ in range(connections)))
    return _summed(times, seconds, failed)
