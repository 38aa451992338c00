"""What can be fuzzed: a target is a reader of bytes, files that it reads, ways to damage these, and the right errors.

To add one, write a function that takes a `Trial` and reads what is in its folder, and decorate it with `@target(...)`.
`FILES` in fuzz_running.py lists the files that have targets.
"""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from byte_mutations import any_bytes
from fuzz_limits import Memory, TooLong, stopped_after, watched

import headrace as tf

Files = dict[str, bytes]  # relative path to contents
Mutation = Callable[[random.Random, Files, list[Files]], Files]

# What damaged files may give. An UnknownError or InternalError would hide that nobody has thought of the damage.
TYPED = (
    tf.errors.DataLossError, tf.errors.InvalidArgumentError, tf.errors.NotFoundError, tf.errors.UnimplementedError,
    tf.errors.PermissionDeniedError, tf.errors.OutOfRangeError, tf.errors.FailedPreconditionError,
    tf.errors.ResourceExhaustedError,
)  # fmt: skip
TARGETS: dict[str, "Target"] = {}


@dataclass
class Target:
    """A reader of bytes."""

    name: str
    read: Callable[["Trial"], None]
    seeds: Callable[[], list[Files]]
    mutations: list[tuple[float, Mutation]]
    right: tuple[type, ...] = TYPED
    named: bool = False  # whether errors must name the folder, and with that the file
    seconds: float = 5.0  # of the processor, for one input
    megabytes: int = 256  # that one input may take beside what the process has
    prepare: Callable[[], Any] = lambda: None  # what takes long when first used, and must not be stopped half-way
    group: str = ""  # index, data, event or model: how the totals are counted
    in_memory: bool = False  # whether it reads `trial.files` only, so that no files need to be written
    cost: float = 1.0  # about how many milliseconds an input takes: how a total of inputs is divided
    _seeds: list[Files] = field(default_factory=list)

    def seed_files(self) -> list[Files]:
        """The valid inputs, made once."""
        if not self._seeds:
            self._seeds = self.seeds()
        return self._seeds

    def input(self, seed: int, number: int) -> tuple[Files, int]:
        """The input of a number: always the same for a seed. And the number of the valid one that it was made of."""
        rng = random.Random(f"{seed}/{self.name}/{number}")
        corpus = self.seed_files()
        which = rng.randrange(len(corpus))
        weights = [weight for weight, _ in self.mutations]
        mutate = rng.choices([mutation for _, mutation in self.mutations], weights)[0]
        return mutate(rng, dict(corpus[which]), corpus), which


class Find(Exception):
    """Something that must not happen; the text says what."""


class Trial:
    """One input that is being read.

    Attributes:
        files: of the input.
        folder: where they are.
        rng: for what the reader may choose.
        which: the number of the valid files that the input was made of; None if that is not known.
        outcomes: the name of the exception, or "read", of each attempt.
        seconds, megabytes: the most that an attempt has taken, of the processor's time and of memory.
    """

    def __init__(self, target: Target, files: Files, folder: str, rng: random.Random, which: int | None = None):
        self.target = target
        self.files = files
        self.folder = folder
        self.rng = rng
        self.which = which
        self.outcomes: list[str] = []
        self.seconds = self.megabytes = 0.0

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def run(self) -> None:
        """Writes the files and reads them.

        Raises:
            Find: what must not happen has happened.
        """
        for name, data in {} if self.target.in_memory else self.files.items():
            path = self.path(name)
            if "/" in name:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        with watched(self.folder) as touched:
            self.target.read(self)
        if touched:
            raise Find(f"touches {touched[0]}")

    def attempt(self, read: Callable[[], Any], right: tuple[type, ...] = (), named: bool | None = None) -> Any:
        """What `read` gives; None, if it raises one of the right errors.

        Args:
            read: called without arguments.
            right: classes of exceptions that are right here besides those of the target. ValueError, TypeError and
                RuntimeError must be themselves, no subclass.
            named: whether errors must name the folder; as the target says if it is None.
        """
        memory, begin = Memory(), time.thread_time()
        result = self._attempt(read, right, self.target.named if named is None else named)
        self.seconds = max(self.seconds, time.thread_time() - begin)
        self.megabytes = max(self.megabytes, memory.grown())
        if self.seconds > self.target.seconds:
            raise Find(f"slow: {self.seconds:.1f} s")
        if self.megabytes > self.target.megabytes:
            raise Find(f"large: {self.megabytes:.0f} MB")
        return result

    def attempt_program(self, run: Callable[[], Any], right: tuple[type, ...] = (), seconds: float = 0.5) -> Any:
        """The same for what came with the data as a program: it may take any time and memory, and is stopped then."""
        with stopped_after(seconds):
            return self._attempt(run, (*right, tf.errors.ResourceExhaustedError), False)

    def _attempt(self, read, right, named):
        try:
            result = read()
        except TooLong:
            self.outcomes.append("stopped")
        except Exception as error:
            self._check(error, right, named)
            self.outcomes.append(type(error).__name__)
        else:
            self.outcomes.append("read")
            return result
        return None

    def _check(self, error, right, named):
        allowed = self.target.right + right
        plain = [kind for kind in allowed if kind in (ValueError, TypeError, RuntimeError)]
        if type(error) not in plain and not isinstance(error, tuple(kind for kind in allowed if kind not in plain)):
            raise Find(f"{type(error).__name__}: {error}") from error
        text = error.message if isinstance(error, tf.errors.OpError) else str(error)
        if not text:
            raise Find(f"{type(error).__name__} says nothing") from error
        if named and os.path.basename(self.folder) not in text:
            raise Find(f"does not name the file: {type(error).__name__}: {text}") from error
        if len(text) > 20_000:
            raise Find(f"a message of {len(text)} characters: {text[:200]}") from error


def target(name: str, seeds, mutations, **options):
    """Adds the decorated function, which takes a `Trial`, as a target. See `Target`."""

    def add(read):
        TARGETS[name] = Target(name, read, seeds, mutations, **options)
        return read

    return add


def on_file(change: Callable[..., bytes], ending: str = "") -> Mutation:
    """A mutation of one of the files with this ending by a function of (rng, bytes, bytes of other such files)."""

    def mutate(rng, files, corpus):
        names = sorted(name for name in files if name.endswith(ending))
        name = rng.choice(names or sorted(files))
        others = [data for each in corpus for other, data in each.items() if other.endswith(ending)]
        files[name] = change(rng, files[name], others)
        return files

    return mutate


def one_file(name: str, *contents: bytes) -> list[Files]:
    """Inputs of one file each."""
    return [{name: data} for data in contents]


def exchanged_files(rng, files, corpus):
    """A file of the same name from another input, or one that is missing or empty."""
    name = rng.choice(sorted(files))
    others = [each[name] for each in corpus if name in each and each[name] != files[name]]
    kind = rng.randrange(4)
    if kind == 0 and len(files) > 1:
        del files[name]
    elif kind == 1:
        files[name] = b""
    elif others:
        files[name] = rng.choice(others)
    else:
        files[name] = any_bytes(rng, files[name])
    return files
