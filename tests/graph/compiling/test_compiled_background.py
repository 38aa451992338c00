"""Compiling in the background: when programs take over, around what only the host can run, and how it ends."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling import compilation
from headrace._src.graph.compiling import queue as compile_queue
from headrace._src.graph.compiling.programs import Program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SECONDS = 600  # nothing takes so long, on the busiest machine


@pytest.fixture(scope="module")
def own_queue():
    """Nobody else's jobs come first, and a busy machine does not keep the process from its work."""
    queue = compile_queue.CompileQueue(niceness=0)
    yield queue
    queue.close()


@pytest.fixture(autouse=True)
def _own_queue(own_queue, monkeypatch):
    monkeypatch.setattr(compile_queue, "queue", own_queue)


def executable(function, *args):
    return function.get_concrete_function(*args).graph.executable()


def entries(found):
    """What runs certain shapes, of an executable and its parts."""
    if not isinstance(found, compilation.Executable):
        return []
    if found.segmented is not None:
        return [entry for piece in found.segmented.pieces for entry in entries(piece.executable)]
    return list(found._entries.values())


def programs(found):
    """The programs of an executable and its parts."""
    return [entry.program for entry in entries(found) if entry.program is not None]


def wait_for_jobs(found):
    """Return when everything that was to be compiled for an executable and its parts is there."""
    for entry in entries(found):
        assert entry._job is None or entry._job.wait(SECONDS)


def call_until_compiled(function, *args, count=1):
    """Call until there are programs; returns all results."""
    results = []
    for _ in range(20):
        results.append(function(*args))
        found = executable(function, *args)
        if len(programs(found)) >= count:
            return [*results, function(*args)]
        wait_for_jobs(found)
    raise AssertionError(f"not compiled: {executable(function, *args).reason}")


def long_chain(x, count=40):
    for _ in range(count):
        x = tf.tanh(x + 0.1) * 1.1
    return x


def test_few_operations_are_interpreted():
    f = tf.function(lambda x: x + 1.0)
    x = tf.constant(1.0)
    assert not isinstance(executable(f, x), compilation.Executable)


def test_nothing_is_compiled_when_that_is_forbidden():
    f = tf.function(long_chain)
    tf.config.experimental.set_background_compilation(False)
    try:
        for _ in range(5):
            f(tf.constant([1.0]))
    finally:
        tf.config.experimental.set_background_compilation(True)
    assert all(entry._job is None for entry in executable(f, tf.constant([1.0]))._entries.values())


@pytest.mark.slow
def test_a_program_takes_over():
    v = tf.Variable([0.0, 0.0])

    @tf.function
    def step(x):
        v.assign_add(x)
        return long_chain(v * x)

    results = call_until_compiled(step, tf.constant([0.1, 0.2]))
    np.testing.assert_allclose(v.numpy(), np.array([0.1, 0.2]) * len(results), rtol=1e-4)
    np.testing.assert_allclose(results[-1].numpy(), long_chain(v * [0.1, 0.2]).numpy(), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("is_loop", [False, True])
def test_a_program_is_tried_before_it_takes_over(monkeypatch, is_loop):
    """What its first run takes is not the caller's time; and nothing changes. A loop might take too long for that."""
    tried = []
    warm_up = Program.warm_up
    monkeypatch.setattr(Program, "warm_up", lambda self, arrays: tried.append(warm_up(self, arrays)))
    total = tf.Variable(tf.zeros([4]))

    @tf.function
    def step(x):
        x = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x), (0, x))[1] if is_loop else x
        total.assign_add(x)
        return long_chain(x) + tf.random.stateless_uniform([4], [1, 2])

    x, calls = tf.ones([4]), 5
    for _ in range(2):
        step(x)
    found = executable(step, x)
    wait_for_jobs(found)
    assert len(tried) == (0 if is_loop else 1)
    np.testing.assert_array_equal(total, [2.0] * 4)
    for _ in range(calls - 2):
        step(x)
    assert programs(found)
    np.testing.assert_array_equal(total, [float(calls)] * 4)


@pytest.mark.slow
def test_shapes_are_counted(monkeypatch):
    submitted = []
    monkeypatch.setattr(compile_queue.queue, "submit", submitted.append)
    f = tf.function(long_chain, input_signature=[tf.TensorSpec([None])])
    for n in range(1, 9):
        for _ in range(3):
            f(tf.ones([n]))
    assert len(submitted) == 5
    assert "shapes" in executable(f, tf.ones([1])).reason
    for n in range(10, 200):
        f(tf.ones([n]))
    assert len(executable(f, tf.ones([1]))._entries) < 100


def test_very_large_graphs_are_interpreted(monkeypatch):
    monkeypatch.setattr(compilation, "_MOST_OPERATIONS", 40)

    def chain(count):
        inner = tf.function(lambda x: tf.tanh(tf.sin(x)))  # operations of inner graphs count

        def f(x):
            for _ in range(count):
                x = inner(x)
            return x

        return tf.function(f)

    small, large, x = chain(12), chain(24), tf.ones([3])
    for _ in range(3):
        small(x), large(x)
    assert [entry._job for entry in entries(executable(large, x))] == [None]
    assert "operations, and graphs of more than 40 are not compiled" in executable(large, x).reason
    assert executable(small, x).reason == ""
    wait_for_jobs(executable(small, x))


@pytest.mark.slow
def test_parts_between_host_operations():
    seen = []
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        y = long_chain(x)
        v.assign_add(tf.reduce_sum(y))
        tf.py_function(lambda a: seen.append((float(a), v.numpy())), [y[0]], [])
        v.assign(v * 0.5)
        z = long_chain(y + v)
        return z, tf.strings.as_string(tf.reduce_sum(z))

    results = []

    def call():
        v.assign(0.0)
        results.append([x.numpy() for x in f(tf.constant([0.3, 0.4]))])
        results[-1].append(v.numpy())

    for _ in range(6):
        call()
        wait_for_jobs(executable(f, tf.constant([0.3, 0.4])))
    assert len(programs(executable(f, tf.constant([0.3, 0.4])))) == 2
    assert len(seen) == len(results)
    for got in (results[0], results[-1]):
        np.testing.assert_allclose(got[0], results[0][0], rtol=1e-5)
        np.testing.assert_allclose(got[2], results[0][2], rtol=1e-5)
        assert got[1][:5] == results[0][1][:5]
    np.testing.assert_allclose(seen[-1], seen[0], rtol=1e-5)


@pytest.mark.slow
def test_shapes_that_depend_on_data():
    @tf.function
    def f(x):
        y = long_chain(x)
        kept = tf.boolean_mask(y, y > 0.0)
        return long_chain(kept), tf.shape(kept)

    x = tf.constant([-3.0, 0.1, 0.2])
    first = f(x)
    results = call_until_compiled(f, x, count=2)
    np.testing.assert_allclose(results[-1][0].numpy(), first[0].numpy(), rtol=1e-5)
    assert f(tf.constant([1.0, 2.0, 3.0]))[1].numpy().tolist() == [3]


@pytest.mark.slow
def test_the_body_of_a_long_loop_is_compiled_while_it_runs():
    v = tf.Variable(0.0)

    @tf.function
    def f(n, x):
        for _ in tf.range(n):
            x = long_chain(x)
            v.assign_add(1.0)
        return x

    def body():
        steps = f.get_concrete_function(tf.constant(5), tf.constant([0.5])).graph.plan().steps
        return next(step for step in steps if "While" in step.record.name).attrs["body"]

    want = f(tf.constant(100), tf.constant([0.5]))
    count = 500
    for _ in range(3):
        v.assign(0.0)
        f(tf.constant(count), tf.constant([0.5]))
        assert v.numpy() == count
        wait_for_jobs(body().executable())
        # A call of the function as a whole is not what this is about.
        executable(f, tf.constant(5), tf.constant([0.5]))._entries.clear()
    assert programs(body().executable())
    np.testing.assert_allclose(f(tf.constant(count), tf.constant([0.5])).numpy(), want.numpy(), rtol=1e-5)


def run(code, **environment):
    """What a program prints that runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRELUDE + code], capture_output=True, text=True, cwd=ROOT, check=False,
        env={**os.environ, **environment}, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


PRELUDE = """
import os, sys, threading
import numpy as np
import headrace as tf
from headrace._src.graph.compiling import queue as compile_queue
compile_queue.queue = compile_queue.CompileQueue(niceness=0)
@tf.function
def f(x):
    for _ in range(300):
        x = tf.tanh(x + 0.1) * tf.sin(x)
    return x
x = tf.constant(np.ones((20, 20), "float32"))
f(x)
"""


@pytest.mark.slow
def test_leaving_does_not_wait():
    output = run(
        """
asked = threading.Event()
def wait_for_ever(file):
    asked.set()
    threading.Event().wait()
compile_queue.read_message = wait_for_ever
f(x)
asked.wait()
f(x)
print("jax" in sys.modules)
"""
    )
    assert output == "False\n"  # the compiler is not even imported before there is a program


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_processes_go_on():
    output = run(
        """
v = tf.Variable(np.zeros(3, "float32"))
@tf.function(jit_compile=True)
def g(y):
    v.assign_add(y)
    return v * 2.0
y = tf.ones([3])
g(y); f(x); f(x)
child = os.fork()
if not child:
    print(g(y).numpy()[0], f(x).shape, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(g(y).numpy()[0])
"""
    )
    assert output.split("\n")[:2] == ["4.0 (20, 20)", "4.0"]


@pytest.mark.slow
def test_lapack_is_there_for_programs_of_another_process():
    """This process has lowered nothing, which is when jax prepares LAPACK: the first run must not end it."""
    output = run(
        """
@tf.function
def g(x):
    for _ in range(30):
        x = x + tf.eye(3)
    return tf.linalg.triangular_solve(tf.linalg.cholesky(x), x)
y = tf.zeros([3, 3])
before = g(y).numpy(); g(y)
(entry,) = g.get_concrete_function(y).graph.executable()._entries.values()
entry._job.wait()
np.testing.assert_allclose(g(y).numpy(), before, rtol=1e-6)
print(entry.program is not None)
"""
    )
    assert output == "True\n"


class AtOnce:
    """Programs are there as soon as they are ordered."""

    def submit(self, job):
        job.complete(job.finish(compile_queue.built_here(job.block, job.signature)))


class Never:
    """The process does not get to anything."""

    def submit(self, job):
        pass


def seeded_run(calls_before):
    """What some calls of a function return, its variable, and after which calls it has a program."""
    tf.random.set_seed(None)
    v = tf.Variable(np.ones((8, 8), "float32"))

    @tf.function
    def step(x):
        for _ in range(12):
            x = tf.tanh(x @ v) + tf.sin(x)
        v.assign_sub(0.01 * x + tf.random.normal([8, 8], seed=4))
        return x

    x = tf.ones([8, 8])
    for _ in range(calls_before):
        step(x)
    tf.random.set_seed(3)
    v.assign(x)
    results = [(step(x).numpy().tobytes(), len(programs(executable(step, x)))) for _ in range(40)]
    return results, v.numpy().tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("calls_before", [0, 1, 5])
def test_seeded_runs_are_equal(monkeypatch, calls_before):
    runs = [seeded_run(calls_before)]
    monkeypatch.setattr(compilation, "_PATIENCE", 0.0)
    monkeypatch.setattr(compilation, "_PATIENCE_PER_OPERATION", 0.0)
    for queue in (AtOnce(), Never()):
        monkeypatch.setattr(compile_queue, "queue", queue)
        runs.append(seeded_run(calls_before))
    assert runs[0] == runs[1] == runs[2]
    assert [count for _, count in runs[0][0]] == [0] * 31 + [1] * 9


@pytest.mark.slow
def test_threads_that_wait_for_the_same_program(monkeypatch):
    """Each of them may find that it must compile by itself, also when another has done so meanwhile."""
    monkeypatch.setattr(compile_queue, "queue", Never())
    monkeypatch.setattr(compilation, "_PATIENCE", 0.0)
    monkeypatch.setattr(compilation, "_PATIENCE_PER_OPERATION", 0.0)
    monkeypatch.setattr(compilation, "_WORTH_WAITING", 0.0)
    built_here, together, failures = compilation._Entry._built_here, threading.Barrier(2), []

    def one_after_the_other(self, owner, job):
        if together.wait(SECONDS):  # one of them comes only when the other has its program
            taken.wait(SECONDS)
        return built_here(self, owner, job)

    taken = threading.Event()
    take = compilation._Entry._take

    def noted(self, owner, result):
        take(self, owner, result)
        taken.set()

    monkeypatch.setattr(compilation._Entry, "_built_here", one_after_the_other)
    monkeypatch.setattr(compilation._Entry, "_take", noted)
    tf.random.set_seed(3)
    f = tf.function(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, long_chain(y)), [0, x])[1])
    x = tf.constant([0.5])
    f(x), f(x)

    def call():
        try:
            f(x)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert programs(executable(f, x))


@pytest.mark.slow
def test_programs_are_kept_on_disk(tmp_path):
    code = "f(x)\n(entry,) = f.get_concrete_function(x).graph.executable()._entries.values()\n"
    code += "entry._job.wait()\nf(x)\nassert entry.program"
    run(code, HEADRACE_COMPILE_CACHE=str(tmp_path))
    (kept,) = tmp_path.glob("*.program")
    before, whole = kept.stat().st_ino, kept.read_bytes()
    run(code, HEADRACE_COMPILE_CACHE=str(tmp_path))
    assert kept.stat().st_ino == before  # it was not written again
    kept.write_bytes(whole[:-10] + b"0123456789")  # damaged: compiled again
    run(code, HEADRACE_COMPILE_CACHE=str(tmp_path))
    assert not kept.read_bytes().endswith(b"0123456789")


@pytest.mark.slow
def test_without_a_process_a_thread_compiles(monkeypatch):
    queue = compile_queue.CompileQueue()
    monkeypatch.setattr(compile_queue, "_start_worker", lambda niceness: None)
    monkeypatch.setattr(compile_queue, "queue", queue)
    f = tf.function(long_chain)
    results = call_until_compiled(f, tf.constant([0.5]))
    np.testing.assert_allclose(results[-1].numpy(), results[0].numpy(), rtol=1e-5)
    queue.close()


@pytest.mark.slow
def test_a_process_without_work_ends_and_another_is_started(monkeypatch):
    started, start = [], compile_queue._start_worker
    monkeypatch.setattr(compile_queue, "_start_worker", lambda niceness: started.append(start(niceness)) or started[-1])
    queue = compile_queue.CompileQueue(niceness=0, idle=0.01)
    monkeypatch.setattr(compile_queue, "queue", queue)
    for length in (43, 44):
        call_until_compiled(tf.function(lambda x, length=length: long_chain(x, length)), tf.constant([0.5]))
        started[-1].process.wait(SECONDS)
    assert len(started) == 2
    queue.close()


@pytest.mark.slow
def test_with_a_seed_nobody_waits_for_long(monkeypatch):
    """When the process gets nothing done on a busy machine, the call that must have the program compiles it."""
    monkeypatch.setattr(compile_queue.queue, "submit", lambda job: None)
    monkeypatch.setattr(compilation, "_PATIENCE", 0.1)
    monkeypatch.setattr(compilation, "_WORTH_WAITING", 0.0)
    tf.random.set_seed(3)

    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = long_chain(x)
        return x

    x = tf.constant([0.5])
    results = [f(x).numpy() for _ in range(4)]
    assert programs(executable(f, x))
    np.testing.assert_allclose(results[3], results[0], rtol=1e-5)


def counts_of_programs(trips, calls):
    """With a seed, how many programs a function with a loop has after each call."""
    tf.random.set_seed(3)
    f = tf.function(lambda x, n: tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, long_chain(y)), [0, x])[1])
    given = tf.constant([0.5]), tf.constant(trips)
    found = []
    for _ in range(calls):
        f(*given)
        found.append(len(programs(executable(f, *given))))
    return found


def test_with_a_seed_short_trainings_with_loops_do_not_wait(monkeypatch):
    """The call that takes over depends on how much the loops before have done, not on time."""
    monkeypatch.setattr(compilation, "_PATIENCE", 0.0)
    monkeypatch.setattr(compilation, "_PATIENCE_PER_OPERATION", 0.0)
    for queue in (AtOnce(), Never()):
        monkeypatch.setattr(compile_queue, "queue", queue)
        assert counts_of_programs(3, 12) == [0] * 12
        with monkeypatch.context() as patch:
            patch.setattr(compilation, "_WORTH_WAITING", 0.03)  # nine calls of 3 x 120 operations
            assert counts_of_programs(3, 14) == [0] * 11 + [1] * 3
            assert counts_of_programs(40, 6) == [0] * 3 + [1] * 3


def test_what_nobody_wants_any_more_is_dropped(monkeypatch):
    begun, go_on, compiled = threading.Event(), threading.Event(), []

    def result(job):
        begun.set()
        assert go_on.wait(SECONDS)
        compiled.append(job)

    queue = compile_queue.CompileQueue()
    monkeypatch.setattr(compile_queue, "queue", queue)
    monkeypatch.setattr(queue, "_result", result)
    for k in range(3):
        f = tf.function(lambda x, k=k: long_chain(x, 40 + k))
        f(tf.constant([0.5]))
        f(tf.constant([0.5]))
        assert begun.wait(SECONDS)  # the first one has begun, the others wait
    del f
    last = compile_queue.Job(queue, None, None, None)
    queue.submit(last)
    go_on.set()
    assert last.wait(SECONDS)
    assert len(compiled) == 2
    assert compiled[1] is last
    queue.close()


def test_deterministic_functions_are_compiled_first(monkeypatch):
    monkeypatch.setattr(compilation.random_state, "deterministic", True)
    f = tf.function(long_chain)
    x = tf.constant([0.5])
    f(x)
    assert programs(executable(f, x))
