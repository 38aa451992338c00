"""Runs targets: workers, which read inputs, and the supervisor, which feeds them and restarts those that die or hang.

A worker is this file as a program. It takes lines with a target and a range of numbers, makes the input of each number
itself, reads it, and answers each line with a line of JSON. What it is working on stands in a small file that both have
mapped, so that the input is known if it ends or does not.
"""

import collections
import contextlib
import importlib
import json
import mmap
import os
import pathlib
import random
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from fuzz_limits import fast_folder, forget_highest, limit_memory
from fuzz_targets import TARGETS, Find, Trial

FILES = [
    "fuzz_checkpoints",
    "fuzz_objects",
    "fuzz_events",
    "fuzz_models",
    "fuzz_safetensors",
    "fuzz_messages",
    "fuzz_datasets",
    "fuzz_js",
    "fuzz_texts",
]  # that have the targets
KEPT = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "fuzz"
# What decoders may take for one input, so that it can be told from what they must not.
LIMITS = "image_bytes=64e6,decompressed_bytes=64e6,tensor_bytes=64e6"
_MEMORY = 1500  # megabytes: allocations fail beyond that
_BATCH = 100
_PATIENCE = 4  # times as long as a target allows for an input, until its worker is killed
_NUMBER = struct.Struct("<q")
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def load(files=FILES) -> dict:
    """The targets of these files, by name."""
    for name in files:
        importlib.import_module(name)
    return TARGETS


def run_input(target, files, place, number, which=None):
    """Reads one input; returns its trial.

    Raises:
        Find: it gave what it must not.
    """
    folder = os.path.join(place, "input")
    if not target.in_memory:
        os.mkdir(folder)
    trial = Trial(target, files, folder, random.Random(number), which)
    try:
        trial.run()
    except Find:
        raise
    except Exception as error:
        raise Find(f"outside of an attempt: {type(error).__name__}: {error}") from error
    finally:
        if not target.in_memory:
            shutil.rmtree(folder, ignore_errors=True)
    return trial


# The worker.


def work(state_path, seed, *files):
    """The loop of a worker."""
    targets, warmed = load(files), set()
    place = os.path.dirname(state_path)  # the supervisor removes it, however this process ends
    with open(state_path, "r+b") as file, mmap.mmap(file.fileno(), 0) as state:
        for line in sys.stdin:
            name, start, stop = line.split()
            if name not in warmed:
                limit_memory(None)
                _warm(targets[name], place)
                limit_memory(_MEMORY)
                forget_highest()
                warmed.add(name)
            numbers = range(int(start), int(stop))
            print(json.dumps(_batch(targets[name], int(seed), numbers, place, state)), flush=True)


def _warm(target, place):
    """Reads the valid inputs: what they load stays loaded, and they must not be refused."""
    target.prepare()
    for which, files in enumerate(target.seed_files()):
        for number in range(2):
            trial = run_input(target, files, place, number, which)
        if "read" not in trial.outcomes:
            raise RuntimeError(f"{target.name}: the valid input {which} is refused: {trial.outcomes}")


def _batch(target, seed, numbers, place, state):
    outcomes: collections.Counter = collections.Counter()
    finds, seconds, megabytes = [], 0.0, 0.0
    for number in numbers:
        files, which = target.input(seed, number)
        _NUMBER.pack_into(state, 0, number)
        try:
            trial = run_input(target, files, place, number, which)
            outcomes[next((outcome for outcome in trial.outcomes if outcome != "read"), "read")] += 1
            seconds, megabytes = max(seconds, trial.seconds), max(megabytes, trial.megabytes)
        except Find as find:
            finds.append({"number": number, "text": str(find)[:2000], "trace": _trace(find)})
        _NUMBER.pack_into(state, 0, -1)
    return {"outcomes": outcomes, "finds": finds, "seconds": seconds, "megabytes": megabytes, "resident": _resident()}


def _trace(find):
    """The innermost lines of ours, which tell finds apart."""
    error = find.__cause__ or find
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "fuzz" not in frame.filename]
    return [f"{pathlib.Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames[-4:]]


def _resident():
    """The memory that this process has now, in megabytes."""
    with contextlib.suppress(OSError), open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


# The supervisor.


@dataclass
class Result:
    """What came out for one target."""

    name: str
    inputs: int = 0
    outcomes: collections.Counter = field(default_factory=collections.Counter)
    finds: list[dict] = field(default_factory=list)
    seconds: float = 0.0  # of the processor, the most for one input
    megabytes: float = 0.0  # the most for one input
    grown: float = 0.0  # megabytes that the process has more after many inputs
    workers: int = 0  # that were started

    def add(self, answer: dict, inputs: int) -> None:
        """Adds what a worker answered about some inputs."""
        self.inputs += inputs
        self.outcomes.update(answer["outcomes"])
        self.finds += answer["finds"]
        self.seconds = max(self.seconds, answer["seconds"])
        self.megabytes = max(self.megabytes, answer["megabytes"])


class Worker:
    """A worker process, as its supervisor sees it.

    Args:
        seed: of the inputs.
        files: the modules that have the targets.
    """

    def __init__(self, seed: int, files=FILES):
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-", dir=fast_folder())
        self._state_path = os.path.join(self._folder.name, "state")
        pathlib.Path(self._state_path).write_bytes(_NUMBER.pack(-1))
        self._stderr = open(os.path.join(self._folder.name, "stderr"), "w+")
        root = str(pathlib.Path(__file__).resolve().parents[2])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(paths), HEADRACE_COMPILE="0", PYTHONFAULTHANDLER="1")
        env["HEADRACE_INPUT_LIMITS"] = LIMITS
        self.reason = ""
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), self._state_path, str(seed), *files],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env=env,
        )

    def ask(self, target, start: int, stop: int) -> dict | None:
        """Lets the inputs of these numbers be read.

        Returns:
            The answer; None if the process has ended or had to be killed. `reason` then says why.
        """
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{target.name} {start} {stop}\n")
            self.process.stdin.flush()
        limit = _PATIENCE * target.seconds
        number, used, since = self.number, self._used(), time.monotonic()
        while not select.select([self.process.stdout], [], [], 0.25)[0]:
            now = self.number
            if now != number or now < 0:
                number, used, since = now, self._used(), time.monotonic()
            elif self._used() - used > limit or time.monotonic() - since > 20 * limit:
                self.process.kill()
                self.process.wait()
                self.reason = f"hangs: more than {limit:g} s of the processor"
                return None
        answer = self.process.stdout.readline()
        if answer:
            return json.loads(answer)
        self.reason = f"the process ended with code {self.process.wait()}"
        return None

    @property
    def number(self) -> int:
        """The number of the input that is being read; -1 for none."""
        with open(self._state_path, "rb") as file:
            return _NUMBER.unpack(file.read(8))[0]

    @property
    def printed(self) -> str:
        """The end of what the process has printed as errors."""
        self._stderr.seek(0)
        return self._stderr.read()[-4000:]

    def _used(self):
        """The processor's time that the process has taken."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as file:
                parts = file.read().rpartition(")")[2].split()
            return (int(parts[11]) + int(parts[12])) / _TICKS
        except (OSError, IndexError):
            return time.monotonic()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self._stderr.close()
        self._folder.cleanup()


class Supervisor:
    """Feeds a worker with inputs, and starts another one when it dies or hangs.

    Args:
        seed: of the inputs.
        files: the modules that have the targets.
    """

    def __init__(self, seed: int, files=FILES):
        self._seed, self._files = seed, files
        self._worker: Worker | None = None

    def run(self, target, inputs=None, seconds=None, first=0) -> Result:
        """Lets inputs of a target be read, from the number `first` on, until there are so many or the time is over.

        Raises:
            RuntimeError: the target cannot be tried: what it has as valid files is refused, say.
        """
        result = Result(target.name)
        end = None if seconds is None else time.monotonic() + seconds
        number, last = first, float("inf") if inputs is None else first + inputs
        base = None
        while number < last and (end is None or time.monotonic() < end):
            if self._worker is None:
                self._worker, base = Worker(self._seed, self._files), None
                result.workers += 1
            stop = int(min(number + _BATCH, last))
            answer = self._worker.ask(target, number, stop)
            if answer is None:
                number = self._lost(result, number)
                continue
            base = answer["resident"] if base is None else base
            result.grown = answer["resident"] - base  # not the most: what an input has freed may stay for a while
            result.add(answer, stop - number)
            number = stop
        return result

    def _lost(self, result, number):
        """Notes the input that ended the worker; returns the number of the next one."""
        worker, at = self._worker, self._worker.number
        reason, printed = worker.reason, worker.printed
        self.close()
        if at < 0:
            raise RuntimeError(f"{result.name}: {reason}\n{printed}")
        result.finds.append({"number": at, "text": reason, "trace": printed.splitlines()[-12:]})
        result.inputs += at + 1 - number
        return at + 1

    def close(self):
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def keep(target, seed, number, folder):
    """Writes the input of a number as an archive, from which `kept_input` reads it again."""
    files, _ = target.input(seed, number)
    path = pathlib.Path(folder) / f"{target.name}-{seed}-{number}.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.comment = str(number).encode()
        for name, data in sorted(files.items()):
            information = zipfile.ZipInfo(name)  # of a fixed date
            information.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(information, data)
    return path


def kept_input(path):
    """The target, the files and the number of an archive."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
        number = int(archive.comment or b"0")
    return TARGETS[pathlib.Path(path).name.partition("-")[0]], files, number


if __name__ == "__main__":
    work(*sys.argv[1:])
