"""Targets that do what readers must not, to see that it is noticed."""

import os
import pickle
import time

from fuzz_targets import one_file, target

import headrace as tf

_held = []


def _number(rng, files, corpus):
    return {"data": str(rng.randrange(4)).encode()}


def misbehaving(name, **options):
    """A target with the right seeds, of which every fourth input shows the fault."""

    def add(fault):
        @target(name, lambda: one_file("data", b"1"), [(1, _number)], **options)
        def read(trial):
            if trial.files["data"] == b"3":
                fault(trial)
            else:
                trial.attempt(lambda: 1)

    return add


@misbehaving("ending")
def _end(trial):
    os._exit(3)


@misbehaving("crashing")
def _crash(trial):
    os.kill(os.getpid(), 11)


@misbehaving("hanging", seconds=0.2)
def _hang(trial):
    def forever():
        while True:
            time.thread_time()

    trial.attempt(forever)


@misbehaving("slow", seconds=0.2)
def _slow(trial):
    def for_a_while():
        begin = time.thread_time()
        while time.thread_time() - begin < 0.4:
            pass

    trial.attempt(for_a_while)


@misbehaving("large", megabytes=20)
def _large(trial):
    trial.attempt(lambda: len(b"x" * (60 << 20)))


@misbehaving("too_large")
def _too_large(trial):
    trial.attempt(lambda: bytearray(1 << 40))


@misbehaving("growing", megabytes=1000)
def _grow(trial):
    trial.attempt(lambda: _held.append(b"x" * (2 << 20)))


@misbehaving("touching")
def _touch(trial):
    trial.attempt(lambda: os.listdir(os.path.dirname(os.path.dirname(trial.folder))))


@misbehaving("writing")
def _write(trial):
    with open(trial.folder + "-beside", "wb"):
        pass
    os.unlink(trial.folder + "-beside")


@misbehaving("running_code")
def _run_code(trial):
    trial.attempt(lambda: pickle.loads(pickle.dumps(os.getcwd)))


@misbehaving("untyped")
def _untyped(trial):
    trial.attempt(lambda: {}["x"])


@misbehaving("subclass", right=(ValueError,))
def _subclass(trial):
    trial.attempt(lambda: b"\xff".decode())


@misbehaving("nameless", named=True)
def _nameless(trial):
    def fail():
        raise tf.errors.DataLossError(None, None, "something is wrong")

    trial.attempt(fail)


@target("refusing", lambda: one_file("data", b"1"), [(1, _number)])
def _refuse(trial):
    def fail():
        raise tf.errors.DataLossError(None, None, "everything is wrong")

    trial.attempt(fail)


@misbehaving("stopped")
def _program(trial):
    def forever():
        while True:
            time.thread_time()

    trial.attempt_program(forever, seconds=0.05)
