"""What calls with a bad argument raise: a process that evaluates them, and how two answers compare.

    python evaluation_of_calls.py headrace|tensorflow < calls > answers        one line of JSON each
"""

import builtins
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading

MEMORY = 12 * 2**30  # of address space
SECONDS = 30  # for one call


def answer(tf, names, text):
    """{"error": classes, most special first, "message": text} or {"value": text}."""
    try:
        with_result = eval(text, names)
        return {"value": described(with_result)}
    except Exception as error:  # whatever it is, it is what is compared
        classes = [cls.__name__ for cls in type(error).__mro__]
        return {"error": classes[: classes.index("BaseException")], "message": str(error)[:1500]}


def described(value):
    """Type, dtype and shape: enough to tell what was computed."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(described(item) for item in value[:8])}]"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None:
        return type(value).__name__
    return f"{getattr(dtype, 'name', dtype)}{shape}"


def serve(library):
    import numpy as np

    if library == "headrace":
        import headrace as tf
    else:
        import tensorflow as tf
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    names = {"tf": tf, "np": np}
    valid = {}
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what ops print is no answer
    for line in sys.stdin:
        call = json.loads(line)
        base = call["base"]
        if base not in valid:
            valid[base] = "value" in answer(tf, names, base)
        found = answer(tf, names, call["text"]) if valid[base] else {"invalid base": True}
        print(json.dumps(found), file=out, flush=True)


class Server:
    """A process that answers; one that dies or takes too long is replaced."""

    def __init__(self, python, library):
        self.command = [python, os.path.abspath(__file__), library]
        self.process = None
        self.folder = tempfile.TemporaryDirectory()  # what calls write goes there

    def ask(self, call):
        if self.process is None:
            env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")
            pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
            self.process = subprocess.Popen(
                self.command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True, env=env, cwd=self.folder.name
            )
            self._answer({"text": "1", "base": "1"}, 180)
        return self._answer(call, SECONDS)

    def _answer(self, call, seconds):
        process = self.process
        late = threading.Event()

        def stop():
            late.set()
            process.kill()

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            process.stdin.write(json.dumps(call) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return json.loads(line)
        self.process = None
        code = process.wait()
        return {"late": True} if late.is_set() else {"died": signal.Signals(-code).name if code < 0 else str(code)}

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()


# A class by which programs catch: Python's own, or one of `tf.errors`.
_PUBLIC = re.compile("Error$")
# TF: where its Python code trips over a value (`'list' object has no attribute 'dtype'`), a TypeError is as good.
_AS_GOOD = {"AttributeError": ("TypeError",)}


def public_class(classes):
    """The most special class that users can name."""
    for name in classes:
        if hasattr(builtins, name) or name in _STATUSES:
            return name
    return "Exception"


_STATUSES = {
    f"{name}Error" for name in (
        "Op", "Cancelled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
        "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented",
        "Internal", "Unavailable", "DataLoss", "Unauthenticated", "OperatorNotAllowedInGraph",
    )
}  # fmt: skip


def outcome(ours, theirs):
    """One word for how two answers compare."""
    if "invalid base" in ours or "invalid base" in theirs:
        return "no valid call"
    if "error" not in ours and "value" not in ours:
        return "ours late" if "late" in ours else "ours died"
    if "error" not in theirs and "value" not in theirs:
        return "TensorFlow died"
    if "value" in ours:
        return "both compute" if "value" in theirs else "only ours computes"
    if "value" in theirs:
        return "only TensorFlow computes"
    wanted = public_class(theirs["error"])
    if public_class(ours["error"]) == wanted:
        return "same class"
    if wanted in ours["error"] or any(name in ours["error"] for name in _AS_GOOD.get(wanted, ())):
        return "compatible class"
    return "other class"


def names_function(call, message):
    """Whether a message has the name of the function that was called."""
    name = call["function"].rpartition(".")[2]
    return re.search(rf"\b{re.escape(name)}\b", message) is not None


def names_argument(call, message):
    return re.search(rf"\b{re.escape(call['argument'])}\b", message) is not None


if __name__ == "__main__":
    serve(sys.argv[1])
