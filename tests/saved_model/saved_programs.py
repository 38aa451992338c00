"""Objects that are saved by TensorFlow and loaded here, and what is done with the loaded one: expressions over `m`.

A function of this file builds an object; its docstring has the expressions, one to a line. `S` makes constants,
`g(f, x)` is the gradient of `f(x)` with respect to `x`, `G(f, v)` that of `f()` with respect to a variable.
"""

import collections

PROGRAMS = {}
Pair = collections.namedtuple("Pair", "left right")


def program(build):
    PROGRAMS[build.__name__] = build
    return build


def expressions(build):
    """The lines of what is done with the loaded object."""
    return [line.strip() for line in build.__doc__.strip().splitlines() if line.strip()]


@program
def arguments(tf, folder):
    """
    m.f(S(1.0), True)
    m.f(S(1.0), training=True)
    m.f(S(1.0), False)
    m.f(S(1.0))
    m.f(2.0)
    m.f(2)
    m.f(S(1.0), 3)
    m.f()
    m.f(S(1.0), True, True)
    m.f(S([1.0, 2.0]))
    m.scaled(S(3.0))
    m.scaled(S(3.0), scale=2.0)
    m.scaled(S(3.0), scale=5.0)
    m.ordered(S(1.0), b=S(2), a=S(3.0))
    m.mode(S([1.0, 3.0]), 'sum')
    m.mode(S([1.0, 3.0]), 'mean')
    m.mode(S([1.0, 3.0]), 'other')
    m.star(S(1.0), S(2.0), extra=S(3.0))
    m.star(S(1.0))
    m.several(S([1.0, 2.0, 3.0]))
    m.several(S([[1.0, 2.0]]))
    m.several(S([[[1.0]]]))
    m.several([4.0])
    m.nested({'a': S(1.0), 'b': [S(2.0), (S(3.0),)]})
    m.nested({'a': 1.0, 'b': [2.0, (3.0,)]})
    m.nested({'a': 1.0, 'b': (2.0, (3.0,))})
    m.nested({'a': 1.0})
    m.pair(Pair(S(5.0), S(3.0)))
    m.typed(S([1, 2]))
    m.typed([1, 2])
    m.typed(S([1.0]))
    m.none(None)
    m.none(S(1.0))
    sorted(m.signatures)
    m.double.structured_outputs
    m.double.structured_input_signature
    m.double(x=S(4.0))
    m.double(S(4.0))
    len(m.f.concrete_functions)
    m.f.get_concrete_function(S(1.0), True)(S(1.0))
    """
    m = tf.Module()
    spec = tf.TensorSpec([], tf.float32)
    m.f = tf.function(lambda x, training=False: x + 10.0 if training else x)
    m.f.get_concrete_function(spec, True)
    m.f.get_concrete_function(spec, False)
    m.f.get_concrete_function(spec)

    @tf.function
    def scaled(x, *, scale=2.0):
        return x * scale

    m.scaled = scaled
    scaled.get_concrete_function(spec)

    @tf.function
    def ordered(x, *, b, a):
        return {"x": x, "a": a, "b": b}

    m.ordered = ordered
    ordered.get_concrete_function(spec, b=tf.TensorSpec([], tf.int32), a=spec)
    m.mode = tf.function(lambda x, mode: tf.reduce_sum(x) if mode == "sum" else tf.reduce_mean(x))
    m.mode.get_concrete_function(tf.TensorSpec([None]), "sum")
    m.mode.get_concrete_function(tf.TensorSpec([None]), "mean")
    m.star = tf.function(lambda *x, **more: (list(x), more))
    m.star.get_concrete_function(spec, spec, extra=spec)
    m.several = tf.function(lambda x: tf.shape(x))
    m.several.get_concrete_function(tf.TensorSpec([None]))
    m.several.get_concrete_function(tf.TensorSpec([None, 2]))
    m.nested = tf.function(lambda x: {"sum": x["a"] + x["b"][0], "rest": [x["b"][1][0], None]})
    m.nested.get_concrete_function({"a": spec, "b": [spec, (spec,)]})
    m.pair = tf.function(lambda p: p.left - p.right)
    m.pair.get_concrete_function(Pair(spec, spec))
    m.typed = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.int64)])
    m.none = tf.function(lambda x: tf.constant(1.0) if x is None else x)
    m.none.get_concrete_function(None)
    m.double = tf.function(lambda x: {"y": 2.0 * x}).get_concrete_function(tf.TensorSpec([], tf.float32, "x"))
    return m, {"signatures": {"one": m.typed, "two": m.double}}


@program
def variables(tf, folder):
    """
    [(v.name, v.dtype.name, v.shape.as_list(), v.trainable) for v in m.all]
    [v.numpy() for v in m.all]
    [f() for f in [m.first, m.second]]
    m.open.shape
    m.open.numpy()
    m.count()
    m.count()
    m.v.numpy()
    type(m.modules['a'].w.numpy()).__name__
    m.modules['b'].w.numpy()
    m.pair[1].numpy()
    len(m.mixed)
    m.mixed[0].numpy()
    m.v.assign(9)
    m.count()
    """
    m = tf.Module()
    m.v = tf.Variable(3, name="counter", trainable=False)
    kinds = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 half bfloat16 float32 float64 complex64 complex128"
    m.all = [
        tf.Variable(tf.cast([0, 1, 2], kind), name=f"v_{kind}", trainable=i % 2 == 0)
        for i, kind in enumerate(kinds.split())
    ]
    m.all.append(tf.Variable(["a", b"\xff", ""], name="v_string"))
    m.open = tf.Variable([[1.0, 2.0]], shape=tf.TensorShape([None, 2]), name="open")

    def module(value):
        inner = tf.Module()
        inner.w = tf.Variable(value)
        return inner

    m.modules = {"a": module([1.0]), "b": module([2.0, 3.0])}
    m.pair = (tf.Variable(1.0), tf.Variable(2.0))
    m.mixed = [tf.Variable([4.0]), [tf.Variable([5.0])]]
    m.first = tf.function(lambda: m.all[4] + 1, input_signature=[])
    m.second = tf.function(lambda: tf.strings.join([m.all[-1], "!"]), input_signature=[])
    m.count = tf.function(lambda: m.v.assign_add(1), input_signature=[])
    return m, {}


@program
def flow(tf, folder):
    """
    m.collatz(S(7))
    m.branch(S(-2.0))
    m.branch(S(2.0))
    m.mapped(S([[1.0, 2.0], [3.0, 4.0]]))
    m.power(S(2.0), S(5))
    g(lambda x: m.power(x, S(5)), 2.0)
    g(m.branch, -2.0)
    m.scan(S([1.0, 2.0, 3.0]))
    g(m.scan, [1.0, 2.0, 3.0])
    G(lambda: m.power(S(1.5), S(3)), m.w)
    g(lambda x: g(m.cube, x), 3.0)
    m.switch(S(1))
    m.switch(S(9))
    m.compiled(S([1.0, 2.0]))
    m.nested(S(3.0))
    g(m.nested, 3.0)
    m.checked(S(1.0))
    m.checked(S(-1.0))
    m.listed(S(3))
    m.of_data(S(5, 'int64'))
    """
    m = tf.Module()
    m.w = tf.Variable(2.0)
    scalar = [tf.TensorSpec([], tf.float32)]

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def collatz(n):
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    @tf.function(input_signature=scalar)
    def branch(x):
        if x > 0.0:
            return x * m.w
        else:
            return -x * x

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)])
    def power(x, n):
        y = m.w
        for _ in tf.range(n):
            y = y * x
        return y

    @tf.function(input_signature=scalar)
    def inner(x):
        return x * x + m.w

    @tf.function(input_signature=scalar)
    def nested(x):
        return inner(inner(x)) * 2.0

    @tf.function(input_signature=scalar)
    def checked(x):
        tf.debugging.assert_greater(x, 0.0, message="must be positive")
        return tf.sqrt(x)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def listed(n):
        squares = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        for i in tf.range(n):
            squares = squares.write(i, i * i)
        return squares.stack()

    m.collatz, m.branch, m.power, m.nested, m.checked, m.listed = collatz, branch, power, nested, checked, listed
    m.mapped = tf.function(lambda x: tf.map_fn(tf.reduce_sum, x), input_signature=[tf.TensorSpec([None, 2])])
    m.scan = tf.function(lambda x: tf.scan(lambda a, b: a * b, x), input_signature=[tf.TensorSpec([None])])
    m.cube = tf.function(lambda x: x * x * x, input_signature=scalar)
    m.switch = tf.function(
        lambda i: tf.switch_case(i, [lambda: 1.0, lambda: 2.0 * m.w, lambda: 3.0]),
        input_signature=[tf.TensorSpec([], tf.int32)],
    )
    m.compiled = tf.function(lambda x: tf.sin(x) + m.w, input_signature=[tf.TensorSpec([None])], jit_compile=True)
    m.of_data = tf.function(
        lambda n: (
            tf.data.Dataset.range(n)
            .map(lambda x: x * x)
            .batch(2)
            .reduce(tf.constant(0, tf.int64), lambda a, b: a + tf.reduce_sum(b))
        ),
        input_signature=[tf.TensorSpec([], tf.int64)],
    )
    return m, {}


@program
def gradients(tf, folder):
    """
    m.clipped(S([1.0, -2.0, 3.0]))
    g(m.clipped, [1.0, -2.0, 3.0])
    g(m.scaled, 2.0)
    G(lambda: m.scaled(S(2.0)), m.w)
    g(lambda x: g(m.scaled, x), 2.0)
    g(m.swish, [1.0, -1.0])
    g(lambda x: tf.reduce_sum(m.swish(x) * m.clipped(x)), [1.0, -1.0, 0.5])
    g(m.recomputed, [0.5, 0.25])
    g(m.stopped, 3.0)
    """
    m = tf.Module()
    m.w = tf.Variable(3.0)

    @tf.custom_gradient
    def clip(x):
        return tf.clip_by_value(x, -1.0, 2.0), lambda dy: dy * 7.0

    @tf.custom_gradient
    def times(x):
        y = x * x * m.w

        def grad(dy, variables=None):
            return dy * y * 10.0, [dy * x * 100.0]

        return y, grad

    vector = [tf.TensorSpec([None])]
    m.clipped = tf.function(lambda x: clip(x) * 2.0, input_signature=vector)
    m.scaled = tf.function(lambda x: times(x), input_signature=[tf.TensorSpec([])])
    m.swish = tf.function(lambda x: tf.nn.silu(x), input_signature=vector)
    again = tf.recompute_grad(lambda x: tf.exp(tf.sin(x)))
    m.recomputed = tf.function(lambda x: again(x), input_signature=vector)
    m.stopped = tf.function(lambda x: tf.stop_gradient(x) * x, input_signature=[tf.TensorSpec([])])
    return m, {}


@program
def tables(tf, folder):
    """
    m.of_file(S(['b', 'z']))
    m.of_tensors(S(['x', 'y', 'q']))
    m.words(S(['b', 'unknown', 'a']))
    m.mutable(S(['k', 'n']))
    m.put(S('n'), S(8, 'int64'))
    m.mutable(S(['k', 'n']))
    m.dense_(S([1, 2], 'int64'))
    m.line(S(1))
    """
    path = folder / "words.txt"
    path.write_text("a\nb\nc\n")
    m = tf.Module()
    index, whole = tf.lookup.TextFileIndex.LINE_NUMBER, tf.lookup.TextFileIndex.WHOLE_LINE
    m.file = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(str(path), tf.string, whole, tf.int64, index), -1)
    m.tensors = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["x", "y"], [1.5, 2.5]), 0.0)
    of_words = tf.lookup.TextFileInitializer(str(path), tf.string, whole, tf.int64, index)
    m.vocabulary = tf.lookup.StaticVocabularyTable(of_words, 2)
    m.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    m.table.insert(["k"], tf.constant([5], tf.int64))
    m.dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.5, -1, -2)
    m.dense.insert(tf.constant([2], tf.int64), [2.5])
    m.asset = tf.saved_model.Asset(str(path))
    strings = [tf.TensorSpec([None], tf.string)]
    m.of_file = tf.function(lambda x: m.file.lookup(x), input_signature=strings)
    m.of_tensors = tf.function(lambda x: m.tensors.lookup(x), input_signature=strings)
    m.words = tf.function(lambda x: m.vocabulary.lookup(x), input_signature=strings)
    m.mutable = tf.function(lambda x: m.table.lookup(x), input_signature=strings)

    @tf.function(input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int64)])
    def put(key, value):
        m.table.insert(key, value)
        return m.table.size()

    m.put = put
    m.dense_ = tf.function(lambda x: m.dense.lookup(x), input_signature=[tf.TensorSpec([None], tf.int64)])
    m.line = tf.function(
        lambda i: tf.strings.split(tf.io.read_file(m.asset.asset_path), "\n")[i],
        input_signature=[tf.TensorSpec([], tf.int32)],
    )
    return m, {}


@program
def composites(tf, folder):
    """
    m.ragged(tf.ragged.constant([[1, 2], [3]])).to_list()
    m.ragged(S([[1, 2]]))
    tf.sparse.to_dense(m.sparse(tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]])))
    m.both({'r': tf.ragged.constant([['a'], []]), 'n': S(2)})['r'].to_list()
    m.slices(S([1.0, 2.0, 3.0])).indices
    m.lengths(S(['a b', 'c'])).to_list()
    m.lengths.concrete_functions[0].structured_outputs
    [int(x) for x in m.numbers(S(3, 'int64'))]
    """
    m = tf.Module()
    ragged = tf.RaggedTensorSpec([None, None], tf.int32)
    m.ragged = tf.function(lambda r: r * 2 + 1, input_signature=[ragged])
    m.sparse = tf.function(
        lambda s: tf.sparse.map_values(tf.square, s), input_signature=[tf.SparseTensorSpec([None, None], tf.float32)]
    )
    m.both = tf.function(lambda x: {"r": tf.strings.join([x["r"], "!"]), "n": x["n"]})
    m.both.get_concrete_function({"r": tf.RaggedTensorSpec([None, None], tf.string), "n": tf.TensorSpec([], tf.int32)})
    m.slices = tf.function(lambda x: tf.IndexedSlices(x, tf.constant([2, 0, 1])), input_signature=[tf.TensorSpec([3])])
    m.lengths = tf.function(
        lambda x: tf.strings.length(tf.strings.split(x)), input_signature=[tf.TensorSpec([None], tf.string)]
    )
    m.numbers = tf.function(
        lambda n: tf.data.Dataset.range(n).map(lambda x: x * 10), input_signature=[tf.TensorSpec([], tf.int64)]
    )
    return m, {}


@program
def file_access(tf, folder):
    """
    m.read(S(INSIDE))
    """
    (folder / "inside.txt").write_text("in the folder")
    m = tf.Module()
    m.asset = tf.saved_model.Asset(str(folder / "inside.txt"))
    string = tf.TensorSpec([], tf.string)
    m.read = tf.function(lambda path: tf.io.read_file(path), input_signature=[string])
    m.own = tf.function(lambda: tf.io.read_file(m.asset.asset_path), input_signature=[])

    @tf.function(input_signature=[string, string])
    def write(path, text):
        tf.io.write_file(path, text)
        return path

    @tf.function(input_signature=[string])
    def lines(path):
        return tf.data.TextLineDataset(path).map(lambda x: tf.strings.length(x))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parts(paths):
        return tf.map_fn(tf.io.read_file, paths)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def python(x):
        return tf.py_function(lambda y: y + 1.0, [x], tf.float32)

    m.write, m.lines, m.parts, m.python = write, lines, parts, python
    m.matching = tf.function(lambda pattern: tf.io.matching_files(pattern), input_signature=[string])
    return m, {}
