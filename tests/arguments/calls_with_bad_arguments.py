"""Calls of public functions in which one argument is bad, as text that any `tf` can evaluate.

The valid calls come from the rows of `tests/ops/cases`, which are thousands, and from `OTHER_CALLS` below for functions
that no row calls. Of each, one argument is replaced by one of `BAD_VALUES`. A seed decides which.
"""

import ast
import builtins
import inspect
import pathlib
import random
import sys
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ops"))

import families

BAD_VALUES = {
    "none": "None",
    "text": "'x'",
    "bytes": "b'x'",
    "empty text": "''",
    "float": "1.5",
    "negative": "-1",
    "very negative": "-99",
    "large": "99",
    "huge": "2**40",
    "beyond int64": "2**70",
    "nan": "float('nan')",
    "infinite": "float('inf')",
    "bool": "True",
    "complex": "1+2j",
    "empty list": "[]",
    "list": "[-5]",
    "floats": "[0.5, 1.5]",
    "mixed list": "[1, 'a']",
    "ragged list": "[[1], [2, 3]]",
    "list with None": "[None, 1]",
    "dict": "{}",
    "set": "{1, 2}",
    "object": "object()",
    "function": "abs",
    "class": "int",
    "dtype": "tf.float32",
    "dates": "np.zeros((2, 2), 'M8[s]')",
    "array of objects": "np.array([object()])",
    "text tensor": "tf.constant('s')",
    "bool tensor": "tf.constant([True])",
    "complex tensor": "tf.constant(1+2j)",
    "int64 tensor": "tf.constant([1, 2], tf.int64)",
    "uint8 tensor": "tf.constant(5, tf.uint8)",
    "double tensor": "tf.constant([[1.5, 2.5]], tf.float64)",
    "half tensor": "tf.constant([1.5], tf.float16)",
    "integers out of range": "tf.constant([7, -9])",
    "empty tensor": "tf.zeros([0])",
    "rank 6": "tf.ones([2, 3, 4, 5, 2, 1])",
    "variable": "tf.Variable([1.5, 2.5])",
    "ragged tensor": "tf.ragged.constant([[1.0], [2.0, 3.0]])",
    "sparse tensor": "tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])",
}  # fmt: skip

# `tf.keras` is another package; `tf.compat` and `tf.raw_ops` have the same functions and ops under other names.
EXCLUDED = ("tf.keras.", "tf.compat.", "tf.raw_ops.", "tf.experimental.numpy.", "tf.debugging.experimental.",
            "tf.config.", "tf.test.", "tf.print", "tf.py_function", "tf.numpy_function", "tf.profiler.")

_IMAGE = "tf.ones([1, 8, 8, 3])"
_BOXES = "tf.constant([[0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.9, 0.9]])"
_NUMBERS = "tf.data.Dataset.range(6)"
# Functions and methods that no row calls.
OTHER_CALLS = (
    f"tf.image.draw_bounding_boxes({_IMAGE}, [{_BOXES}], [[1.0, 0.0, 0.0]])",
    f"tf.image.extract_glimpse({_IMAGE}, [2, 2], [[0.0, 0.0]])",
    f"tf.image.extract_patches({_IMAGE}, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')",
    f"tf.image.non_max_suppression_padded({_BOXES}, [0.9, 0.5], 2)",
    "tf.image.non_max_suppression_overlaps([[1.0, 0.5], [0.5, 1.0]], [0.9, 0.5], 2)",
    "tf.image.combined_non_max_suppression([[[[0.0, 0.0, 1.0, 1.0]]]], [[[0.9]]], 1, 1)",
    f"tf.image.random_brightness({_IMAGE}, 0.2)",
    f"tf.image.random_contrast({_IMAGE}, 0.2, 0.5)",
    f"tf.image.random_crop({_IMAGE}, [1, 2, 2, 3])",
    f"tf.image.random_hue({_IMAGE}, 0.2)",
    f"tf.image.random_saturation({_IMAGE}, 0.2, 0.5)",
    f"tf.image.stateless_random_crop({_IMAGE}, [1, 2, 2, 3], [1, 2])",
    "tf.image.ssim(tf.ones([1, 16, 16, 3]), tf.ones([1, 16, 16, 3]), 1.0)",
    "tf.image.sample_distorted_bounding_box([8, 8, 3], [[[0.0, 0.0, 1.0, 1.0]]], min_object_covered=0.1)",
    "tf.nn.dilation2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1]), [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])",
    "tf.nn.erosion2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1]), [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])",
    "tf.nn.atrous_conv2d_transpose(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), [1, 6, 6, 1], 2, 'VALID')",
    "tf.nn.fractional_avg_pool(tf.ones([1, 4, 4, 1]), [1.0, 1.5, 1.5, 1.0])",
    "tf.random.truncated_normal([2, 3], 0.0, 1.0)",
    "tf.random.log_uniform_candidate_sampler(tf.constant([[1]], tf.int64), 1, 2, True, 5)",
    "tf.signal.ifft2d(tf.constant([[1+2j]], tf.complex64))",
    "tf.signal.irfft2d(tf.constant([[1+2j, 2]], tf.complex64), [1, 2])",
    "tf.signal.ifft3d(tf.constant([[[1+2j]]], tf.complex64))",
    "tf.make_tensor_proto([1.0, 2.0], tf.float32, [2])",
    "tf.data.Dataset.from_tensor_slices([1, 2, 3])",
    "tf.data.Dataset.from_tensors([1, 2, 3])",
    "tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32))",
    f"tf.data.Dataset.sample_from_datasets([{_NUMBERS}, {_NUMBERS}], [0.5, 0.5], seed=1)",
    f"tf.data.Dataset.choose_from_datasets([{_NUMBERS}, {_NUMBERS}], tf.data.Dataset.range(2))",
    "tf.data.Dataset.random(seed=1)",
    f"{_NUMBERS}.batch(2, drop_remainder=False)",
    f"{_NUMBERS}.map(lambda x: x + 1, num_parallel_calls=2)",
    f"{_NUMBERS}.filter(lambda x: x > 1)",
    f"{_NUMBERS}.take(2)",
    f"{_NUMBERS}.skip(2)",
    f"{_NUMBERS}.repeat(2)",
    f"{_NUMBERS}.shuffle(4, seed=1, reshuffle_each_iteration=True)",
    f"{_NUMBERS}.shard(2, 1)",
    f"{_NUMBERS}.prefetch(2)",
    f"{_NUMBERS}.window(2, shift=1, stride=1, drop_remainder=True)",
    f"{_NUMBERS}.enumerate(start=2)",
    f"{_NUMBERS}.interleave(lambda x: tf.data.Dataset.range(2), cycle_length=2, block_length=1)",
    f"{_NUMBERS}.flat_map(lambda x: tf.data.Dataset.range(2))",
    f"{_NUMBERS}.padded_batch(2, padded_shapes=[], padding_values=tf.constant(0, tf.int64))",
    f"{_NUMBERS}.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))",
    f"{_NUMBERS}.reduce(tf.constant(0, tf.int64), lambda s, x: s + x)",
    f"{_NUMBERS}.concatenate({_NUMBERS})",
    f"{_NUMBERS}.take_while(lambda x: x < 3)",
    f"{_NUMBERS}.ragged_batch(2)",
    f"{_NUMBERS}.rebatch(2)",
    f"{_NUMBERS}.bucket_by_sequence_length(lambda x: tf.constant(1), [2], [1, 1])",
    f"{_NUMBERS}.group_by_window(lambda x: x % 2, lambda k, d: d.batch(2), window_size=2)",
    "tf.TensorArray(tf.float32, size=2).write(0, 1.0)",
    "tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0])",
    "tf.Variable([1.0, 2.0]).assign([3.0, 4.0])",
    "tf.Variable([1.0, 2.0]).assign_add([3.0, 4.0])",
    "tf.RaggedTensor.from_row_splits([1.0, 2.0], [0, 1, 2])",
    "tf.RaggedTensor.from_tensor([[1.0, 2.0]], lengths=[1])",
    "tf.ragged.constant([[1.0], [2.0, 3.0]]).to_tensor(default_value=0.0)",
)


class Base(NamedTuple):
    """A valid call: the function's public name and the text of each argument."""

    function: str
    arguments: tuple[tuple[str, str], ...]

    @property
    def text(self):
        return call_text(self.function, self.arguments)


class Call(NamedTuple):
    """A call with one bad argument, and the valid one that it was made of."""

    text: str
    base: str
    function: str
    argument: str
    kind: str


_SPECIAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)


def call_text(function, arguments):
    return f"{function}({', '.join(f'{name}={text}' for name, text in arguments)})"


def bases(tf):
    """All valid calls by function; `tf` says the names of parameters, and whether a call is valid."""
    found = {}
    for family in families.NAMES:
        for row in families.rows_of(family):
            if row.ours is None:
                for base in _bases_of(tf, row):
                    _keep(tf, found, base)
    for text in OTHER_CALLS:
        node = ast.parse(text, mode="eval").body
        _keep(tf, found, _base(tf, node, {}, ast.unparse(node.func)))
    return {function: list(each.values()) for function, each in sorted(found.items())}


def _keep(tf, found, base):
    """Of calls that give the same parameters, the first valid one is kept."""
    given = tuple(name for name, _ in base.arguments)
    known = found.setdefault(base.function, {})
    if given not in known:
        try:
            eval(base.text, {"tf": tf, "np": np})
        except Exception:  # a row that shows an error
            return
        known[given] = base


def _bases_of(tf, row):
    try:
        tree = ast.parse(row.code, mode="eval")
    except SyntaxError:
        return []
    inputs = None
    found = []
    for node in ast.walk(tree):
        path = _path(node.func) if isinstance(node, ast.Call) else None
        if path is not None:
            if inputs is None:
                inputs = _input_texts(row)
            base = _base(tf, node, inputs, path)
            if base is not None:
                found.append(base)
    return found


def _path(node):
    """`tf.math.add`, or None for what is no such path."""
    inner = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    if inner is node or not isinstance(inner, ast.Name) or inner.id != "tf":
        return None
    path = ast.unparse(node)
    return None if path.startswith(EXCLUDED) or "._" in path else path


def _base(tf, node, inputs, path):
    function = _called(tf, path)
    if isinstance(function, type) or any(isinstance(x, ast.Starred) for x in node.args):
        return None
    if any(x.arg is None for x in node.keywords):
        return None
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*node.args, **{x.arg: x.value for x in node.keywords}).arguments
    except (TypeError, ValueError):
        return None
    kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
    if any(kinds[name] in _SPECIAL for name in bound):
        return None
    arguments = [(name, _text(value, inputs)) for name, value in bound.items()]
    if any(text is None or len(text) > 600 for _, text in arguments):
        return None
    return Base(path, tuple(arguments))


def _called(tf, path):
    """The function, or None if there is none of that name; a path may also be a method of a value."""
    try:
        return eval(path, {"tf": tf})  # from our own rows and calls
    except AttributeError:
        return None


class _Substitution(ast.NodeTransformer):
    def __init__(self, inputs):
        self.inputs = inputs

    def visit_Name(self, node):
        text = self.inputs.get(node.id)
        return node if text is None else ast.parse(text, mode="eval").body


def _text(node, inputs):
    """The expression with inputs written out; None if it needs other names."""
    node = _Substitution(inputs).visit(ast.parse(ast.unparse(node), mode="eval").body)
    loaded = {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}
    made = {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    made |= {x.arg for x in ast.walk(node) if isinstance(x, ast.arg)}
    unknown = loaded - made - {"tf", "np"} - set(dir(builtins))
    return None if unknown else ast.unparse(node)


def _input_texts(row):
    return {name: _literal(array) for name, array in row.arrays().items() if array.size <= 60}


def _literal(array):
    if array.dtype == object:
        return f"tf.constant({array.tolist()!r})"
    kind = {"bool_": "bool"}.get(array.dtype.name, array.dtype.name)
    return f"tf.constant({_nested(array.tolist())}, tf.{kind})"


def _nested(value):
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    if isinstance(value, float):
        return f"float('{value}')" if value != value or value in (float("inf"), float("-inf")) else f"{value:.3g}"
    return repr(value)


def calls(tf, count, seed):
    """`count` calls: functions in turn, each time another argument and another bad value."""
    rng = random.Random(seed)
    every = {function: each for function, each in bases(tf).items() if each}
    made, seen = [], set()
    while len(made) < count:
        before = len(made)
        functions = list(every)
        rng.shuffle(functions)
        for function in functions:
            base = rng.choice(every[function])
            if not base.arguments:
                continue
            argument = rng.choice(_changeable(tf, base))
            kind = rng.choice(list(BAD_VALUES))
            arguments = dict(base.arguments)
            arguments[argument] = BAD_VALUES[kind]
            text = call_text(function, arguments.items())
            if text not in seen and text != base.text:
                seen.add(text)
                made.append(Call(text, base.text, function, argument, kind))
        if len(made) == before:
            break
    return made[:count]


def _changeable(tf, base):
    """The names of parameters that may be replaced: those given, and those with a default."""
    return [
        name for name, parameter in inspect.signature(_called(tf, base.function)).parameters.items()
        if parameter.kind not in _SPECIAL and name != "name"
    ]
