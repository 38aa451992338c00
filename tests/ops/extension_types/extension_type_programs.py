"""Programs with extension types whose results TensorFlow recorded; each is a function that returns its result.

python tests/ops/extension_types/record_extension_types.py    # with TensorFlow; writes a file in tests/golden
"""

import importlib
import os
import pickle
import tempfile
import typing
from collections.abc import Mapping
from typing import Optional, Union

import numpy as np

tf = importlib.import_module(os.environ.get("PROGRAMS_OF", "headrace"))
X = tf.experimental


class Masked(X.BatchableExtensionType):
    __name__ = "Masked"
    values: tf.Tensor
    mask: tf.Tensor

    def __init__(self, values, mask=None):
        self.values = tf.convert_to_tensor(values)
        self.mask = tf.ones_like(self.values, tf.bool) if mask is None else tf.convert_to_tensor(mask)

    @property
    def shape(self):
        return self.values.shape

    @property
    def dtype(self):
        return self.values.dtype

    def with_default(self, default):
        return tf.where(self.mask, self.values, default)

    def __add__(self, other):
        return tf.add(self, other)

    class Spec:
        def __init__(self, shape=None, dtype=tf.float32):
            self.values = tf.TensorSpec(shape, dtype)
            self.mask = tf.TensorSpec(shape, tf.bool)

        @property
        def shape(self):
            return self.values.shape

        @property
        def dtype(self):
            return self.values.dtype


MaskedOrTensor = Union[Masked, tf.Tensor]


@X.dispatch_for_unary_elementwise_apis(Masked)
def masked_unary(api_func, x):
    return Masked(api_func(x.values), x.mask)


@X.dispatch_for_binary_elementwise_apis(MaskedOrTensor, MaskedOrTensor)
def masked_binary(api_func, x, y):
    x = x if isinstance(x, Masked) else Masked(x)
    y = y if isinstance(y, Masked) else Masked(y)
    return Masked(api_func(x.values, y.values), x.mask & y.mask)


@X.dispatch_for_api(tf.shape)
def masked_shape(input: Masked, out_type=tf.int32):
    return tf.shape(input.values, out_type)


@X.dispatch_for_api(tf.stack)
def masked_stack(values: list[MaskedOrTensor], axis=0):
    values = [v if isinstance(v, Masked) else Masked(v) for v in values]
    return Masked(tf.stack([v.values for v in values], axis), tf.stack([v.mask for v in values], axis))


@X.dispatch_for_api(tf.concat)
def masked_concat(values: list[MaskedOrTensor], axis, name="concat"):
    values = [v if isinstance(v, Masked) else Masked(v) for v in values]
    return Masked(tf.concat([v.values for v in values], axis), tf.concat([v.mask for v in values], axis))


@X.dispatch_for_api(tf.matmul, {"a": Masked, "b": MaskedOrTensor}, {"a": MaskedOrTensor, "b": Masked})
def masked_matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
                  b_is_sparse=False, output_type=None, grad_a=False, grad_b=False):  # fmt: skip
    a = a.with_default(0.0) if isinstance(a, Masked) else a
    b = b.with_default(0.0) if isinstance(b, Masked) else b
    return tf.matmul(a, b, transpose_a, transpose_b)


class Node(X.ExtensionType):
    """A list whose type names itself."""

    value: tf.Tensor
    rest: Optional["Node"] = None

    def total(self):
        return self.value if self.rest is None else self.value + self.rest.total()


class Left(X.ExtensionType):
    x: tf.Tensor
    other: Union["Right", None] = None  # a class that does not exist yet


class Right(X.ExtensionType):
    y: tf.Tensor
    back: tuple[Left, ...] = ()


class Tree(X.ExtensionType):
    label: str
    weight: tf.Tensor
    children: tuple["Tree", ...] = ()
    named: Mapping[str, "Tree"] = {}


class Pair(X.ExtensionType):
    __name__ = "Pair"
    x: tf.Tensor
    y: tf.Tensor


class Network(X.ExtensionType):
    shape: tf.TensorShape
    dtype: tf.DType = tf.float32
    ragged: Optional[tf.RaggedTensor] = None
    number: Union[int, float] = 3
    name: Union[str, None] = None
    pairs: tuple[Pair, ...] = ()
    mixed: Union[tf.Tensor, tf.RaggedTensor, None] = None


class Bounded(X.ExtensionType):
    x: tf.Tensor
    limit: float = 10.0

    def __validate__(self):
        self.x.shape.assert_has_rank(1)
        tf.debugging.assert_less(self.x, self.limit)


class Unresolved(X.ExtensionType):
    x: tf.Tensor
    y: Optional["NeverDefined"] = None  # noqa: F821


class Base(X.ExtensionType):
    a: tf.Tensor

    def twice(self):
        return self.a * 2


class Derived(Base):
    b: tf.Tensor = 5.0


class CsrRow(X.BatchableExtensionType):
    """A type with an encoder of its own: pairs of numbers are stored as one tensor."""

    low: tf.Tensor
    high: tf.Tensor
    shape: tf.TensorShape

    def __init__(self, low, high, shape=None):
        self.low = low
        self.high = high
        self.shape = tf.TensorShape([]) if shape is None else shape

    class __batch_encoder__(X.ExtensionTypeBatchEncoder):
        pass

    __batch_encoder__ = __batch_encoder__()

    class Spec:
        def __init__(self, shape=None):
            self.shape = tf.TensorShape([] if shape is None else shape)
            self.low = tf.TensorSpec(self.shape, tf.float32)
            self.high = tf.TensorSpec(self.shape, tf.float32)


class AngleEncoder(X.ExtensionTypeBatchEncoder):
    """Angles are kept as radians."""

    def encode(self, spec, value, minimum_rank=0):
        return value.degrees * (3.0 / 540.0)

    def decode(self, spec, encoded_value):
        return Angle(encoded_value * 180.0)

    def encoding_specs(self, spec):
        return spec.degrees


class Angle(X.BatchableExtensionType):
    degrees: tf.Tensor

    __batch_encoder__ = AngleEncoder()

    class Spec:
        def __init__(self, shape=()):
            self.degrees = tf.TensorSpec(shape, tf.float32)


# Forward references.


def refers_to_itself():
    chain = Node([1.0, 2.0], Node([10.0, 20.0], Node([100.0, 200.0])))
    return [chain.total(), chain.rest.rest.rest]


def refers_to_a_later_class():
    value = Left([1], Right([2], (Left([3]), Left([4]))))
    return [value.other.back[1].x, len(value.other.back), value.other.back[0].other]


def tree_in_a_function():
    tree = Tree("root", 1.0, (Tree("a", 2.0), Tree("b", 3.0, (Tree("c", 4.0),))), {"k": Tree("d", 5.0)})

    @tf.function
    def total(node):
        found = node.weight
        for child in node.children:
            found += total_of(child)
        return found + node.named["k"].weight

    def total_of(node):
        return node.weight + sum(total_of(child) for child in node.children)

    return [total(tree), tree.named["k"].label]


def wrong_class_in_a_forward_reference():
    return Node([1.0], Pair([1.0], [2.0]))


def unresolved_with_a_value():
    return Unresolved([1.0], Pair([1.0], [2.0]))


def unresolved_without_a_value():
    return Unresolved([1.0]).x


def forward_reference_in_spec():
    spec = Node.Spec(tf.TensorSpec([None], tf.float32), Node.Spec(tf.TensorSpec([None], tf.float32), None))

    @tf.function(input_signature=[spec])
    def total(node):
        return node.total()

    return [total(Node([1.0, 2.0], Node([3.0, 4.0]))), total(Node([1.0], Node([3.0])))]


def spec_of_a_self_reference():
    value = Node([1.0], Node([2.0]))
    spec = tf.type_spec_from_value(value)
    return [
        spec.value.shape.as_list(),
        spec.rest.value.dtype.name,
        spec.rest.rest,
        spec == tf.type_spec_from_value(value),
    ]


# Fields.


def fields_of_all_kinds():
    value = Network([3, None], "int32", tf.ragged.constant([[1, 2], []]), 2.5, "n", [Pair(1, 2), Pair(3, 4)], [1, 2])
    return [
        value.shape.as_list(),
        value.dtype.name,
        value.ragged.to_list(),
        value.number,
        value.name,
        [p.y for p in value.pairs],
        value.mixed,
    ]


def defaults():
    value = Network([2])
    return [value.dtype.name, value.ragged, value.number, value.name, len(value.pairs), value.mixed]


def union_of_ragged_and_dense():
    one, two = Network([1], mixed=[1.0]), Network([1], mixed=tf.ragged.constant([[1], [2, 3]]))
    return [type(one.mixed).__name__ != "RaggedTensor", type(two.mixed).__name__]


def validation():
    return Bounded([[1.0]])


def validation_of_values():
    return Bounded([11.0])


def validation_passes():
    return Bounded([1.0, 2.0]).x


def inheritance():
    value = Derived([1.0, 2.0])
    return [value.twice(), value.b, Derived(1.0, b=2.0).b]


def fields_cannot_change():
    value = Pair(1, 2)
    value.x = 3


def fields_cannot_be_deleted():
    value = Pair(1, 2)
    del value.x


def unknown_field():
    return Pair(1, 2, z=3)


def missing_field():
    return Pair(1)


def wrong_annotation():
    class Wrong(X.ExtensionType):
        x: list[int]


def field_called_spec():
    class Wrong(X.ExtensionType):
        Spec: tf.Tensor


def equality():
    a, b, c = Pair([1, 2], [3, 4]), Pair([1, 2], [3, 4]), Pair([1, 2], [3, 5])
    return [a == b, a == c, a != c, Pair([1], [2]) == a, a == 5]


def as_dict():
    return dict(X.extension_type.as_dict(Pair([1], [2.0])).items())


def shown():
    return [repr(Pair(1, 2.0)), repr(Masked.Spec([None], tf.int32)), repr(tf.type_spec_from_value(Network([2])))]


def pickled():
    value = pickle.loads(pickle.dumps(Tree("a", 1.0, (Tree("b", 2.0),))))
    return [value.label, value.children[0].weight]


# Dispatch.


def unary_dispatch():
    value = tf.sin(Masked([0.0, 1.0], [True, False]))
    return [
        type(value).__name__,
        value.values,
        value.mask,
        tf.abs(Masked([-1.0])).values,
        tf.nn.relu(Masked([-1.0])).values,
    ]


def binary_dispatch():
    m = Masked([1.0, 2.0], [True, False])
    return [
        tf.add(m, m).values,
        tf.add(m, tf.constant([3.0, 4.0])).mask,
        tf.multiply(tf.constant(2.0), m).values,
        (m + tf.constant(1.0)).values,
        tf.maximum(m, tf.constant(1.5)).values,
        tf.cast(m, tf.int32).values,
    ]


def api_dispatch_in_lists():
    m = Masked([1, 2], [True, False])
    stacked = tf.stack([m, tf.constant([3, 4])])
    joined = tf.concat([tf.constant([3, 4]), m], axis=0)
    return [stacked.values, stacked.mask, joined.values, joined.mask, tf.shape(m), tf.shape(m, tf.int64)]


def plain_tensors_stay():
    return [
        tf.stack([tf.constant(1), tf.constant(2)]),
        tf.add(1, 2),
        tf.concat([[1], [2]], 0),
        tf.matmul([[2.0]], [[3.0]]),
    ]


def api_dispatch_with_unions():
    m = Masked([[1.0, 2.0], [3.0, 4.0]], [[True, False], [True, True]])
    return [
        tf.matmul(m, m),
        tf.matmul(m, tf.eye(2)),
        tf.matmul(tf.ones([1, 2]), m),
        tf.matmul(a=m, b=m, transpose_b=True),
    ]


def dispatch_in_a_function():
    @tf.function
    def f(m, t):
        return tf.exp(tf.add(m, t)).with_default(0.0)

    return f(Masked([0.0, 1.0], [True, False]), tf.constant([1.0, 1.0]))


def dispatch_refuses_others():
    return tf.reduce_sum(Masked([1.0]))


def dispatch_needs_a_type():
    @X.dispatch_for_api(tf.reduce_mean)
    def f(input_tensor, axis=None):
        return 0


def dispatch_has_the_names():
    @X.dispatch_for_api(tf.reduce_mean)
    def f(x: Masked, axis=None, keepdims=False, name=None):
        return 0


def dispatch_undone():
    @X.dispatch_for_api(tf.argmax)
    def f(input: Masked, axis=None, output_type=tf.int64, name=None):
        return "masked"

    before = tf.argmax(Masked([1.0]))
    X.unregister_dispatch_for(f)
    try:
        tf.argmax(Masked([1.0]))
    except (TypeError, ValueError):
        return [before, "undone"]
    return [before, "stays"]


# Branches and loops.


def made_in_a_branch():
    @tf.function
    def f(flag, x):
        if flag:
            value = Pair(x, x * 2.0)
        else:
            value = Pair(x + 1.0, x)
        return value.x, value.y

    return [f(tf.constant(True), tf.constant([1.0])), f(tf.constant(False), tf.constant([1.0]))]


def made_by_cond():
    @tf.function
    def f(flag, x):
        return tf.cond(flag, lambda: Masked(x), lambda: Masked(x * 2.0, [False, True]))

    value = f(tf.constant(False), tf.constant([1.0, 2.0]))
    return [type(value).__name__, value.values, value.mask]


def cond_outside_of_functions():
    value = tf.cond(tf.constant(True), lambda: Masked([1.0]), lambda: Masked([2.0]))
    return value.values


def branches_of_other_types():
    @tf.function
    def f(flag, x):
        return tf.cond(flag, lambda: Pair(x, x), lambda: Masked(x))

    return f(tf.constant(True), tf.constant([1.0]))


def switch_case():
    @tf.function
    def f(i):
        return tf.switch_case(i, [lambda: Pair(1, 2), lambda: Pair(3, 4)]).y

    return [f(tf.constant(0)), f(tf.constant(1))]


def changed_in_a_loop():
    @tf.function
    def f(n):
        value = Pair(0.0, 1.0)
        for _ in tf.range(n):
            value = Pair(value.y, value.x + value.y)
        return value

    value = f(tf.constant(7))
    return [value.x, value.y]


def changed_by_while_loop():
    def f():
        _, value = tf.while_loop(
            lambda i, v: i < 5,
            lambda i, v: (i + 1, Masked(v.values * 2.0, v.mask)),
            (0, Masked([1.0, 2.0], [True, False])),
        )
        return [value.values, value.mask]

    return [f(), tf.function(f)()]


def grows_in_a_loop():
    @tf.function
    def f():
        value = Masked(tf.zeros([0]), tf.zeros([0], tf.bool))
        i = tf.constant(0)
        while i < 3:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(value, Masked.Spec([None], tf.float32))])
            value = Masked(tf.concat([value.values, [tf.cast(i, tf.float32)]], 0), tf.concat([value.mask, [i > 0]], 0))
            i += 1
        return value

    value = f()
    return [value.values, value.mask]


def nested_in_a_loop():
    @tf.function
    def f(n):
        node = Node([0.0], Node([1.0]))
        for _i in tf.range(n):
            node = Node(node.value + 1.0, Node(node.rest.value * 2.0))
        return node.value, node.rest.value

    return f(tf.constant(4))


def none_becomes_a_value_in_a_loop():
    @tf.function
    def f(n):
        node = Node([0.0])
        for _i in tf.range(n):
            node = Node([1.0], node)
        return node.value

    return f(tf.constant(4))


def loop_with_a_break():
    @tf.function
    def f(limit):
        value = Pair(0, 0)
        for i in tf.range(100):
            value = Pair(value.x + i, value.y + 1)
            if value.x > limit:
                break
        return value

    value = f(tf.constant(20))
    return [value.x, value.y]


def returned_in_a_branch():
    @tf.function
    def f(x):
        if x > 0:
            return Pair(x, 1)
        return Pair(-x, 0)

    return [f(tf.constant(3)).y, f(tf.constant(-3)).x]


def gradients_through_values():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        m = Masked(x * x, [True, False])
        y = tf.reduce_sum(tf.add(m, m).with_default(0.0))
    return tape.gradient(y, x)


def gradients_in_a_loop():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = Pair(x, tf.ones_like(x))
            for _ in tf.range(3):
                value = Pair(value.x * 2.0, value.y * value.x)
            y = tf.reduce_sum(value.y)
        return tape.gradient(y, x)

    return f(tf.constant([1.0, 2.0]))


# Functions.


def traces_by_type():
    traces = []

    @tf.function
    def f(value):
        traces.append(1)
        return value.x

    for value in (Pair(1, 2), Pair(3, 4), Pair(1.0, 2), Pair([1], [2])):
        f(value)
    return len(traces)


def traces_by_constants():
    traces = []

    @tf.function
    def f(value):
        traces.append(1)
        return value.weight

    for label in ("a", "b", "a"):
        f(Tree(label, 1.0))
    return len(traces)


def input_signatures():
    @tf.function(input_signature=[Masked.Spec([None, 2], tf.int32)])
    def f(m):
        return tf.reduce_sum(m.with_default(0))

    return [f(Masked([[1, 2]])), f(Masked([[1, 2], [3, 4]], [[True, False], [False, True]]))]


def input_signature_refuses():
    @tf.function(input_signature=[Masked.Spec([None, 2], tf.int32)])
    def f(m):
        return m.values

    return f(Masked([[1, 2, 3]]))


def concrete_functions():
    @tf.function
    def f(m):
        return m.with_default(-1.0)

    concrete = f.get_concrete_function(Masked.Spec([None], tf.float32))
    return concrete(Masked([1.0, 2.0], [True, False]))


def py_function():
    return tf.py_function(lambda m: m.with_default(0.0), [Masked([1.0, 2.0], [True, False])], tf.float32)


def nest_takes_apart():
    value = {"a": Pair(1, 2), "b": 3}
    flat = tf.nest.flatten(value, expand_composites=True)
    doubled = tf.nest.map_structure(lambda x: x * 2, value, expand_composites=True)
    return [len(tf.nest.flatten(value)), flat, doubled["a"].y]


# Batches.


def dataset_of_slices():
    ds = tf.data.Dataset.from_tensor_slices(Masked([[1, 2], [3, 4], [5, 6]], [[True, False]] * 3))
    return [[m.with_default(0) for m in ds], ds.element_spec.shape.as_list()]


def dataset_batches():
    ds = tf.data.Dataset.from_tensor_slices(Masked([1, 2, 3, 4, 5], [True, False, True, True, False]))
    batched = ds.map(lambda m: tf.add(m, tf.constant(1))).batch(2)
    return [
        [(type(m).__name__, m.values, m.mask) for m in batched],
        [m.values for m in batched.unbatch()],
        repr(batched.element_spec),
    ]


def dataset_of_tensors():
    ds = tf.data.Dataset.from_tensors(Network([2], ragged=tf.ragged.constant([[1], [2, 3]]), name="k")).repeat(2)
    return [[m.ragged.to_list() for m in ds], next(iter(ds)).name]


def dataset_batches_with_a_shape():
    value = CsrRow(tf.constant([1.0, 2.0, 3.0]), tf.constant([4.0, 5.0, 6.0]), tf.TensorShape([3]))
    ds = tf.data.Dataset.from_tensor_slices(value).batch(2)
    return [[(m.low, m.high, m.shape.as_list()) for m in ds]]


def dataset_of_what_cannot_batch():
    return [m.x for m in tf.data.Dataset.from_tensors(Pair([1], [2])).batch(2)]


def dataset_generator():
    def generate():
        yield Masked([1.0], [True])
        yield Masked([2.0, 3.0], [True, False])

    ds = tf.data.Dataset.from_generator(generate, output_signature=Masked.Spec([None], tf.float32))
    return [m.with_default(0.0) for m in ds]


def dataset_filters():
    ds = tf.data.Dataset.from_tensor_slices(Masked([1, 2, 3], [True, False, True])).filter(lambda m: m.mask)
    return [m.values for m in ds]


def map_fn_gives_values():
    value = tf.map_fn(
        lambda x: Masked(x * 2, [True, False]),
        tf.constant([[1, 2], [3, 4]]),
        fn_output_signature=Masked.Spec([2], tf.int32),
    )
    return [type(value).__name__, value.values, value.mask]


def map_fn_takes_values():
    m = Masked([[1, 2], [3, 4]], [[True, False], [True, True]])
    return [
        tf.map_fn(lambda v: tf.reduce_sum(v.with_default(0)), m, fn_output_signature=tf.int32),
        tf.map_fn(lambda v: tf.add(v, tf.constant(1)), m).values,
    ]


def map_fn_in_a_function():
    @tf.function
    def f(m):
        return tf.map_fn(lambda v: tf.negative(v), m)

    return f(Masked([[1.0, 2.0], [3.0, 4.0]])).values


def custom_encoder_in_map_fn():
    value = tf.map_fn(lambda x: Angle(x), tf.constant([0.0, 90.0]), fn_output_signature=Angle.Spec())
    return [value.degrees, tf.map_fn(lambda a: a.degrees + 1.0, value, fn_output_signature=tf.float32)]


def custom_encoder_in_datasets():
    ds = tf.data.Dataset.from_tensor_slices(Angle(tf.constant([0.0, 90.0, 180.0])))
    return [[a.degrees for a in ds], [a.degrees for a in ds.batch(2)], [a.degrees for a in ds.batch(2).unbatch()]]


def datasets_of_structures():
    ds = tf.data.Dataset.from_tensor_slices({"m": Masked([1, 2, 3, 4]), "t": [5, 6, 7, 8]})
    ds = ds.map(lambda d: (tf.add(d["m"], d["t"]), d["t"])).shuffle(10, seed=1).cache().batch(4, drop_remainder=True)
    m, t = next(iter(ds))
    return [tf.sort(m.values), tf.sort(t), ds.element_spec[0].shape.as_list()]


def datasets_zipped():
    ds = tf.data.Dataset.zip((tf.data.Dataset.range(2), tf.data.Dataset.from_tensor_slices(Masked([1.0, 2.0]))))
    return [
        [(i, m.values) for i, m in ds],
        [m.values for _, m in ds.skip(1).repeat(2)],
        [m.values for _, m in ds.concatenate(ds).take(3)],
    ]


def dataset_in_a_function():
    ds = tf.data.Dataset.from_tensor_slices(Masked([1, 2, 3], [True, False, True]))

    @tf.function
    def total(ds):
        result = Masked(tf.constant(0), tf.constant(True))
        for m in ds:
            result = tf.add(result, m)
        return result

    value = total(ds)
    return [value.values, value.mask]


# Other values.


def optionals():
    value = X.Optional.from_value(Pair(1, 2))
    empty = X.Optional.empty(tf.type_spec_from_value(Pair(1, 2)))
    return [value.get_value().y, value.has_value(), empty.has_value()]


def assertions():
    seen = []

    @X.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
    def check(assert_func, x, y):
        seen.append(assert_func.__name__)
        return assert_func(x.with_default(0.0), y.with_default(0.0))

    tf.debugging.assert_equal(Masked([1.0, 2.0], [True, False]), Masked([1.0, 3.0], [True, False]))
    try:
        tf.debugging.assert_less(Masked([1.0]), Masked([0.0]))
    except tf.errors.InvalidArgumentError:
        seen.append("raised")
    X.unregister_dispatch_for(check)
    return seen


def specs_as_dispatch_types():
    @X.dispatch_for_api(tf.reduce_max, {"input_tensor": Masked.Spec([None, None], tf.float32)})
    def highest(input_tensor, axis=None, keepdims=False, name=None):
        return tf.reduce_max(input_tensor.with_default(-1.0), axis)

    result = tf.reduce_max(Masked([[1.0, 2.0]], [[True, False]]))
    try:
        tf.reduce_max(Masked([1.0]))
        other = "dispatched"
    except (TypeError, ValueError):
        other = "refused"
    X.unregister_dispatch_for(highest)
    return [result, other]


def dispatch_by_position():
    @X.dispatch_for_api(tf.reduce_min, {0: Masked})
    def lowest(input_tensor, axis=None, keepdims=False, name=None):
        return "lowest"

    result = tf.reduce_min(Masked([1.0]))
    X.unregister_dispatch_for(lowest)
    return result


def operators_of_the_type():
    class Money(X.ExtensionType):
        cents: tf.Tensor

        def __add__(self, other):
            return Money(self.cents + other.cents)

        def __getitem__(self, key):
            return Money(self.cents[key])

        def __len__(self):
            return len(self.cents)

        def __bool__(self):
            return bool(tf.reduce_any(self.cents != 0))

    a = Money([1, 2, 3]) + Money([10, 20, 30])
    return [a.cents, a[1:].cents, len(a), bool(Money([0]))]


def methods_and_constants():
    class Polynomial(X.ExtensionType):
        degree: typing.ClassVar[int] = 2
        coefficients: tf.Tensor

        @classmethod
        def zero(cls):
            return cls(tf.zeros([cls.degree + 1]))

        @staticmethod
        def powers(x):
            return tf.stack([x**0, x, x**2])

        @tf.function
        def __call__(self, x):
            return tf.tensordot(self.coefficients, self.powers(x), 1)

    return [Polynomial.zero().coefficients, Polynomial([1.0, 2.0, 3.0])(tf.constant(2.0))]


def tensors_of_a_branch_and_constants():
    @tf.function
    def f(flag):
        if flag:
            value = Tree("same", 1.0)
        else:
            value = Tree("same", 2.0)
        return value

    value = f(tf.constant(False))
    return [value.label, value.weight]


def constants_that_differ_in_branches():
    @tf.function
    def f(flag):
        if flag:
            value = Tree("one", 1.0)
        else:
            value = Tree("other", 2.0)
        return value.weight

    return f(tf.constant(False))


def shapes_that_differ_in_branches():
    @tf.function
    def f(flag):
        if flag:
            value = Masked([1.0])
        else:
            value = Masked([1.0, 2.0])
        return value

    return f(tf.constant(False)).values


def shapes_that_change_in_a_loop():
    @tf.function
    def f(n):
        value = Masked([1.0])
        for _ in tf.range(n):
            value = Masked(tf.concat([value.values, [1.0]], 0))
        return value

    return f(tf.constant(3)).values


def dtypes_that_change_in_a_loop():
    @tf.function
    def f(n):
        value = Pair(1, 2)
        for _ in tf.range(n):
            value = Pair(1.0, 2)
        return value.x

    return f(tf.constant(3))


def made_first_in_a_loop():
    @tf.function
    def f(n):
        for i in tf.range(n):
            value = Pair(i, i + 1)
        return value.y

    return f(tf.constant(3))


def in_lists_and_dicts_of_a_loop():
    @tf.function
    def f(n):
        state = {"a": Pair(0, 1), "b": (Pair(2, 3), tf.constant(0))}
        for i in tf.range(n):
            state = {"a": Pair(state["a"].y, i), "b": (Pair(i, i), state["b"][1] + i)}
        return state

    value = f(tf.constant(4))
    return [value["a"].x, value["a"].y, value["b"][0].x, value["b"][1]]


def while_in_while():
    @tf.function
    def f():
        value = Pair(0, 0)
        i = tf.constant(0)
        while i < 3:
            j = tf.constant(0)
            while j < i:
                value = Pair(value.x + 1, value.y + j)
                j += 1
            if value.x > 1:
                value = Pair(value.x, value.y * 10)
            i += 1
        return value

    value = f()
    return [value.x, value.y]


def nested_functions():
    @tf.function
    def inner(p):
        return Pair(p.y, p.x)

    @tf.function
    def outer(p):
        return inner(inner(inner(p)))

    return outer(Pair(1, 2)).x


def ragged_fields_in_a_loop():
    @tf.function
    def f(n):
        value = Network([2], ragged=tf.ragged.constant([[1], [2, 3]]))
        for _ in tf.range(n):
            value = Network([2], ragged=value.ragged * 2)
        return value.ragged

    return f(tf.constant(2)).to_list()


def variables_in_fields():
    v = tf.Variable([1.0])
    value = Pair(v, 2.0)
    v.assign([5.0])
    return [value.x, type(value.x).__name__ == type(v).__name__]


# Saved models.


def saved_models():
    class Model(tf.Module):
        @tf.function(input_signature=[Masked.Spec([None], tf.float32)])
        def double(self, m):
            return Masked(m.values * 2.0, m.mask)

    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Model(), folder)
        loaded = tf.saved_model.load(folder)
        value = loaded.double(Masked([1.0, 2.0], [True, False]))
        return [type(value).__name__, value.values, value.mask]


def saved_models_with_structures():
    class Model(tf.Module):
        @tf.function
        def swap(self, values):
            return {"pair": Pair(values["pair"].y, values["pair"].x), "list": [values["list"][0] + 1]}

    model = Model()
    model.swap.get_concrete_function(
        {"pair": Pair.Spec(tf.TensorSpec([None]), tf.TensorSpec([None])), "list": [tf.TensorSpec([], tf.int32)]}
    )
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(model, folder)
        loaded = tf.saved_model.load(folder)
        value = loaded.swap({"pair": Pair([1.0], [2.0]), "list": [tf.constant(3)]})
        return [value["pair"].x, value["list"][0]]


def saved_models_with_branches():
    class Model(tf.Module):
        @tf.function(input_signature=[Masked.Spec([None], tf.float32), tf.TensorSpec([], tf.int32)])
        def grow(self, m, n):
            for i in tf.range(n):
                if i % 2 == 0:
                    m = Masked(m.values * 2.0, m.mask)
                else:
                    m = Masked(m.values + 1.0, ~m.mask)
            return m

    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Model(), folder)
        value = tf.saved_model.load(folder).grow(Masked([1.0, 2.0], [True, False]), tf.constant(3))
        return [value.values, value.mask]


# Keras.


def keras_takes_values():
    class Dense(tf.keras.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(2, 3), initializer="ones")

        def call(self, m):
            return tf.matmul(m.with_default(0.0), self.kernel)

    layer = Dense()
    layer.build([None, 2])
    return layer.call(Masked([[1.0, 2.0]], [[True, False]]))


PROGRAMS = {
    name: function
    for name, function in list(globals().items())
    if callable(function)
    and getattr(function, "__module__", None) == __name__
    and not isinstance(function, type)
    and not name.startswith("masked_")
}


def plain(value):
    """A result as JSON can hold it."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tf.Tensor, np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = np.round(array, 5)
        return {"type": array.dtype.name, "shape": list(array.shape), "values": array.tolist()}
    return f"{type(value).__name__}"


def result_of(program):
    """What the program gives, or the class of its error."""
    try:
        return plain(program())
    except Exception as error:
        return {"raises": [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, Exception)]}
