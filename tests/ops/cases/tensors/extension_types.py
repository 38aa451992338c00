"""Rows of extension types and of dispatch on the user's types."""

from rows import normal, row

_MASKED = """
import typing
class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor
m = Masked([1.0, -2.0], [True, False])
"""
_MANY = """
import typing
class Many(tf.experimental.ExtensionType):
    x: tf.Tensor
    y: typing.Union[int, str] = 3
    z: typing.Tuple[tf.Tensor, ...] = ()
    d: typing.Mapping[str, tf.Tensor] = {}
    s: tf.TensorShape = None
    def __validate__(self):
        self.x.shape.assert_has_rank(1)
"""


def _masked(code, **options):
    lines = code.split("\n")
    lines[-1] = "result = " + lines[-1]
    return row(_MASKED + "\n".join(lines), **options)


def _many(code, **options):
    lines = code.split("\n")
    lines[-1] = "result = " + lines[-1]
    return row(_MANY + "\n".join(lines), **options)


ROWS = [
    _masked("m"),
    _masked("repr(m)"),
    _masked("repr(tf.type_spec_from_value(m))"),
    _masked("Masked(1.0)"),
    _masked("Masked(1.0, 2, 3)"),
    _masked("Masked([1.0], mask='a')"),
    _masked("Masked([1.0], mask=object())"),
    _masked("m.values = 3\n0"),
    _masked("del m.values\n0"),
    _masked("m == m"),
    _masked("m == Masked([1.0, -2.0], [True, True])"),
    _masked("m != Masked([1.0, -2.0], [True, True])"),
    _masked("m == 3"),
    _masked("hash(m)"),
    _masked("tf.nest.map_structure(tf.identity, m, expand_composites=True)"),
    _masked("tf.nest.flatten(m)[0] is m"),
    _masked("m + m"),
    _masked("tf.constant(1.0) + m"),
    _masked("tf.convert_to_tensor(m)"),
    _masked("tf.abs(m)"),
    _masked("@tf.experimental.dispatch_for_api(tf.add)\ndef add(x: Masked, y: Masked):\n    return x.values + y.values\n"
            "tf.add(m, m)"),
    _masked("@tf.experimental.dispatch_for_api(tf.add)\ndef add(x: Masked, y: Masked):\n    return x.values + y.values\n"
            "tf.add(x=m, y=m, name='n')"),
    _masked("@tf.experimental.dispatch_for_api(tf.add)\ndef add(x: Masked, y: Masked):\n    return x.values + y.values\n"
            "tf.add(1, 2)"),
    _masked("@tf.experimental.dispatch_for_api(tf.add)\ndef add(a: Masked, b: Masked):\n    return 1\n0"),
    _masked("@tf.experimental.dispatch_for_api(tf.add)\ndef add(x, y):\n    return 1\n0"),
    _masked("@tf.experimental.dispatch_for_api(len)\ndef add(x: Masked):\n    return 1\n0"),
    _masked("@tf.experimental.dispatch_for_api(tf.subtract, {'x': Masked})\ndef sub(x, y, name=None):\n    return x.values\n"
            "tf.subtract(m, 3)"),
    _masked("@tf.experimental.dispatch_for_api(tf.concat)\ndef concat(values: typing.List[Masked], axis, name=None):\n"
            "    return tf.concat([v.values for v in values], axis)\ntf.concat([m, m], 0)"),
    _masked("@tf.experimental.dispatch_for_unary_elementwise_apis(Masked)\ndef unary(api, x):\n"
            "    return Masked(api(x.values), x.mask)\n[tf.abs(m), tf.nn.relu(m), tf.cast(m, tf.int32), "
            "tf.clip_by_value(m, 0.0, 1.0), tf.math.sigmoid(m)]"),
    _masked("@tf.experimental.dispatch_for_unary_elementwise_apis(Masked)\ndef unary(api, x):\n    return 1\n"
            "tf.experimental.unregister_dispatch_for(unary)\ntf.abs(m)"),
    _masked("def f(x):\n    return 1\ntf.experimental.unregister_dispatch_for(f)\n0"),
    _masked("@tf.experimental.dispatch_for_binary_elementwise_apis(Masked, typing.Union[Masked, tf.Tensor])\n"
            "def binary(api, x, y):\n    return api(x.values, getattr(y, 'values', y))\n"
            "[tf.multiply(m, m), tf.math.maximum(m, tf.constant(1.0)), tf.math.greater(m, m)]"),
    _masked("@tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)\n"
            "def binary(api, x, y):\n    return api(x.values, y.values)\ntf.math.maximum(m, 1.0)"),
    _masked("@tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)\n"
            "def check(api, x, y):\n    return api(x.values, y.values)\ntf.debugging.assert_equal(m, m)\n0"),
    row(_MASKED + "n = Masked(x, [True, False])\nwith tf.GradientTape() as tape:\n    tape.watch(n)\n    y = n.values * n.values\n"
        "result = tape.gradient(y, n).values", x=normal(2), grad=False,
        ours="TensorFlow's gradient of an extension type also differentiates its booleans and fails"),
    _many("Many([1.0], z=[1.0, 2.0], d={'a': 1})"),
    _many("Many(1.0)"),
    _many("Many([1.0], y=2.5)"),
    _many("Many([1.0], y='s').y"),
    _many("Many([1.0], z=3)"),
    _many("Many([1.0], d={3: 1})"),
    _many("repr(tf.type_spec_from_value(Many([1.0], s=[1, 2])))"),
    _many("repr(Many.Spec(x=tf.TensorSpec([None]), y=3, z=(), d={}, s=None))"),
    _many("Many.Spec(x=3)"),
    _many("class More(Many):\n    w: int = 5\nsorted(tf.experimental.extension_type.as_dict(More([1.0])))"),
    _many("issubclass(Many.Spec, tf.experimental.ExtensionTypeSpec)"),
    row("class Bad(tf.experimental.ExtensionType):\n    x: list\nresult = 0"),
    row("import typing\nclass Bad(tf.experimental.ExtensionType):\n    x: typing.List[int]\nresult = 0"),
    row("class Bad(tf.experimental.ExtensionType):\n    x: 'Undefined'\nresult = Bad(3)"),
    row("class Own(tf.experimental.ExtensionType):\n    x: tf.Tensor\n    n: int\n    def __init__(self, n):\n"
        "        self.x = tf.ones(n)\n        self.n = n\nresult = [Own(3), Own(2).n]"),
    row("class Own(tf.experimental.ExtensionType):\n    x: tf.Tensor\n    def __init__(self, n):\n        pass\nresult = Own(3)"),
    row("class C(tf.experimental.BatchableExtensionType):\n    v: tf.Tensor\n"
        "spec = tf.type_spec_from_value(C([[1.0, 2.0]]))\nresult = [repr(spec._unbatch()), repr(spec._batch(3))]"),
    row("isinstance(tf.experimental.ExtensionTypeBatchEncoder(), tf.experimental.ExtensionTypeBatchEncoder)"),
    row("class Celsius:\n    def __init__(self, t):\n        self.t = t\n    def __tf_tensor__(self, dtype=None, name=None):\n"
        "        return tf.convert_to_tensor(self.t, dtype=dtype)\nresult = [tf.convert_to_tensor(Celsius(2.5)), "
        "tf.add(Celsius(2.5), 1.0), Celsius(1.0).t * tf.constant(2.0), tf.stack([Celsius(1.0), Celsius(2.0)])]"),
    row("class Money:\n    def __init__(self, v):\n        self.v = v\n"
        "tf.register_tensor_conversion_function(Money, lambda value, dtype=None, name=None, as_ref=False: "
        "tf.constant(value.v, dtype=dtype))\nresult = [tf.convert_to_tensor(Money(3)), tf.add(Money(3), Money(4)), "
        "tf.constant([1.0]) * tf.cast(Money(2), tf.float32)]"),
    row("tf.register_tensor_conversion_function(int, lambda *a, **k: None); result = 0"),
    row("tf.register_tensor_conversion_function('x', lambda *a, **k: None); result = 0"),
]
