"""Rows of `ops/debugging/assertions.py`, `static_assertions.py`, `numerics_checks.py` and `printing.py`."""

from rows import FLOATS, INTS, each, normal, row, uniform, value


def text(code, **options):
    return row(code, grad=False, **options)


def printed(arguments, prelude="", **options):
    """What `tf.print` writes, by way of a file."""
    return text(
        f"import collections, os, tempfile\n{prelude}\n"
        "path = os.path.join(tempfile.mkdtemp(), 'printed')\n"
        f"tf.print({arguments}, output_stream='file://' + path)\n"
        "with open(path, 'rb') as file: result = file.read()", **options
    )  # fmt: skip


COMPARE = [
    text(f"tf.debugging.assert_{name}({arguments})")
    for name in ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal")
    for arguments in ("[1, 2], [1, 2]", "[1, 2], [1, 3]", "[1, 2], [0, 1]", "[1, 2], 3",
      "[1.5], [[2.5], [1.5]]",
                      "[1, 2], [1, 2, 3]", "tf.zeros([0]), tf.zeros([0])")
] + [
    text("tf.debugging.assert_equal([1, 2], [1, 3], message='my message', summarize=1)"),
    text("tf.debugging.assert_equal(['a'], ['b'])"),
    text("tf.debugging.assert_equal(['a'], ['a'])"),
    text("tf.debugging.assert_equal([True], [False])"),
    text("tf.debugging.assert_equal(tf.constant([1]), tf.constant([1.0]))"),
    text("tf.debugging.assert_equal(tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.ragged.constant([[1.0], "
         "[2.0, 3.0]]))"),
    text("tf.debugging.assert_less(['a'], ['b'])"),
    text("tf.debugging.assert_less(1, 2), tf.debugging.assert_less_equal(2, 2), "
         "tf.debugging.assert_greater(2, 1), "
         "tf.debugging.assert_greater_equal(2, 2), tf.debugging.assert_none_equal(1, 2), "
         "tf.debugging.assert_positive(1), tf.debugging.assert_negative(-1), "
         "tf.debugging.assert_non_positive(0), tf.debugging.assert_non_negative(0)"),
    text("tf.assert_equal(1, 1), tf.assert_less(1, 2), tf.assert_greater(2, 1), tf.assert_rank([1], 1)"),
    text("tf.assert_equal([1], [2])"),
    text("tf.assert_less([3], [2])"),
    text("tf.assert_greater([1], [2])"),
    *(text(f"tf.debugging.assert_{name}({values})")
      for name in ("positive", "negative", "non_positive", "non_negative")
      for values in ("[1, 2]", "[-1.0, -2.0]", "[0, 1]", "[0, -1]", "[]",
        "[1, -2], message='m', summarize=1")),
    text("tf.debugging.assert_near([1.0, 2.0], [1.0, 2.000001])"),
    text("tf.debugging.assert_near([1.0, 2.0], [1.0, 2.001])"),
    text("tf.debugging.assert_near([1.0, 2.0], [1.0, 2.001], atol=0.01)"),
    text("tf.debugging.assert_near([1.0, 2.0], [1.0, 2.001], rtol=0.01, message='m')"),
    text("tf.debugging.assert_near([1, 2], [1, 2])"),
    *each("float16 float32 float64", "tf.debugging.assert_near(a, a)", a=normal(3), grad=False),
    *each("float16 float32 float64", "tf.debugging.assert_near(a, a + 0.1)", a=normal(3), grad=False),
    text("tf.debugging.assert_near(tf.constant([1 + 1j]), tf.constant([1 + 1.1j]))"),
    text("tf.debugging.assert_near(tf.constant([1 + 1j]), tf.constant([1 + 1j]))"),
]  # fmt: skip

ASSERT = [
    text("tf.debugging.Assert(True, [1])"),
    text("tf.debugging.Assert(tf.constant(False), [tf.constant('message'), tf.range(10)])"),
    text("tf.Assert(False, ['message', 1, 2.5], summarize=2)"),
    text("tf.debugging.Assert(1, ['message'])"),
    text("tf.debugging.Assert(False, [])"),
    text("tf.debugging.Assert([True, True], ['message'])"),
    text("tf.debugging.Assert([True, False], ['message'])",
         ours="TensorFlow passes any list that is not empty; headrace wants all elements to hold"),
    text("tf.raw_ops.Assert(condition=True, data=[1])"),
    text("tf.raw_ops.Assert(condition=False, data=[tf.range(10), 'a'], summarize=2)"),
    text("tf.raw_ops.Assert(condition=[False], data=[1])"),
]  # fmt: skip

STATIC = [
    *(text(f"tf.debugging.assert_rank({arguments})")
      for arguments in ("[1, 2], 1", "[1, 2], 2", "[[1]], 2, message='m'", "5, 0", "[1, 2], tf.constant(1)",
                        "[1, 2], [1]", "[1, 2], 1.5", "tf.SparseTensor([[0, 0]], [1], [2, 2]), 2")),
    *(text(f"tf.debugging.assert_rank_at_least({arguments})")
      for arguments in ("[1, 2], 1", "[1, 2], 2", "[[1]], 1", "[1, 2], 2.5", "[1, 2], 0")),
    *(text(f"tf.debugging.assert_rank_in({arguments})")
      for arguments in ("[1, 2], [1, 2]", "[1, 2], [0, 2]", "[1, 2], (2, 3), message='m'", "[1, 2], 1",
                        "[1, 2], [1.5]")),
    *(text(f"tf.debugging.assert_scalar({arguments})") for arguments in ("1", "[1]", "[1], message='m'",
        "'a'")),
    *(text(f"tf.debugging.assert_type({arguments})")
      for arguments in ("tf.constant(1), tf.int32", "tf.constant(1), tf.float32",
        "1.5, tf.int32, message='m'",
                        "tf.SparseTensor([[0]], [1], [1]), tf.int32",
                            "tf.SparseTensor([[0]], [1], [1]), tf.int64",
                        "tf.ragged.constant([[1]]), tf.int32", "tf.ragged.constant([[1]]), tf.float32")),
    *each(f"{INTS} {FLOATS} bool", "tf.debugging.assert_integer(a)", a=normal(2), grad=False),
    text("tf.debugging.assert_integer([1.5], message='m')"),
    text("tf.debugging.assert_integer(tf.constant([1], tf.qint8))"),
    *(text(f"tf.debugging.assert_proper_iterable({values})")
      for values in ("[1]", "'abc'", "tf.constant([1])", "np.array([1])", "3", "{'a': 1}", "(1,)", "{1}",
                     "tf.SparseTensor([[0]], [1], [1])", "b'a'")),
    *(text(f"tf.debugging.assert_same_float_dtype({arguments}).name")
      for arguments in ("", "[]", "dtype=tf.float64", "dtype=tf.int32", "[tf.constant(1.0)]",
        "[tf.constant(1)]",
                        "[tf.constant(1.0), tf.constant(1.0, tf.float64)]", "[tf.constant(1.0)], tf.float64",
                        "[tf.constant(1.0, tf.float16)] * 2, tf.float16", "[1.0]")),
    *(text(f"tf.debugging.is_numeric_tensor({x})")
      for x in ("1", "tf.constant(1)", "tf.constant('a')", "tf.constant(True)", "tf.constant(1j)",
        "np.array(1)",
                "tf.Variable(1.0)", "tf.constant([1], tf.qint8)")),
    *(text(f"tf.debugging.assert_shapes({shapes})")
      for shapes in (
          "[(tf.zeros([2]), ('N',)), (tf.zeros([2, 3]), ('N', 'Q'))]",
          "[(tf.zeros([2]), ('N',)), (tf.zeros([3, 3]), ('N', 'Q'))]",
          "[(tf.zeros([3, 3]), ('N', 4))]",
          "[(tf.zeros([3, 3]), (..., 3))]",
          "[(tf.zeros([3, 3]), ('...', 4))]",
          "[(tf.zeros([2, 3, 4]), ('*', 4))]",
          "[(tf.zeros([3, 3]), (3, '*'))]",
          "[(tf.zeros([3, 3]), ('.', 'N')), (tf.zeros([3]), ('N',))]",
          "[(tf.zeros([3, 3]), (None, 'N')), (tf.zeros([4]), ('N',))]",
          "[(tf.zeros([3, 3]), 'NN')]",
          "[(tf.zeros([3, 4]), 'NN')]",
          "[(tf.zeros([3, 3]), ())]",
          "[(tf.zeros([]), ())]",
          "[(tf.zeros([]), None)]",
          "[(tf.zeros([]), ('N',)), (tf.zeros([1]), ('N',))]",
          "[(tf.zeros([]), ('N',)), (tf.zeros([2]), ('N',))]",
          "[(tf.zeros([5]), ())]",
          "[(tf.zeros([3]), 3)]",
          "{'a': ('N',)}",
          "[]",
          "[(tf.zeros([3, 3]), ('...', 'N', '...'))]",
          "[(tf.zeros([3, 3]), ('N', 'N', 'N'))], message='m', data=['z']",
          "[(tf.zeros([3, 4]), ('N', 'N'))], message='m', data=['z'], summarize=2",
          "[(tf.SparseTensor([[0, 0]], [1], [1, 2]), (1, 'N'))]",
          "[(tf.SparseTensor([[0, 0]], [1], [1, 2]), (1, 3))]",
          "[(tf.zeros([2, 3]), ('...', 'D', 3)), (tf.zeros([2]), ('D',))]",
      )),
]  # fmt: skip

NUMERICS = [
    *each(FLOATS, "tf.debugging.check_numerics(a, 'message')", a=normal(2, 3)),
    *each(FLOATS, "tf.debugging.check_numerics(a, 'message')", a=value([1.0, float("nan")]), grad=False),
    *each(FLOATS, "tf.debugging.check_numerics(a, message='message')", a=value([1.0, float("inf")]),
        grad=False),
    text("tf.debugging.check_numerics([1], 'message')"),
    text("tf.debugging.check_numerics(tf.constant([1j]), 'message')"),
    text("tf.debugging.check_numerics(tf.zeros([0]), 'message')"),
    text("tf.debugging.check_numerics(tf.ragged.constant([[1.0], [2.0, 3.0]]), 'message')"),
    row("tf.debugging.assert_all_finite(a, 'message')", a=normal(3)),
    text("tf.debugging.assert_all_finite([1.0, float('nan')], 'message')"),
    row("tf.sqrt(tf.debugging.check_numerics(a, 'message'))", a=uniform(0.5, 2, 3)),
    text("x = tf.constant([0.0])\nwith tf.GradientTape() as t:\n  t.watch(x)\n"
         "  y = tf.sqrt(tf.debugging.check_numerics(x, 'message'))\nresult = t.gradient(y, x)"),
    row("tf.raw_ops.CheckNumerics(tensor=a, message='m')", a=normal(3)),
    row("tf.raw_ops.CheckNumericsV2(tensor=a, message='m')", a=normal(3)),
    *(text(f"tf.raw_ops.CheckNumericsV2(tensor={values}, message='m')")
      for values in ("[np.nan]", "[np.inf, -np.inf]", "[-np.inf, 1.0]")),
    *(text("tf.debugging.enable_check_numerics(stack_height_limit=30, path_length_limit=50)\n"
           f"try: result = {code}\nfinally: tf.debugging.disable_check_numerics()")
      for code in ("tf.math.log([1.0, 2.0])", "tf.math.log([0.0])", "tf.sqrt([-1.0])", "tf.zeros([2]) / 0",
                   "tf.identity(tf.constant([np.inf], tf.float32))", "tf.constant([np.inf], tf.float32) + 1",
                   "tf.reshape(tf.constant([np.inf], tf.float32), [1, 1])",
                       "tf.abs(tf.constant([np.inf], tf.float32))",
                   "tf.concat([[np.inf], [1.0]], 0)", "tf.range(3) + 1",
                   "tf.maximum(tf.constant([np.inf], tf.float32), 1.0)")),
    text("tf.debugging.enable_check_numerics()\ntf.debugging.enable_check_numerics()\n"
         "tf.debugging.disable_check_numerics()\nresult = tf.math.log([0.0])"),
]  # fmt: skip

SWITCHES = [
    text("tf.debugging.get_log_device_placement()"),
    text("tf.debugging.set_log_device_placement(False)"),
    text("before = "
         "tf.debugging.is_traceback_filtering_enabled()\ntf.debugging.disable_traceback_filtering()\n"
         "off = tf.debugging.is_traceback_filtering_enabled()\ntf.debugging.enable_traceback_filtering()\n"
         "result = [before, off, tf.debugging.is_traceback_filtering_enabled()]"),
]  # fmt: skip

PRINT = [
    *(
        printed(arguments)
        for arguments in (
            "1", "'a'", "'a', 'b', 3, sep='|'", "tf.constant('a')", "tf.constant('a\\nb')",
                "tf.constant(['a', 'b'])",
            "'x', tf.constant('a')", "tf.range(10)", "tf.range(10), summarize=-1",
                "tf.range(10), summarize=1",
            "'t:', tf.range(3), 'u:', tf.constant([1.5, 2.0])", "[1, 2, tf.constant(3)]",
            "{'b': 1, 'a': tf.range(3)}", "(1, 2.5, 'x')", "[1, [2, tf.constant([3, 4])]]", "None", "None, 1",
            "True, 1.5, 1j", "tf.constant(True)", "tf.constant([[1, 2], [3, 4]])", "np.array([1, 2])",
            "tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2])",
                "'s', tf.SparseTensor([[0, 0]], [1], [2, 2])",
            "[tf.SparseTensor([[0, 0]], [1], [2, 2])]", "tf.ragged.constant([[1, 2], [3]])",
            "'r:', tf.ragged.constant([['a', 'b'], ['c']])", "[tf.ragged.constant([[1.5]])]",
            "tf.ragged.constant([list(range(9)), []]), summarize=2", "tf.Variable([1, 2])",
                "'v', tf.Variable(1.5)",
            "''", "'a', end=''", "'b', end='END\\n'", "'100%s {} %d', tf.constant(1)",
                "tf.constant('{} %s'), 1",
            "[]", "{}", "()", "'a', name='n'", "[tf.constant('s')]", "{'k': tf.constant('s')}",
                "['abc', 'd\"e']",
            "tf.constant(1.0), tf.constant(1 / 3), tf.constant(0.1, tf.float64)", "b'bytes'", "1.0, [1e20]",
            "tf.float32", "tf.TensorShape([1, 2])", "np.float32(1.5), np.int64(3)", "{1, 2}",
            "collections.OrderedDict([('z', 1), ('a', tf.constant(2))])", "'a', 'b', sep=''",
                "tf.zeros([2, 0])",
            "range(3)", "'a' * 90, [list(range(40))]", "tf.constant(b'\\xff\\xfe')",
                "'é', tf.constant(['é'])",
            "[1, None, 'a']", "{'a': {'b': [tf.constant(1), 'x']}}", "'%t%', tf.constant(1), '%%t%'",
        )
    ),
    printed("P(1, tf.constant([2]))", "P = collections.namedtuple('P', 'x y')"),
    text("tf.print(3, output_stream=1)"),
    text("tf.print(3, output_stream='foo')"),
    text("tf.print(3, foo=1)"),
    text("tf.print(3, end=1)"),
    text("import os, tempfile\npath = os.path.join(tempfile.mkdtemp(), 'printed')\n"
         "tf.raw_ops.PrintV2(input='raw', output_stream='file://' + path, end='!')\n"
         "tf.print('again', tf.range(3), output_stream='file://' + path)\n"
         "with open(path, 'rb') as file: result = file.read()"),
    text("tf.raw_ops.PrintV2(input=['raw'], output_stream='stdout')"),
    text("tf.raw_ops.PrintV2(input='raw', output_stream='nowhere')"),
    row("tf.raw_ops.Print(input=a, data=[a, 'text'], message='printed: ', summarize=2)", a=normal(2)),
]  # fmt: skip

ROWS = [*COMPARE, *ASSERT, *STATIC, *NUMERICS, *SWITCHES, *PRINT]
