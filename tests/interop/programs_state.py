"""Programs about variables of every dtype and about the objects that hold them."""

import collections

import numpy as np
from catalog import Program, numbers, program

NUMERIC = [
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
]


def seeded(tf, shape, scale=1.0):
    """Numbers that depend on the global seed: another object starts with others."""
    return tf.random.stateless_normal(shape, [tf.random.uniform([], maxval=2**30, dtype=tf.int32), 1]) * scale


class Holder(Program):
    """Variables alone: no functions, nothing trained. `change` makes their values unlike a fresh object's."""

    has_functions = False
    trains = False

    def outputs(self, tf, obj):
        return [v.read_value() for v in self.variables(tf, obj)]

    def variables(self, tf, obj):
        return obj.variables


@program
class VariablesNumeric(Holder):
    def build(self, tf):
        obj = tf.Module()
        obj.all = {name: tf.Variable(tf.cast(tf.abs(seeded(tf, [2, 3], 5.0)), name)) for name in NUMERIC}
        return obj


@program
class VariablesEightBits(Holder):
    """The small floats."""

    def build(self, tf):
        obj = tf.Module()
        for name in ["float8_e5m2", "float8_e4m3fn"]:
            setattr(obj, name, tf.Variable(tf.cast(seeded(tf, [5]), name)))
        return obj


@program
class VariablesBoolAndString(Holder):
    def build(self, tf):
        obj = tf.Module()
        obj.flags = tf.Variable(seeded(tf, [3, 3]) > 0)
        obj.text = tf.Variable(tf.strings.as_string(seeded(tf, [2, 2])))
        obj.bytes = tf.Variable([b"", b"\x00\xff\x00", "schön".encode(), b"x" * 300])
        obj.scalar = tf.Variable(b"one")
        return obj


@program
class VariablesShapes(Holder):
    def build(self, tf):
        obj = tf.Module()
        shapes = [[], [1], [0], [3, 0, 2], [2, 3, 4], [1, 1, 1, 1, 1], [2, 1, 2, 1, 2, 1]]
        obj.list = [tf.Variable(seeded(tf, shape)) for shape in shapes]
        obj.loose = tf.Variable(seeded(tf, [4]), shape=tf.TensorShape(None))
        obj.rows = tf.Variable(seeded(tf, [2, 3]), shape=[None, 3])
        return obj


@program
class VariablesChanged(Holder):
    """Shapes that changed since the variable was made."""

    def build(self, tf):
        obj = tf.Module()
        obj.loose = tf.Variable(seeded(tf, [4]), shape=tf.TensorShape(None))
        return obj

    def train(self, tf, obj, step):
        obj.loose.assign(seeded(tf, [2, step + 1]))

    trains = False


@program
class VariablesNamed(Holder):
    """Names do not matter for checkpoints of objects: those here are equal, strange or missing."""

    def build(self, tf):
        obj = tf.Module()
        obj.a = tf.Variable(seeded(tf, [2]), name="same")
        obj.b = tf.Variable(seeded(tf, [2]), name="same", trainable=False)
        obj.__dict__["unseen"] = 3
        obj.with_dot = {"a.b": tf.Variable(seeded(tf, [1])), "c/d": tf.Variable(seeded(tf, [1]))}
        obj.with_mark = {".S": tf.Variable(seeded(tf, [1])), ".SLOT": tf.Variable(seeded(tf, [1]))}
        return obj


class _Block:
    """The class of a block of variables, for each framework."""

    def __new__(cls, tf, width):
        class Block(tf.Module):
            def __init__(self):
                super().__init__(name="block")
                self.w = tf.Variable(seeded(tf, [4, width]))
                self.b = tf.Variable(tf.zeros([width]))

            def __call__(self, x):
                return tf.tanh(tf.matmul(x, self.w) + self.b)

        return Block()


def descent(tf, obj, spec):
    """Gives a module functions `predict` and `step`, by its method `run` and plain gradient descent."""

    @tf.function(input_signature=[spec])
    def predict(x):
        return obj.run(x)

    @tf.function(input_signature=[spec])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(obj.run(x) - 0.3))
        for variable, slope in zip(obj.trainable_variables, tape.gradient(loss, obj.trainable_variables), strict=True):
            variable.assign_sub(0.1 * tf.convert_to_tensor(slope))
        return loss

    obj.predict, obj.step = predict, step
    return obj


class _Modules(Program):
    def spec(self, tf):
        return tf.TensorSpec([None, 4])

    def build(self, tf):
        class Root(tf.Module):
            run = self.run

        obj = Root()
        self.fill(tf, obj)
        return descent(tf, obj, self.spec(tf))


@program
class ModulesNested(_Modules):
    def fill(self, tf, obj):
        obj.first = _Block(tf, 4)
        obj.first.inner = _Block(tf, 4)
        obj.first.inner.inner = _Block(tf, 2)

    @staticmethod
    def run(obj, x):
        return obj.first.inner.inner(obj.first.inner(obj.first(x)))


@program
class ModulesInLists(_Modules):
    def fill(self, tf, obj):
        obj.blocks = [_Block(tf, 4), [_Block(tf, 4), _Block(tf, 4), _Block(tf, 3)]]

    @staticmethod
    def run(obj, x):
        first, (second, third, last) = obj.blocks
        return last(third(second(first(x))))


@program
class ModulesAppended(_Modules):
    """A list that grew."""

    def fill(self, tf, obj):
        obj.blocks = []
        for width in (4, 4, 2):
            obj.blocks.append(_Block(tf, width))
        obj.sizes = [4, 4, 2]
        obj.none = None
        obj.empty = []

    @staticmethod
    def run(obj, x):
        for block in obj.blocks:
            x = block(x)
        return x


@program
class ModulesInDicts(_Modules):
    def fill(self, tf, obj):
        obj.parts = {"in": _Block(tf, 4), "out": {"mean": _Block(tf, 2), "other": _Block(tf, 2)}}
        obj.ordered = collections.OrderedDict([("z", _Block(tf, 2)), ("a", _Block(tf, 2))])

    @staticmethod
    def run(obj, x):
        x = obj.parts["in"](x)
        return obj.parts["out"]["mean"](x) * obj.parts["out"]["other"](x) + obj.ordered["z"](x) - obj.ordered["a"](x)


Pair = collections.namedtuple("Pair", "left right")


@program
class ModulesInTuples(_Modules):
    def fill(self, tf, obj):
        obj.pair = Pair(_Block(tf, 4), _Block(tf, 4))
        obj.triple = (_Block(tf, 4), [_Block(tf, 2)], {"k": _Block(tf, 2)})

    @staticmethod
    def run(obj, x):
        x = obj.triple[0](obj.pair.left(x) - obj.pair.right(x))
        return obj.triple[1][0](x) + obj.triple[2]["k"](x)


@program
class ModulesShared(_Modules):
    """One block under two names, and a child that knows its parent."""

    def fill(self, tf, obj):
        obj.b_first = obj.a_second = _Block(tf, 4)
        obj.last = _Block(tf, 2)
        obj.last.parent = obj

    @staticmethod
    def run(obj, x):
        return obj.last(obj.a_second(obj.b_first(x)))


@program
class CheckpointTree(Holder):
    """Checkpoints inside of a checkpoint, lists and dicts given as keywords."""

    def build(self, tf):
        v = lambda *shape: tf.Variable(seeded(tf, list(shape)))
        inner = tf.train.Checkpoint(v=v(2), deep=tf.train.Checkpoint(w=v(3)))
        return tf.train.Checkpoint(
            inner=inner, list=[v(1), v(2)], dict={"k": v(1)}, step=tf.Variable(5, dtype=tf.int64)
        )

    def variables(self, tf, obj):
        return [obj.inner.v, obj.inner.deep.w, *obj.list, obj.dict["k"], obj.step]

    def checkpoint(self, tf, obj):
        return obj


@program
class CheckpointRoot(Holder):
    """A module as the root itself, with more attributes."""

    def build(self, tf):
        obj = tf.Module()
        obj.v = tf.Variable(seeded(tf, [3]))
        obj.extra = tf.Variable(seeded(tf, [2]))
        return obj

    def checkpoint(self, tf, obj):
        return tf.train.Checkpoint(root=obj, counter=tf.Variable(np.int64(9)))


@program
class GeneratorState(Program):
    """The position of a random generator."""

    has_functions = False

    def build(self, tf):
        obj = tf.Module()
        obj.philox = tf.random.Generator.from_seed(int(tf.random.uniform([], maxval=100, dtype=tf.int32)))
        obj.split = obj.philox.split(2)
        return obj

    def outputs(self, tf, obj):
        return [obj.philox.state.read_value(), obj.split[1].state.read_value()]

    def train(self, tf, obj, step):
        return [obj.philox.normal([3]), obj.philox.uniform([2], maxval=99, dtype=tf.int32), obj.split[1].uniform([4])]


@program
class GeneratorInFunction(Program):
    """A saved function that draws from a generator of the module."""

    def build(self, tf):
        class Draw(tf.Module):
            def __init__(self):
                super().__init__()
                self.source = tf.random.Generator.from_seed(int(tf.random.uniform([], maxval=100, dtype=tf.int32)))

            @tf.function(input_signature=[tf.TensorSpec([None, 4])])
            def predict(self, x):
                return x + tf.cast(self.source.state[0] % 7, tf.float32)

            @tf.function(input_signature=[tf.TensorSpec([None, 4])])
            def step(self, x):
                return x + self.source.normal(tf.shape(x)), self.source.uniform([2]), self.source.make_seeds(2)

        return Draw()


class _Iterator(Program):
    """The position in a dataset."""

    has_functions = False

    def build(self, tf):
        obj = tf.train.Checkpoint()
        obj.iterator = iter(self.dataset(tf))
        return obj

    def checkpoint(self, tf, obj):
        return obj

    def outputs(self, tf, obj):
        return []

    def train(self, tf, obj, step):
        return next(obj.iterator)


@program
class IteratorPlain(_Iterator):
    def dataset(self, tf):
        return tf.data.Dataset.range(100).map(lambda i: i * 3).batch(4)


@program
class IteratorShuffled(_Iterator):
    def dataset(self, tf):
        return tf.data.Dataset.range(40).shuffle(8, seed=3).repeat(3).batch(2)


@program
class IteratorCombined(_Iterator):
    def dataset(self, tf):
        first = tf.data.Dataset.from_tensor_slices(numbers([30, 2])).take(25).skip(2)
        return tf.data.Dataset.zip((first, tf.data.Dataset.range(50).filter(lambda i: i % 2 == 0))).prefetch(2)
