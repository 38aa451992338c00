"""The process of one library: builds workloads, calls them until they run as they will from then on, and times them."""

import importlib
import importlib.metadata
import json
import os
import sys
import traceback

from workloads.row import call_once, seconds_per_call
from workloads.settling import Compilation
from workloads.table import ROWS
from workloads.training import Jit


class _Library:
    """One of the libraries, and the workload that it runs now."""

    def __init__(self, module, variant, folder):
        self.module = importlib.import_module(module)
        self.folder, self.compiled, self.run = folder, lambda function: function, None
        self.compilation = Compilation() if module == "headrace" else None
        if module == "torch":
            self.module.set_num_threads(len(os.sched_getaffinity(0)))
            if variant == "compile":
                self.compiled = self.module.compile
        Jit.enabled = variant == "jit"

    def build(self, name):
        """Build a row anew, from its first weights."""
        self.row = next(row for row in ROWS if row.name == name)
        if self.module.__name__ == "torch":
            self.run = self.row.torch(self.module, self.compiled)
        elif self.row.needs_files:
            self.run = self.row.build(self.module, self.folder)
        else:
            self.run = self.row.build(self.module)

    def first(self, name, count):
        """What the first calls return."""
        self.build(name)
        return [call_once(self.run) for _ in range(count)]

    def warm(self, name):
        """Build it and get it ready; how many calls that took."""
        self.build(name)
        for _ in range(self.row.warm):
            call_once(self.run)
        if self.compilation is None:
            return self.row.warm
        return self.row.warm + self.compilation.settle(self.run)

    def time(self, seconds):
        """Seconds of one of the row's units."""
        return seconds_per_call(self.run, seconds) / self.row.calls


def serve(module, variant, folder):
    """Answer lines such as `["warm", "MLP fit"]` with what the method returns, or with the error."""
    library = _Library(module, variant, folder)
    # headrace's own version is that of its distribution: `__version__` is the one of TensorFlow that it follows.
    version = importlib.metadata.version(module) if module == "headrace" else library.module.__version__
    print(json.dumps(version), flush=True)
    for line in sys.stdin:
        method, *arguments = json.loads(line)
        try:
            answer = {"result": getattr(library, method)(*arguments)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
            if module == "headrace":
                traceback.print_exc()
        print(json.dumps(answer, default=float), flush=True)
