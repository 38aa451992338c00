"""A tour of headrace in one file to read and run: from an op to a compiled function and an input pipeline.

    python docs/tour.py

Each section builds one part of the machine in miniature, out of a few lines, and then shows the real one: its file in
`headrace/_src/` stands at the right of the heading, and an `assert` checks that both give the same. The tests run
this file, so what it says is true.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import headrace as tf
from headrace._src.autodiff.tape import next_id
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.lazy import jax, jnp
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.data.running.stages import Cursor, Run, Stage, dataset_tensor, stage_of
from headrace._src.graph.compiling.blocks import BlockBuilder
from headrace._src.graph.compiling.lowering import Lowering
from headrace._src.graph.compiling.programs import Program, build, signature_of
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import REGISTRY, Op, Spec
from headrace._src.op.infer import same_as_input

# 1. A tensor is an array that nobody may change                                        core/tensor.py
#
# An eager tensor holds a NumPy array, a dtype, and a number by which tapes know it. Python values are converted as in
# TensorFlow: floats become float32, ints become int32, and a number beside a tensor takes the tensor's dtype.

x = to_tensor([0.5, 1.0, 2.0])
assert type(x) is EagerTensor
assert x.dtype is dtypes.float32
assert x._a.dtype == np.float32
assert x._id is None  # no tape has asked for it yet
assert (x + 1).dtype is dtypes.float32  # the 1 became a float32

try:
    np.asarray(x)[0] = 7.0
except ValueError:
    print("1. a tensor's array is read-only:", x.numpy())


# 2. An op is one record                                                                op/definition.py
#
# The record has the op's name, its signature, its rules, and traits, which are left out here. Everything else in
# headrace (tapes, graphs, the compiler, the tests) reads the record and has no other knowledge of the op. Here is an op
# that TensorFlow does not have: log(1 + x^2), multiplied by an attribute.

def tour_infer(x, scale):  # the shape of the result
    return same_as_input(x)


def tour_kernel(x, scale):  # NumPy in, NumPy out: this is what eager execution runs
    return np.log1p(x * x) * x.dtype.type(scale)


def tour_lower(ctx, x, scale):  # the same function on jax values: this is what gets compiled
    return jnp.log1p(x * x) * jnp.asarray(scale, x.dtype)


def tour_grad(node, dy):  # the gradient; it calls only ops, so it has a gradient itself
    x = node.x  # was kept because `saves` names it
    return (dy * (2.0 * node.attrs["scale"]) * x / (1.0 + x * x),)


LOG_SQUARE = Op(
    "TourLogSquare",
    "x: T, *, scale: float = 1.0 -> y: T",
    T=dtypes.FLOATING,
    infer=tour_infer,
    kernel=tour_kernel,
    lower=tour_lower,
    saves=("x",),
    grad=tour_grad,
)

y = LOG_SQUARE(x, scale=3.0)
assert np.allclose(y.numpy(), 3 * np.log1p(x.numpy() ** 2))
assert REGISTRY["TourLogSquare"] is LOG_SQUARE
assert tf.raw_ops.TourLogSquare(x=x, scale=3.0).numpy().tolist() == y.numpy().tolist()
print("2. a new op gives", y.numpy())


# 3. Applying an op                                                                     op/apply.py
#
# `apply` applies an op to whatever it is given. In plain eager execution it does what these lines do: convert the
# inputs, check their dtypes, run the kernel, wrap the result. Eager tensors that fit already take a short cut past it,
# a function written for each op (op/lanes.py), which means the same.

def small_apply(op, inputs, attrs):
    tensors = [to_tensor(value) for value in inputs]
    for argument, tensor in zip(op.signature.inputs, tensors):
        assert tensor.dtype in op.types[argument.type_attr]
    result = op.kernel(*[tensor._a for tensor in tensors], **{**op.defaults, **attrs})
    return EagerTensor(np.asarray(result), tensors[0].dtype)


assert np.array_equal(small_apply(LOG_SQUARE, [x], {"scale": 3.0})._a, y._a)

# A wrong input is refused before any kernel runs. The error names the op, the argument, what is allowed and what came.
try:
    LOG_SQUARE(tf.constant([1, 2]))
except tf.errors.InvalidArgumentError as error:
    assert "TourLogSquare: x must be one of" in error.message
    assert "got int32" in error.message
    print("3. a refusal reads:", error.message[:60], "...")


# 4. Two more rules: shapes without values, and a second implementation                 op/infer.py
#
# `infer` computes the shape of the result from the shapes of the inputs, some of whose sizes may be unknown. `lower`
# must give what `kernel` gives: the tests compare the two for every row of every op.

shape = LOG_SQUARE.infer(Spec(TensorShape([None, 3]), dtypes.float32), scale=1.0)
assert shape.as_list() == [None, 3]
lowered = jax.jit(lambda value: LOG_SQUARE.lower(None, value, scale=3.0))(x.numpy())
assert np.allclose(lowered, y.numpy(), atol=1e-6)
print("4. kernel and lowering agree; infer says", shape)


# 5. Recorders listen to ops                                                            core/context.py
#
# A thread has a context, and the context has a list of recorders. A recorder keeps a set of numbers (`_id`): those of
# the tensors that it follows. After `apply` (or the short cut) has run an op on one of these, it hands the recorder a
# node, which holds the op, its attributes and the values named in `saves`. This recorder only writes down the names of
# the ops.

class Listener:
    def __init__(self, *watched):
        self.ids = set()
        self.heard = []
        for tensor in watched:
            self.follow(tensor)

    def follow(self, tensor):
        if tensor._id is None:
            tensor._id = next_id()
        self.ids.add(tensor._id)
        return tensor._id

    def record(self, node, inputs, ids, outputs):
        self.heard.append(node.op.name)
        for output in outputs:
            self.follow(output)

    def record_one(self, node, ids, output):  # what `apply` calls for an op with one output
        self.record(node, None, ids, [output])


listener = Listener(x)
with context.changed(recorders=(listener,)):
    LOG_SQUARE(x) * 2.0 - 1.0
    to_tensor(5.0) * 2.0  # does not depend on x, so nobody is told
assert listener.heard == ["TourLogSquare", "Mul", "Sub"]
print("5. a recorder heard", listener.heard)


# 6. A tape is a recorder that can go backwards                                         autodiff/tape.py
#
# A tape writes down each node with the numbers of its inputs and outputs. To differentiate, it walks through this list
# from the end to the beginning and calls each op's `grad`. A tensor that was used several times gets a gradient from
# each use, and these are added. That is all of reverse-mode differentiation.

class SmallTape(Listener):
    def __init__(self, *watched):
        super().__init__(*watched)
        self.entries = []

    def record(self, node, inputs, ids, outputs):
        self.entries.append((node, list(ids), [self.follow(output) for output in outputs]))

    def gradient(self, target, source):
        grads = {target._id: tf.ones_like(target)}
        for node, inputs, (output,) in reversed(self.entries):
            if output in grads:
                for number, grad in zip(inputs, node.op.grad(node, grads[output])):
                    if grad is not None and number is not None:
                        grads[number] = grads[number] + grad if number in grads else grad
        return grads[source._id]


def f(x):
    return LOG_SQUARE(x, scale=3.0) * x + x


small_tape = SmallTape(x)
with context.changed(recorders=(small_tape,)):
    target = f(x)
slope = small_tape.gradient(target, x)

with tf.GradientTape() as tape:
    tape.watch(x)
    target = f(x)
assert [node.op.name for node, _, _ in tape._tape.entries] == ["TourLogSquare", "Mul", "AddV2"]
assert np.allclose(tape.gradient(target, x).numpy(), slope.numpy())
print("6. our own tape agrees with tf.GradientTape:", slope.numpy())


# 7. Gradients of gradients
#
# A gradient is computed by ops. An outer tape hears these like any other ops, so it can differentiate them again.

with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        target = f(x)
    first = inner.gradient(target, x)
second = outer.gradient(first, x)


def slope_on_paper(at):
    return 3 * (np.log1p(at**2) + 2 * at**2 / (1 + at**2)) + 1


step = 1e-3
wide = x.numpy().astype(np.float64)
assert np.allclose(first.numpy(), slope_on_paper(wide), rtol=1e-5)
by_differences = (slope_on_paper(wide + step) - slope_on_paper(wide - step)) / (2 * step)
assert np.allclose(second.numpy(), by_differences, rtol=1e-4)
print("7. the second derivative agrees with finite differences:", second.numpy())


# 8. Tracing: the same Python, run on tensors without values                            graph/building/func_graph.py
#
# So far each op ran at once. A graph keeps the ops for later. To make one, we put a graph into the context and call
# the function with stand-ins: tensors that have a shape and a dtype, but no value. `apply` then runs no kernel. It
# asks the graph to add a node, and returns the stand-in for the result, whose shape `infer` tells.

class StandIn(Tensor):
    shape = dtype = _id = None

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def _dynamic_shape(self):  # what a tape keeps of a tensor when `saves` says `x_shape`
        return tuple(self.shape.as_list())


class SmallGraph:
    def __init__(self):
        self.nodes = []  # (op, inputs, attributes, output), in the order in which they were added

    def add_node(self, op, tensors, attrs, types, name):
        specs = [Spec(tensor.shape, tensor.dtype) for tensor in tensors]
        output = StandIn(op.infer(*specs, **attrs), tensors[0].dtype)
        self.nodes.append((op, tensors, attrs, output))
        return (output,)

    def constant(self, tensor, name=None):  # a number in the function's text stays a number
        return tensor


def small_trace(function, shape, dtype):
    graph = SmallGraph()
    argument = StandIn(TensorShape(shape), dtype)
    with context.changed(graph=graph, recorders=()):
        result = function(argument)
    return graph, argument, result


graph, argument, result = small_trace(f, [None], dtypes.float32)
assert [op.name for op, _, _, _ in graph.nodes] == ["TourLogSquare", "Mul", "AddV2"]
assert result.shape.as_list() == [None]  # a vector of any length

# The real graph is `FuncGraph`, its nodes are `Operation`s, its stand-ins `SymbolicTensor`s. It knows some more: the
# tensors that a function uses without being given them (captures), names, and the user's line that made each node.
# Python's own `if` and `while` cannot ask a stand-in for its value; `autograph/` rewrites them into ops beforehand.

concrete = tf.function(f).get_concrete_function(tf.TensorSpec([None], tf.float32))
real_graph = concrete.graph
assert [node.type for node in real_graph.nodes] == ["Placeholder", "TourLogSquare", "Mul", "AddV2", "Identity"]
print("8. traced:", [node.type for node in real_graph.nodes])


# 9. A tape inside of a trace
#
# Nothing new is needed for gradients in graphs: a tape records stand-ins as it records tensors, and the ops that the
# gradient calls become nodes like the others.

def slope_of_f(x):
    tape = SmallTape(x)
    with context.changed(recorders=(tape,)):
        value = f(x)
    return tape.gradient(value, x)


graph, argument, result = small_trace(slope_of_f, [3], dtypes.float32)
assert [op.name for op, _, _, _ in graph.nodes][:3] == ["TourLogSquare", "Mul", "AddV2"]
print(f"9. the graph of f has 3 operations, that of its derivative {len(graph.nodes)}")


# 10. Planning: a list of kernels to call                                               graph/running/plan.py
#
# To run a graph, give each value a numbered place and turn each node into an instruction: this kernel, these places in,
# that place out. Nodes that the result does not depend on are left out, and a value is dropped after its last use.

def small_plan(graph, argument, result):
    needed, steps = {id(result)}, []
    for node in reversed(graph.nodes):  # backwards: what do the outputs depend on?
        if id(node[3]) in needed:
            needed |= {id(tensor) for tensor in node[1]}
            steps.insert(0, node)
    places, start = {id(argument): 0}, [None]
    last_use = {id(tensor): number for number, node in enumerate(steps) for tensor in node[1]}
    instructions = []
    for number, (op, inputs, attrs, output) in enumerate(steps):
        for tensor in inputs:
            if id(tensor) not in places:  # an eager tensor: a constant of the plan
                places[id(tensor)] = len(start)
                start.append(tensor._a)
        operands = [places[id(tensor)] for tensor in inputs]
        is_dead = [id(t) for t in inputs if type(t) is StandIn and last_use[id(t)] == number]
        places[id(output)] = len(start)
        start.append(None)
        instructions.append((op, attrs, operands, places[id(output)], [places[key] for key in is_dead]))
    return start, instructions, places[id(result)]


def small_run(plan, array):
    start, instructions, result = plan
    values = [array, *start[1:]]
    for op, attrs, operands, place, dead in instructions:
        values[place] = op.kernel(*[values[i] for i in operands], **attrs)
        for i in dead:
            values[i] = None
    return values[result]


def wasteful(x):
    tf.exp(x) * 100.0  # nobody reads this
    return slope_of_f(x)


plan = small_plan(graph, argument, result)
assert len(plan[1]) == len(graph.nodes)
assert len(small_plan(*small_trace(wasteful, [3], dtypes.float32))[1]) == len(graph.nodes)
assert np.allclose(small_run(plan, x.numpy()), slope.numpy())

# The real `Plan` does the same, and more: results are written over inputs that are no longer needed, and errors tell
# the user's line. Before that, the passes in graph/passes/ simplify the graph without changing one bit of any result.

real_plan = real_graph.plan()
assert np.array_equal(real_plan.run([x.numpy()])[0], f(x).numpy())
doubled = tf.function(lambda x: tf.identity(f(x)) + f(x))
steps = doubled.get_concrete_function(x).graph.plan().steps  # f is computed once, and `identity` is not needed
assert [step.type for step in steps] == ["TourLogSquare", "Mul", "AddV2", "AddV2"]
print("10. a plan runs the graph; after passes, f(x) + f(x) is", [step.type for step in steps])


# 11. Lowering: the same instructions on jax values                                     graph/compiling/lowering.py
#
# If we walk through the same instructions, but call `lower` where the plan calls `kernel`, we get a function of jax
# values.

def small_lowered(plan):
    def function(array):
        start, instructions, result = plan
        values = [array, *start[1:]]
        for op, attrs, operands, place, _ in instructions:
            values[place] = op.lower(None, *[values[i] for i in operands], **attrs)
        return values[result]

    return function


# The real `Lowering` reads a `Block`: the plan's steps as plain data, which can be sent to another process. Beside
# values it carries state from op to op: variables, random streams, and whether a check has failed.

block = BlockBuilder().of_plan(real_plan)
assert [instruction.op for instruction in block.instructions] == ["TourLogSquare", "Mul", "AddV2"]
(lowered,) = Lowering(variables=[], used={}, streams={}).run(block, [jnp.asarray(x.numpy())])
assert np.allclose(lowered, f(x).numpy(), atol=1e-6)
assert np.allclose(small_lowered(plan)(jnp.asarray(x.numpy())), slope.numpy(), atol=1e-5)
print("11. lowered:", [instruction.op for instruction in block.instructions])


# 12. Compiling: XLA makes one program of it                                            graph/compiling/programs.py
#
# jax traces that function of jax values, as we traced f, and XLA compiles what it sees to machine code, for one shape.

compiled = jax.jit(small_lowered(plan))
assert np.allclose(compiled(x.numpy()), slope.numpy(), atol=1e-5)

signature, _ = signature_of([x.numpy()])  # the shapes that the program is made for
program = Program(build(block, signature), signature, random_nodes=[], fixed=1)
assert np.allclose(program.run([x.numpy()])[0], f(x).numpy(), atol=1e-6)

# In a user's program, graph/compiling/compilation.py decides. A function begins with its plan. If it is called again
# with the same shapes and is large enough, another process compiles it (graph/compiling/worker.py), and the program
# takes over when it is there. If a check in it fails, the plan runs instead, because it can raise the op's own error.
# `jit_compile=True` compiles before the first call.

at_once = tf.function(f, jit_compile=True)
assert np.allclose(at_once(x).numpy(), f(x).numpy(), atol=1e-6)
print("12. compiled:", np.asarray(compiled(x.numpy())))


# 13. tf.function: one trace for each kind of argument                                  tracing/function.py
#
# What is left is a dictionary. Its keys are what tracing depends on: dtype and shape of tensors, the value of anything
# else. Its values are the functions that were traced.

class SmallFunction:
    def __init__(self, function):
        self.function = function
        self.plans = {}

    def __call__(self, x):
        key = (x.dtype, tuple(x.shape.as_list()))
        if key not in self.plans:
            self.plans[key] = small_plan(*small_trace(self.function, x.shape, x.dtype))
        return EagerTensor(small_run(self.plans[key], x._a), x.dtype)


calls = []  # Python code runs while tracing, and only then


def counted(x):
    calls.append(x.shape.as_list())
    return f(x)


for kind in (SmallFunction, tf.function):
    function = kind(counted)
    for argument in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0, 7.0]):
        argument = to_tensor(argument)
        assert np.allclose(function(argument).numpy(), f(argument).numpy())
assert calls == [[2], [3]] * 2
print("13. three calls with two shapes: traced for", calls[:2])


# 14. A dataset is a chain of stages, a walk through it a chain of cursors              data/running/stages.py
#
# A stage describes a step of an input pipeline, and does nothing. To iterate, each stage makes a cursor, which pulls
# elements from the cursor of the stage before. An element is a tuple of arrays; None says that there are no more.

class Numbers:
    def __init__(self, stop):
        self.stop = stop

    def cursor(self):
        return NumbersCursor(self)


class NumbersCursor:
    def __init__(self, stage):
        self.stage, self.at = stage, 0

    def next(self):
        if self.at == self.stage.stop:
            return None
        self.at += 1
        return (np.array(self.at - 1),)

    def state(self):
        return {"at": self.at}

    def restore(self, state):
        self.at = state["at"]


class Pairs:  # sums of two neighbours: (0 + 1), (2 + 3), ...
    def __init__(self, source):
        self.source = source

    def cursor(self):
        return PairsCursor(self)


class PairsCursor:
    def __init__(self, stage):
        self.inner = stage.source.cursor()

    def next(self):
        first, second = self.inner.next(), self.inner.next()
        return None if first is None or second is None else (first[0] + second[0],)

    def state(self):
        return {"inner": self.inner.state()}

    def restore(self, state):
        self.inner.restore(state["inner"])


def rest_of(cursor):
    return [int(element[0]) for element in iter(cursor.next, None)]


assert rest_of(Pairs(Numbers(8)).cursor()) == [1, 5, 9, 13]

# The real ones are subclasses of `Stage` and `Cursor`. An op makes each stage (`RangeDataset` makes a `RangeStage`), so
# datasets can be made inside of functions and saved as graphs. A `tf.data.Dataset` holds the tensor that the op gives.


class RealPairs(Stage):
    def walk(self, run):
        return RealPairsCursor(self, run)


class RealPairsCursor(Cursor):
    def __init__(self, stage, run):
        self.inner = stage.inputs[0].cursor(run)

    next, state, restore = PairsCursor.next, PairsCursor.state, PairsCursor.restore


numbers = tf.data.Dataset.range(8)
source = stage_of(tf.data.experimental.to_variant(numbers)._a)
tensor = dataset_tensor(RealPairs(source.shapes, [source]))
pairs = tf.data.experimental.from_variant(tensor, numbers.element_spec)
assert [int(x) for x in pairs] == [1, 5, 9, 13]
assert pairs.map(lambda x: x * x).batch(2).as_numpy_iterator().next().tolist() == [1, 25]
print("14. a stage of our own, in a real pipeline:", [int(x) for x in pairs])


# 15. The state of a cursor is where to go on                                           data/running/iterators.py
#
# `state` asks the whole chain of cursors, and `restore` tells it. That is how a checkpoint of a training run goes on
# with the element after the last one that was used, without reading those before it.

for stage, arguments in ((Pairs(Numbers(8)), ()), (RealPairs(source.shapes, [source]), (Run(),))):
    cursor = stage.cursor(*arguments)
    cursor.next()
    state = cursor.state()
    another = stage.cursor(*arguments)
    another.restore(state)
    assert rest_of(another) == rest_of(cursor) == [5, 9, 13]
print("15. a walk goes on from", state)

# To go on reading: CONTRIBUTING.md says how to add an op, a pass, a dataset transformation; docs/decisions/ says why
# things are as they are.
