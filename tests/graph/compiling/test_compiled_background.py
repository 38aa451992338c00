"""Compiling in the background: when programs take over, around what only the host can run, and how it ends."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.product_threads import product_threads
from headrace._src.graph.compiling import compilation
from headrace._src.graph.compiling import queue as compile_queue

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def executable(function, *args):
    return function.get_concrete_function(*args).graph.executable()


def programs(found):
    """The programs of an executable and its parts."""
    if not isinstance(found, compilation.Executable):
        return []
    if found.segmented is not None:
        return [p for piece in found.segmented.pieces for p in programs(piece.executable)]
    return [entry.program for entry in found._entries.values() if entry.program is not None]


def call_until_compiled(function, *args, count=1, seconds=60):
    """Call until there are programs; returns all results."""
    results, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        results.append(function(*args))
        if len(programs(executable(function, *args))) >= count:
            return [*results, function(*args)]
        time.sleep(0.01)
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


def test_matrix_products_leave_a_processor_to_the_compiler(monkeypatch):
    everything = product_threads()
    if everything is None:
        pytest.skip("NumPy has its matrix products from elsewhere")
    seen = []
    queue = compile_queue.CompileQueue()
    monkeypatch.setattr(queue, "_result", lambda job: seen.append(product_threads()))
    for is_seeded in (False, True):
        job = compile_queue.Job(queue, None, None, None, is_seeded)
        queue.submit(job)
        job.wait()
    # With a global seed nothing may depend on what is compiled when.
    assert seen == [max(1, min(everything, (os.cpu_count() or 1) - 1)), everything]


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

    end = time.monotonic() + 60
    while time.monotonic() < end:
        call()
        if len(programs(executable(f, tf.constant([0.3, 0.4])))) == 2:
            break
        time.sleep(0.01)
    call()
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
    end = time.monotonic() + 60
    count = 5000
    while not programs(body().executable()) and time.monotonic() < end:
        v.assign(0.0)
        f(tf.constant(count), tf.constant([0.5]))
        assert v.numpy() == count
        # A call of the function as a whole is not what this is about.
        executable(f, tf.constant(5), tf.constant([0.5]))._entries.clear()
    assert programs(body().executable())
    np.testing.assert_allclose(f(tf.constant(count), tf.constant([0.5])).numpy(), want.numpy(), rtol=1e-5)


def run(code, **environment):
    """Run a program in a process of its own; (seconds, output)."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRELUDE + code], capture_output=True, text=True, cwd=ROOT, check=False,
        env={**os.environ, **environment}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return time.perf_counter() - start, done.stdout


PRELUDE = """
import os, time
import numpy as np
import headrace as tf
@tf.function
def f(x):
    for _ in range(300):
        x = tf.tanh(x + 0.1) * tf.sin(x)
    return x
x = tf.constant(np.ones((20, 20), "float32"))
start = time.perf_counter()
f(x)
first = time.perf_counter() - start
"""


@pytest.mark.slow
def test_leaving_does_not_wait():
    _, output = run("f(x); f(x); time.sleep(1.5); print(first)")
    assert float(output) < 1.0  # tracing included, on a slow machine


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_processes_go_on():
    _, output = run(
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


SEEDED = """
tf.random.set_seed(3)
w = tf.Variable(np.ones((8, 8), "float32"))
@tf.function
def step(x):
    for _ in range(12):
        x = tf.tanh(x @ w) + tf.random.normal([8, 8])
    w.assign_sub(0.01 * x)
    return tf.reduce_sum(x)
for _ in range(40):
    y = step(tf.ones([8, 8]))
    time.sleep(PAUSE)
found = step.get_concrete_function(tf.ones([8, 8])).graph.executable()._entries.values()
print(float(y), float(tf.reduce_sum(w)), all(entry.program for entry in found))
"""


@pytest.mark.slow
def test_seeded_runs_are_equal():
    quick, slow = (run(SEEDED.replace("PAUSE", pause))[1] for pause in ("0", "0.1"))
    assert quick == slow
    assert quick.split()[-1] == "True"


@pytest.mark.slow
def test_programs_are_kept_on_disk(tmp_path):
    code = "found = f.get_concrete_function(x).graph.executable()._entries\nf(x)\n"
    code += "while not any(entry.program for entry in found.values()): f(x)"
    run(code, HEADRACE_COMPILE_CACHE=str(tmp_path))
    (kept,) = tmp_path.iterdir()
    before = kept.stat().st_mtime_ns
    run(code, HEADRACE_COMPILE_CACHE=str(tmp_path))
    assert kept.stat().st_mtime_ns == before
    kept.write_bytes(kept.read_bytes()[:-10] + b"0123456789")  # damaged: compiled again
    run(code, HEADRACE_COMPILE_CACHE=str(tmp_path))
    assert kept.stat().st_mtime_ns != before


@pytest.mark.slow
def test_without_a_process_a_thread_compiles(monkeypatch):
    queue = compile_queue.CompileQueue()
    monkeypatch.setattr(compile_queue, "_start_worker", lambda: None)
    monkeypatch.setattr(compile_queue, "queue", queue)
    f = tf.function(long_chain)
    results = call_until_compiled(f, tf.constant([0.5]))
    np.testing.assert_allclose(results[-1].numpy(), results[0].numpy(), rtol=1e-5)
    queue.close()


@pytest.mark.slow
def test_with_a_seed_nobody_waits_for_long(monkeypatch):
    """When the process gets nothing done on a busy machine, the call that must have the program compiles it."""
    monkeypatch.setattr(compile_queue.queue, "submit", lambda job: None)
    monkeypatch.setattr(compilation, "_PATIENCE", 0.1)
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


@pytest.mark.slow
def test_what_nobody_wants_any_more_is_dropped(monkeypatch):
    compiled = []
    queue = compile_queue.CompileQueue()
    monkeypatch.setattr(compile_queue, "queue", queue)
    monkeypatch.setattr(queue, "_result", lambda job: (time.sleep(0.5), compiled.append(job)))
    for k in range(3):
        f = tf.function(lambda x, k=k: long_chain(x, 40 + k))
        f(tf.constant([0.5]))
        f(tf.constant([0.5]))
    del f
    time.sleep(2)
    assert len(compiled) <= 2
    queue.close()


def test_deterministic_functions_are_compiled_first(monkeypatch):
    monkeypatch.setattr(compilation.random_state, "deterministic", True)
    f = tf.function(long_chain)
    x = tf.constant([0.5])
    f(x)
    assert programs(executable(f, x))
