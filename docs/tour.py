"""A tour of headrace: an op and a tape, built from the real modules, in one file to read and run.

    python docs/tour.py

Every `assert` below is checked by the tests, so what this file says is so. Each section names the file in
`headrace/_src/` where the real thing lives.
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
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import REGISTRY, Op, Spec
from headrace._src.op.infer import same_as_input

# 1. A tensor is an array that nobody may change                                        core/tensor.py
#
# An eager tensor holds a NumPy array, a dtype, and a number under which tapes know it. Conversion follows
# TensorFlow's rules: Python floats are float32, Python ints int32, and a number adopts its neighbour's dtype.

x = to_tensor([0.5, 1.0, 2.0])
assert type(x) is EagerTensor
assert x.dtype is dtypes.float32
assert x._a.dtype == np.float32
assert x._id is None  # no tape has asked yet
assert (x + 1).dtype is dtypes.float32  # the 1 became a float32

try:
    np.asarray(x)[0] = 7.0
except ValueError:
    print("1. a tensor's array is read-only:", x.numpy())


# 2. An op is one record                                                                op/definition.py
#
# Its name and attributes are TensorFlow's, its rules stand beside it, and nothing else in headrace knows it.
# Here is one that TensorFlow lacks: log(1 + x^2), scaled by an attribute.

def tour_infer(x, scale):
    return same_as_input(x)


def tour_kernel(x, scale):  # NumPy in, NumPy out: this is what eager execution runs
    return np.log1p(x * x) * x.dtype.type(scale)


def tour_lower(ctx, x, scale):  # the same function on jax values: this is what gets compiled
    return jnp.log1p(x * x) * jnp.asarray(scale, x.dtype)


def tour_grad(node, dy):  # calls ops only, so gradients of gradients work
    x = node.x  # there because `saves` says so
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
# `apply` is the single door. Without tapes and graphs it does what these lines do: convert the inputs, check
# their dtypes, run the kernel, wrap the result. All else in it is for speed and for saying what is wrong.

def small_apply(op, inputs, attrs):
    tensors = [to_tensor(value) for value in inputs]
    for argument, tensor in zip(op.signature.inputs, tensors):
        assert tensor.dtype in op.types[argument.type_attr]
    result = op.kernel(*[tensor._a for tensor in tensors], **{**op.defaults, **attrs})
    return EagerTensor(np.asarray(result), tensors[0].dtype)


assert np.array_equal(small_apply(LOG_SQUARE, [x], {"scale": 3.0})._a, y._a)

# A wrong input is refused before any kernel runs, with the op, the argument, what it may be and what it is.
try:
    LOG_SQUARE(tf.constant([1, 2]))
except tf.errors.InvalidArgumentError as error:
    assert "TourLogSquare: x must be one of" in error.message
    assert "got int32" in error.message
    print("3. a refusal reads:", error.message[:60], "...")


# 4. What else an op knows: shapes without values, and a second implementation
#
# `infer` tells the shape of the result from shapes alone, even partly unknown ones; graphs need that. `lower`
# must agree with `kernel`; the tests compare the two for every row of every op.

shape = LOG_SQUARE.infer(Spec(TensorShape([None, 3]), dtypes.float32), scale=1.0)
assert shape.as_list() == [None, 3]
lowered = jax.jit(lambda value: LOG_SQUARE.lower(None, value, scale=3.0))(x.numpy())
assert np.allclose(lowered, y.numpy(), atol=1e-6)
print("4. kernel and lowering agree; infer says", shape)


# 5. Recorders: how a tape hears of ops                                                 core/context.py
#
# A thread's context holds its recorders. A recorder has the numbers (`_id`) of the tensors that it follows.
# When `apply` has run an op on one of them, it hands the recorder a node: the op, its attributes, and the values
# named in `saves`. Anything with `ids` and `record` can listen; this one keeps the names of what was applied.

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

    def record_one(self, node, ids, output):  # ops with one output, as most have
        self.record(node, None, ids, [output])


listener = Listener(x)
with context.changed(recorders=(listener,)):
    LOG_SQUARE(x) * 2.0 - 1.0
    to_tensor(5.0) * 2.0  # does not depend on x
assert listener.heard == ["TourLogSquare", "Mul", "Sub"]
print("5. a recorder heard", listener.heard)


# 6. A tape is a recorder that can go backwards                                         autodiff/tape.py
#
# It writes down (node, numbers of the inputs, numbers of the outputs) for what depends on what it watches.
# Going through that list in reverse, and adding what reaches a tensor by several ways, is all of reverse-mode
# differentiation. This one does what `tf.GradientTape` does, less the care for special cases.

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


small = SmallTape(x)
with context.changed(recorders=(small,)):
    target = f(x)
by_hand = small.gradient(target, x)

with tf.GradientTape() as tape:
    tape.watch(x)
    target = f(x)
assert [node.op.name for node, _, _ in tape._tape.entries] == ["TourLogSquare", "Mul", "AddV2"]
assert np.allclose(tape.gradient(target, x).numpy(), by_hand.numpy())
print("6. our own tape agrees with tf.GradientTape:", by_hand.numpy())


# 7. Gradients of gradients
#
# A gradient is made of ops, and an outer tape hears them like any others. That is all any order needs.

with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        target = f(x)
    first = inner.gradient(target, x)
second = outer.gradient(first, x)

step = 1e-3
wide = x.numpy().astype(np.float64)


def slope(at):  # of f, worked out on paper
    return 3 * (np.log1p(at**2) + 2 * at**2 / (1 + at**2)) + 1


assert np.allclose(first.numpy(), slope(wide), rtol=1e-5)
assert np.allclose(second.numpy(), (slope(wide + step) - slope(wide - step)) / (2 * step), rtol=1e-4)
print("7. and so does its second derivative with finite differences:", second.numpy())
