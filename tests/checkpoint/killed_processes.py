"""A process that starts others, which are killed: what takes long, importing, is done once.

A program of tests calls `serve` when it is run by itself, and starts itself as a `Server` otherwise.
"""

import json
import os
import subprocess
import sys


def serve(run):
    """Forks a process for each line of JSON on the standard input, which calls `run` with what the line says."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            status = 1
            try:
                run(json.loads(line))
                status = 0
            except BaseException as error:
                say("error", f"{type(error).__name__}: {error}")
                raise
            finally:
                sys.stdout.flush()
                os._exit(status)
        say("process", child)
        _, status = os.waitpid(child, 0)
        say("ended", os.waitstatus_to_exitcode(status))


def say(*words):
    """Tells the one who gave the order."""
    # In one write: a process that is killed must not leave half a line.
    os.write(1, (json.dumps(words) + "\n").encode())


class Server:
    """The process of a program that serves. A context manager.

    Args:
        program: the path of the program.
    """

    def __init__(self, program):
        self._program = program

    def __enter__(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self._process = subprocess.Popen(
            [sys.executable, self._program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": root, "HEADRACE_COMPILE": "0"},
        )
        return self

    def __exit__(self, *exception):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, order, on_line=lambda words, process: None):
        """Starts a process and returns all lines that it said.

        Args:
            order: what it gets.
            on_line: called with each line meanwhile, and with the number of the process.
        """
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        lines, process, early = [], None, []
        for line in self._process.stdout:
            if not line.startswith("["):  # what a library prints
                continue
            words = json.loads(line)
            lines.append(words)
            if words[0] == "process":
                process = words[1]
            early.append(words)
            if process is not None:
                for one in early:
                    on_line(one, process)
                early = []
            if words[0] == "ended":
                return lines
        raise RuntimeError(f"the server has ended: {lines}")
