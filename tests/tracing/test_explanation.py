"""`explain`: the graph as code, what is compiled, what it costs, and why it was traced."""

import os
import re

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling.compilation import set_background_compilation

HERE = os.path.basename(__file__)


def test_the_graph_reads_like_code():
    v = tf.Variable(np.ones([3, 2], np.float32), name="weights")

    @tf.function
    def f(x):
        y = tf.matmul(x, v)  # line of the product
        return tf.identity(tf.nn.relu(y * 1.0)) + 0.5, tf.transpose(y)

    text = f.explain(tf.ones([4, 3])).code
    with open(__file__) as file:
        line = next(i for i, row in enumerate(file, 1) if row.rstrip().endswith("# line of the product"))
    assert "def f(x: float32[4, 3]):" in text
    assert "variable weights float32[3, 2]" in text
    assert re.search(rf"MatMul = MatMul\(x, \w+\) +# float32\[4, 2\] +{HERE}:{line}$", text, re.M), text
    assert re.search(r"add = AddV2\(\w+, 0.5\) +# float32\[4, 2\]", text), text
    assert re.search(r"Transpose\(MatMul, \[1, 0\]\)", text), text
    assert text.rstrip().endswith("return add, transpose")


def test_inner_graphs_are_indented():
    @tf.function
    def inner(x):
        return tf.exp(x)

    @tf.function
    def f(x, n):
        if tf.reduce_sum(x) > 0:
            x = inner(x)
        else:
            x = x - 1.0
        for i in tf.range(n):
            x = x * tf.cast(i, tf.float32)
        return tf.switch_case(n, [lambda: x, lambda: x + 1.0, lambda: x + 2.0])

    code = f.explain(tf.ones([2]), tf.constant(1)).code
    for pattern in (
        r"\n\S* *\| {9}if true \(", r"\n\S* *\| {9}if false \(", r"\n\S* *\| {9}while \(", r"\n\S* *\| {9}do \(",
        r"def inner\(", r"Exp = Exp\(x\)", r"case 0 \(", r"otherwise \(",
    ):  # fmt: skip
        assert re.search(pattern, code), (pattern, code)


def test_costs():
    @tf.function
    def f(x):
        return tf.reduce_sum(tf.matmul(x, x)) + 1.0

    explanation = f.explain(tf.ones([300, 300]))
    assert explanation.costs[0].type == "MatMul"
    assert {cost.type: cost.bytes for cost in explanation.costs} == {"MatMul": 360_000, "Sum": 4, "AddV2": 4}
    assert explanation.seconds >= sum(cost.seconds for cost in explanation.costs) * 0.99
    assert explanation.operations == 3
    text = str(explanation)
    assert "Interpreted in" in text
    assert re.search(rf"\d+% +360.0 kB  MatMul \(MatMul\)  {HERE}:\d+", text), text


def test_explaining_leaves_variables_and_random_streams_alone():
    def make():
        tf.random.set_seed(7)
        v = tf.Variable(np.zeros(1000, np.float32))

        @tf.function
        def f(x):
            v.assign_add(x)
            return tf.random.uniform([3])

        return v, f

    v, f = make()
    x = tf.ones([1000])
    expected = [f(x).numpy().tolist() for _ in range(3)]
    v, f = make()
    found = [f(x).numpy().tolist()]
    assert f.explain(x).costs
    found += [f(x).numpy().tolist(), f(x).numpy().tolist()]
    assert found == expected
    assert (v.numpy() == 3).all()


def test_functions_with_other_effects_are_not_run(capsys):
    @tf.function
    def f(x):
        tf.print("hello")
        return x + 1.0

    explanation = f.explain(tf.ones([2]))
    assert explanation.costs is None
    assert "PrintV2" in explanation.not_run
    assert "hello" not in "".join(capsys.readouterr())
    assert "Times are not known: it was not run, for PrintV2" in str(explanation)


def test_specs_and_failures():
    f = tf.function(lambda x, i: tf.gather(x, i))
    explanation = f.explain(tf.TensorSpec([None]), tf.TensorSpec([], tf.int32))
    assert explanation.costs is None
    assert "float32[None]" in explanation.code
    explanation = f.explain(tf.ones([3]), tf.constant(5))
    assert "InvalidArgumentError" in explanation.not_run


def test_why_it_was_traced():
    @tf.function
    def f(x, scale=1.0, *, name="a"):
        return x * scale

    f(tf.ones([2]))
    f(tf.ones([3]))
    f(tf.ones([3]), 2.0)
    f(tf.ones([3]), 2.0)
    f(tf.ones([3]), 2.0, name="b")
    explanation = f.explain(tf.ones([2]))
    differences = [trace.differences for trace in explanation.traces]
    assert differences == [
        [],
        [("x", "float32[2]", "float32[3]")],
        [("scale", "1.0", "2.0")],
        [("name", "'a'", "'b'")],
    ]
    assert all(trace.place.startswith(f"{HERE}:") for trace in explanation.traces)
    text = str(explanation)
    assert "Traced 4 times:" in text
    assert re.search(r"4\. \(x: float32\[3\], scale: 2.0, name: 'b'\) at \S+, because name was 'a', now 'b'", text)


def test_methods():
    class Model:
        def __init__(self):
            self.v = tf.Variable(2.0)

        @tf.function
        def __call__(self, x):
            return x * self.v

    model = Model()
    assert "Mul" in model.__call__.explain(tf.constant(1.0)).code


@pytest.fixture
def interpreter_only():
    """Nothing is compiled, unless a function asks for it."""
    set_background_compilation(False)
    yield
    set_background_compilation(True)


def large(x):
    for i in range(40):
        x = tf.exp(x) * float(i)
    return x


def test_parts_that_are_interpreted(interpreter_only):
    f = tf.function(large)
    x = tf.ones([2])
    assert [part.state for part in f.explain(x).parts] == ["interpreted so far: it has not been called"]
    f(x)
    (part,) = f.explain(x).parts
    assert part.state == "interpreted: compiling is switched off"
    assert part.count == 80
    small = tf.function(lambda x: x + 1.0)
    small(x)
    (part,) = small.explain(x).parts
    assert part.state.startswith("interpreted: too few operations")


def test_parts_that_are_compiled():
    f = tf.function(large, jit_compile=True)
    x = tf.ones([2])
    f(x)
    (part,) = f.explain(x).parts
    assert part.state.startswith("compiled for 1 of 1")
    explanation = f.explain(x)
    assert "A | " in explanation.code
    assert explanation.seconds_as_it_runs > 0
    assert re.search(r"A call takes [\d.]+ \w+ now, with what is compiled.\nInterpreted in ", str(explanation))


def test_explaining_a_compiled_step_leaves_its_variables_alone():
    v = tf.Variable(np.arange(4, dtype=np.float32))

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(large(x))
        return v * 2.0

    step(tf.ones([4]))
    before = v.numpy()
    assert step.explain(tf.ones([4])).seconds_as_it_runs > 0
    np.testing.assert_array_equal(v.numpy(), before)


def test_parts_between_what_only_the_host_can_run(interpreter_only):
    @tf.function
    def f(x):
        x = large(x)
        text = tf.strings.as_string(x)
        return large(x), text, large(tf.strings.to_number(text))

    x = tf.ones([2])
    f(x)
    explanation = f.explain(x)
    assert len(explanation.parts) == 3
    assert [part.label for part in explanation.parts] == ["A", "B", "C"]
    assert explanation.parts[1].state == "interpreted: only the host can run it"
    assert re.search(r"^B \|     AsString", explanation.code, re.M), explanation.code
