"""Programs about functions: control flow, calls, gradients, structures, state."""

from catalog import Program, numbers, program
from programs_state import descent, seeded


class Functions(Program):
    """A module with one function `predict`, the method `run` of the program; `fill` gives it variables and tables."""

    trains = False

    def specs(self, tf):
        return [tf.TensorSpec([None, 4], name="x")]

    def fill(self, tf, obj):
        obj.w = tf.Variable(seeded(tf, [4, 4]))

    def build(self, tf):
        obj = tf.Module()
        self.fill(tf, obj)

        @tf.function(input_signature=self.specs(tf))
        def predict(*arguments):
            return self.run(tf, obj, *arguments)

        obj.predict = predict
        return obj


class Descent(Functions):
    """One that is trained too."""

    trains = True

    def build(self, tf):
        program = self

        class Root(tf.Module):
            def run(self, x):
                return program.run(tf, self, x)

        obj = Root()
        self.fill(tf, obj)
        return descent(tf, obj, self.specs(tf)[0])


@program
class WhileLoop(Descent):
    def run(self, tf, obj, x):
        def body(i, y):
            return i + 1, tf.tanh(tf.matmul(y, obj.w)) + x

        return tf.while_loop(lambda i, y: (i < 4) & (tf.reduce_sum(tf.abs(y)) < 1e3), body, [0, x])[1]


@program
class WhileNested(Descent):
    """Loops in loops, by Python's `for` and `while` with break and continue."""

    def run(self, tf, obj, x):
        total = tf.zeros_like(x)
        for i in tf.range(3):
            j = 0
            while j < i:
                j += 1
                if j == 2:
                    continue
                total += tf.sin(tf.matmul(x, obj.w) * tf.cast(j, tf.float32))
                if tf.reduce_max(total) > 100.0:
                    break
            total *= 0.9
        return total


@program
class Conditional(Descent):
    def run(self, tf, obj, x):
        y = tf.matmul(x, obj.w)
        first = tf.cond(
            tf.reduce_sum(y) > 0, lambda: tf.cond(tf.reduce_max(x) > 1, lambda: y * 2, lambda: y - x), lambda: -y
        )
        return tf.switch_case(
            tf.cast(tf.math.floormod(tf.reduce_sum(y), 3), tf.int32),
            [lambda: first, lambda: first * x, lambda: first + 1],
        )


@program
class Scan(Descent):
    def run(self, tf, obj, x):
        scanned = tf.scan(lambda a, row: tf.tanh(a + tf.linalg.matvec(obj.w, row)), x, initializer=tf.zeros([4]))
        mapped = tf.map_fn(lambda row: tf.tensordot(row, obj.w, 1), x)
        return scanned + mapped + tf.foldl(lambda a, row: a * 0.5 + row, mapped)


@program
class TensorArrays(Descent):
    def run(self, tf, obj, x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
        for i in tf.range(5):
            array = array.write(i, tf.matmul(x, obj.w) * tf.cast(i, tf.float32))
        return tf.reduce_sum(array.stack(), 0) + array.read(2) + array.gather([1, 3])[0]


@program
class TensorArrayParts(Functions):
    def run(self, tf, obj, x):
        array = tf.TensorArray(tf.float32, size=3).unstack(x[:3])
        parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
        return {"rows": array.stack(), "size": array.size(), "all": parts.concat()}


@program
class VectorizedMap(Functions):
    def run(self, tf, obj, x):
        return tf.vectorized_map(lambda row: tf.reduce_sum(tf.matmul(row[None], obj.w) ** 2), x)


@program
class FunctionsInFunctions(Descent):
    """A function that calls others, one of them for two shapes."""

    def fill(self, tf, obj):
        obj.w = tf.Variable(seeded(tf, [4, 4]))

        @tf.function
        def twice(v):
            return v + v

        @tf.function
        def outer(v):
            return twice(v) * twice(tf.reduce_sum(v))

        obj.helper = outer

    def run(self, tf, obj, x):
        return obj.helper(tf.matmul(x, obj.w)) * 0.1


@program
class FunctionsOfSeveralShapes(Program):
    """Traces that were made by calls: ranks, dtypes, Python arguments, defaults."""

    trains = False

    def build(self, tf):
        class Root(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(3.0)

            @tf.function
            def power(self, x, exponent=2, shift=0.5, *, flip=False):
                y = x ** tf.cast(exponent, x.dtype) + tf.cast(self.w, x.dtype) * tf.cast(shift, x.dtype)
                return tf.reverse(y, [0]) if flip else y

            @tf.function(input_signature=[tf.TensorSpec([None])])
            def predict(self, x):
                return self.power(x)

        obj = Root()
        self.outputs(tf, obj)
        return obj

    def inputs(self, tf, seed=0):
        return (numbers([3], seed),)

    def outputs(self, tf, obj):
        x = tf.constant(self.inputs(tf)[0])
        return [
            obj.power(x),
            obj.power(tf.constant([[1.0, 2.0]])),
            obj.power(tf.constant([1.0], tf.float64), 3),
            obj.power(x, flip=True),
            obj.power(x, 3, 1.5),
            obj.power(x, exponent=tf.constant(2)),
            obj.predict(x),
        ]


@program
class ConcreteFunctions(Program):
    """Concrete functions as attributes, and the module's `__call__`."""

    trains = False

    def build(self, tf):
        class Root(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(seeded(tf, [4]))

            @tf.function
            def __call__(self, x):
                return x * self.w

        obj = Root()
        obj.vector = obj.__call__.get_concrete_function(tf.TensorSpec([4], name="v"))
        obj.matrix = obj.__call__.get_concrete_function(tf.TensorSpec([None, 4], name="m"))
        return obj

    def outputs(self, tf, obj):
        x = tf.constant(numbers([2, 4]))
        return [obj.vector(x[0]), obj.matrix(x), obj(x), obj(x[1])]

    def signatures(self, tf, obj):
        return {"vector": obj.vector, "matrix": obj.matrix}

    def call_signatures(self, tf, loaded):
        x = tf.constant(numbers([2, 4]))
        return [loaded.signatures["vector"](v=x[0]), loaded.signatures["matrix"](m=x)]


@program
class SeveralSignatures(Functions):
    def fill(self, tf, obj):
        super().fill(tf, obj)

        @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x"), tf.TensorSpec([], tf.int32, name="k")])
        def top(x, k):
            best = tf.math.top_k(tf.matmul(x, obj.w), k)
            return {"values": best.values, "indices": best.indices}

        obj.top = top

    def run(self, tf, obj, x):
        return tf.matmul(x, obj.w)

    def signatures(self, tf, obj):
        return {"serving_default": obj.predict, "top": obj.top}

    def call_signatures(self, tf, loaded):
        x = tf.constant(self.inputs(tf)[0])
        return [loaded.signatures["serving_default"](x=x), loaded.signatures["top"](x=x, k=tf.constant(2))]


@program
class StructuredOutputs(Functions):
    has_signature = False

    def specs(self, tf):
        return [{"a": tf.TensorSpec([None, 4], name="a"), "b": (tf.TensorSpec([], tf.int32), [tf.TensorSpec([2])])}]

    def run(self, tf, obj, x):
        a, (b, [c]) = x["a"], x["b"]
        return {"sum": a + 1.0, "pair": (b * 2, [c, None]), "nested": {"w": tf.matmul(a, obj.w), "empty": ()}}

    def inputs(self, tf, seed=0):
        return ({"a": tf.constant(numbers([3, 4])), "b": (tf.constant(7), [tf.constant([1.0, 2.0])])},)


@program
class CustomGradient(Descent):
    def fill(self, tf, obj):
        super().fill(tf, obj)

        @tf.custom_gradient
        def clipped(v):
            return tf.exp(v), lambda up: tf.clip_by_value(up * tf.exp(v), -0.1, 0.1)

        obj.__dict__["clipped"] = clipped

    def save_model(self, tf, obj, folder):
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
        tf.saved_model.save(obj, folder, signatures=self.signatures(tf, obj), options=options)

    def run(self, tf, obj, x):
        return obj.clipped(tf.matmul(x, obj.w) * 0.1)


@program
class GradientOfLoaded(Descent):
    """Loaded functions are differentiated from outside, and the variables are moved from there."""

    def run(self, tf, obj, x):
        return tf.tanh(tf.matmul(x, obj.w)) * tf.nn.softmax(x) + tf.nn.relu(tf.matmul(x, obj.w, transpose_b=True))

    def train(self, tf, obj, step):
        x = tf.constant(self.inputs(tf, step)[0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(obj.predict(x) - 0.3))
            slope = tape.gradient(loss, obj.w)
        obj.w.assign_sub(0.1 * slope)
        return loss, slope, outer.gradient(slope, x)


@program
class CustomGradientOutside(Program):
    """A custom gradient of a saved function, asked from outside."""

    def build(self, tf):
        obj = tf.Module()
        obj.w = tf.Variable(seeded(tf, [4]))

        @tf.custom_gradient
        def double_slope(v):
            return tf.square(v), lambda up: up * 4.0 * v

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def predict(x):
            return double_slope(x * obj.w)

        obj.predict = predict
        return obj

    def train(self, tf, obj, step):
        x = tf.constant(self.inputs(tf, step)[0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(obj.predict(x))
        slope = tape.gradient(loss, obj.w)
        obj.w.assign_sub(0.01 * slope)
        return loss, slope

    def save_model(self, tf, obj, folder):
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
        tf.saved_model.save(obj, folder, signatures=self.signatures(tf, obj), options=options)


@program
class Assertions(Functions):
    """Checks and prints that are kept in order."""

    def run(self, tf, obj, x):
        tf.debugging.assert_less(x, 100.0, message="too large")
        with tf.control_dependencies([tf.debugging.assert_rank(x, 2)]):
            return tf.ensure_shape(tf.identity(x), [None, 4]) + tf.debugging.check_numerics(x, "bad")


@program
class StateInFunction(Program):
    """A function that counts, appends and assigns; gather and scatter on variables."""

    def build(self, tf):
        class Root(tf.Module):
            def __init__(self):
                super().__init__()
                self.count = tf.Variable(0, dtype=tf.int64, trainable=False)
                self.rows = tf.Variable(seeded(tf, [5, 4]))

            @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x")])
            def predict(self, x):
                return x + tf.gather(self.rows, [1, 1])[0], self.rows.sparse_read([0, 3])

            @tf.function(input_signature=[tf.TensorSpec([None, 4], name="x")])
            def step(self, x):
                self.count.assign_add(1)
                self.rows.scatter_nd_add([[0], [2]], x[:2])
                self.rows.scatter_update(tf.IndexedSlices(x[0], tf.constant(4)))
                self.rows[1].assign(x[1])
                return self.count.read_value(), tf.reduce_sum(self.rows)

        return Root()


@program
class CompiledFunction(Descent):
    """`jit_compile=True` inside."""

    def run(self, tf, obj, x):
        inner = tf.function(lambda v: tf.nn.gelu(tf.matmul(v, obj.w)), jit_compile=True)
        return inner(x)
