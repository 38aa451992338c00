"""`headrace launch`: start the same program once for each worker, on this machine or on those of a list."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import re
import secrets
import shlex
import socket
import subprocess
import sys
import threading
import time

from headrace._src.core import operating_system

SECRET = "HEADRACE_SECRET"
# Variables of this environment that workers on other machines get as well.
_PASSED_ON = ("HEADRACE_", "TF_", "KERAS_", "JAX_", "XLA_", "OMP_", "PYTHONUNBUFFERED", "PYTHONPATH", "LANG", "LC_ALL")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LAST_SECONDS = 10.0  # between asking workers to end and ending them
_INTERRUPTED = 130


class _Worker:
    """A process of the training: what starts it, and what prints its lines."""

    def __init__(self, number, command, environment, secret):
        self.number = number
        self._is_elsewhere = environment is None  # the process is what reaches it
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
            **operating_system.in_the_background(0),
        )  # fmt: skip
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(secret.encode() + b"\n")
            self.process.stdin.flush()

    def print_lines(self, ended, lock):
        """Print what the worker prints, each line with its number, until it ends."""
        for line in self.process.stdout:
            with lock:
                sys.stdout.buffer.write(b"[%d] %s" % (self.number, line if line.endswith(b"\n") else line + b"\n"))
                sys.stdout.buffer.flush()
        self.process.wait()
        ended.put(self)

    def end(self, interrupted):
        """Ask the worker to end: as Ctrl-C does, or as the system does.

        A worker is interrupted once: one on this machine by the signal, one on another machine by the end of its input.
        """
        if self.process.poll() is None and not (interrupted and self._is_elsewhere):
            with contextlib.suppress(ProcessLookupError):
                operating_system.interrupt_process(self.process) if interrupted else self.process.terminate()
        if self._is_elsewhere or not interrupted:
            with contextlib.suppress(OSError):
                self.process.stdin.close()


def _free_ports(count):
    """Ports of this machine that nobody listens at now."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def read_hosts(path: str) -> list[tuple[str, str]]:
    """The hosts that a file names, as (what the remote command gets, address of the worker).

    A line is `host`, `host:port` or `user@host slots=2`; the first worker of a host has the port 2222 unless it says
    another one, the next ones the next ports. What follows a `#` is a comment.

    Raises:
        SystemExit: a line is something else.
    """
    found: list[tuple[str, str]] = []
    used: dict[str, int] = {}
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"headrace launch: the file of hosts cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        match = re.fullmatch(r"((?:[\w.-]+@)?)([\w.-]+)(?::(\d+))?(?:\s+slots=(\d+))?", text)
        if match is None or match[2].startswith("-"):
            raise SystemExit(f"headrace launch: line {number} of {path} is no host such as `host:2222 slots=2`: {text}")
        host = match[2]
        for _ in range(int(match[4] or 1)):
            port = used[host] + 1 if host in used else int(match[3] or 2222)
            used[host] = port
            found.append((match[1] + host, f"{host}:{port}"))
    if not found:
        raise SystemExit(f"headrace launch: {path} names no host.")
    return found


def _config(addresses, number):
    return json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": number}})


def _program(options):
    """The arguments of Python that run the script as a worker."""
    return ["-m", "headrace", "run", "--worker", *(["-m"] if options.is_module else []), options.script,
            *options.arguments]  # fmt: skip


def _start_here(options, secret):
    addresses = [f"127.0.0.1:{port}" for port in _free_ports(options.n)]
    workers = []
    for number in range(options.n):
        environment = {**os.environ, "TF_CONFIG": _config(addresses, number), "PYTHONUNBUFFERED": "1"}
        environment.pop(SECRET, None)
        if options.pin:
            environment["HEADRACE_PINNED"] = str(number)
        workers.append(_Worker(number, [sys.executable, *_program(options)], environment, secret))
    return workers


def remote_command(options, target: str, config: str) -> list[str]:
    """What is started for a worker on another machine. The secret is no part of it: others there could read it."""
    names = {name for name in os.environ if name.startswith(_PASSED_ON) and name != SECRET} | set(options.env)
    names -= {"TF_CONFIG", "HEADRACE_SECRET_FILE"}
    values = [f"{name}={os.environ[name]}" for name in sorted(names) if name in os.environ]
    values += [f"TF_CONFIG={config}", "PYTHONUNBUFFERED=1"]
    words = ["env", *values, options.python, *_program(options)]
    line = f"cd {shlex.quote(options.folder or os.getcwd())} && exec {shlex.join(words)}"
    return [*shlex.split(options.remote), target, line]


def _start_there(options, secret):
    hosts = read_hosts(options.hosts)
    addresses = [address for _, address in hosts]
    return [
        _Worker(number, remote_command(options, target, _config(addresses, number)), None, secret)
        for number, (target, _) in enumerate(hosts)
    ]


def _run_once(options, secret):
    """Start all workers and wait for them. Returns the first exit code that is not 0, or 0."""
    ended: queue.Queue = queue.Queue()
    lock = threading.Lock()
    workers = _start_there(options, secret) if options.hosts else _start_here(options, secret)
    for worker in workers:
        threading.Thread(target=worker.print_lines, args=(ended, lock), daemon=True).start()
    running = set(workers)
    try:
        while running:
            worker = ended.get()
            running.discard(worker)
            code = worker.process.returncode
            if code:
                how = operating_system.text_of_exit(code)
                with lock:
                    sys.stderr.write(f"headrace launch: worker {worker.number} {how}; the others are ended.\n")
                _wait(running, ended, options.grace)  # they say which one has died, and may save something
                _tell_others(set(workers) - running - {worker}, lock)
                _end(running, ended, interrupted=False)
                return 128 - code if code < 0 else code
    except KeyboardInterrupt:
        _end(running, ended, interrupted=True)
        raise
    finally:
        _kill(running)
    return 0


def _tell_others(workers, lock):
    """Name those that have failed by themselves too: the first to end may only have missed another one."""
    for worker in sorted(workers, key=lambda worker: worker.number):
        if worker.process.returncode:
            how = operating_system.text_of_exit(worker.process.returncode)
            with lock:
                sys.stderr.write(f"headrace launch: worker {worker.number} {how} as well.\n")


def _end(running, ended, interrupted):
    """Ask workers to end, and wait a while for that."""
    for worker in running:
        worker.end(interrupted)
    _wait(running, ended, _LAST_SECONDS)


def _wait(running, ended, seconds):
    """Wait until all workers have ended, or for some seconds."""
    until = time.monotonic() + seconds
    while running and (left := until - time.monotonic()) > 0:
        with contextlib.suppress(queue.Empty):
            running.discard(ended.get(timeout=left))


def _kill(running):
    for worker in running:
        worker.process.kill()
        worker.process.wait()
    running.clear()


def _parser():
    parser = argparse.ArgumentParser(
        prog="headrace launch", description="Start a training on several workers: the same script once for each."
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("-n", type=int, help="how many workers to start on this machine")
    where.add_argument("--hosts", metavar="FILE", help="start a worker on each host that FILE names, a line each")
    parser.add_argument("--remote", default="ssh", help="the command that reaches a host; by default ssh")
    parser.add_argument("--python", default=sys.executable, help="Python on these hosts")
    parser.add_argument("--folder", help="the folder to start in there; by default that of this process")
    parser.add_argument("--env", action="append", default=[], metavar="NAME", help="pass this variable on as well")
    parser.add_argument("--restarts", type=int, default=0, help="how often to start all again when one fails")
    parser.add_argument(
        "--grace", type=float, default=5.0, metavar="SECONDS", help="how long others may go on when one has failed"
    )
    parser.add_argument("--pin", action="store_true", help="with -n: keep each worker to a processor of its own")
    parser.add_argument("-m", action="store_true", dest="is_module", help="run a module, as `python -m` does")
    parser.add_argument("script", help="a file, or with -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script finds in sys.argv")
    return parser


def main(argv: list[str]) -> int:
    """Carry out the command; returns the exit code."""
    options = _parser().parse_args(argv)
    if options.n is not None and options.n < 1:
        raise SystemExit(f"headrace launch: -n must be 1 or more, got {options.n}.")
    for name in options.env:
        if not _NAME.fullmatch(name):
            raise SystemExit(f"headrace launch: --env takes the name of a variable, got {name!r}.")
    if not options.hosts and not options.is_module and not os.path.exists(options.script):
        raise SystemExit(f"headrace launch: there is no file {options.script!r}.")
    secret = secrets.token_hex(32)
    for attempt in range(options.restarts + 1):
        try:
            code = _run_once(options, secret)
        except KeyboardInterrupt:
            return _INTERRUPTED
        if code == 0:
            return 0
        if attempt < options.restarts:
            sys.stderr.write(f"headrace launch: restart {attempt + 1} of {options.restarts}.\n")
    return code
