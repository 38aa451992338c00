"""Type specs and composite tensors, against what TensorFlow 2.21 answers."""

import copy
import pickle

import numpy as np
import pytest
from tables import check

from headrace._src.core import dtypes, nest
from headrace._src.core.composite import (
    CompositeTensor,
)
from headrace._src.core.specs import (
    BatchableTypeSpec,
    BoundedTensorSpec,
    NoneTensorSpec,
    TensorSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
    type_spec_from_value,
)
from headrace._src.core.tensor import EagerTensor
from headrace._src.core.tracing_protocol import (
    CastContext,
    PlaceholderContext,
    SupportsTracingProtocol,
    TraceType,
)


def tensor(values):
    array = np.array(values)
    array = array.astype(np.float32 if array.dtype.kind == "f" else np.int32)
    return EagerTensor(array, dtypes.as_dtype(array.dtype))


NAMES = {
    "Spec": TensorSpec,
    "Bounded": BoundedTensorSpec,
    "NoneSpec": NoneTensorSpec,
    "f32": dtypes.float32,
    "i32": dtypes.int32,
    "a": TensorSpec([2, None], dtypes.float32, name="a"),
    "b": TensorSpec([2, 3], dtypes.float32),
    "u": TensorSpec(None, dtypes.int32),
    "bound": BoundedTensorSpec((2,), dtypes.float32, 0.0, [1.0, 2.0], name="n"),
    "tensor": tensor,
    "t23": tensor([[1.0, 2.0, 3.0]] * 2),
    "t2": tensor([1.0, 2.0]),
    "i2": tensor([1, 2]),
    "cast": CastContext(),
    "cast_specs": CastContext(allow_specs=True),
    "spec_of": type_spec_from_value,
    "nest": nest,
    "np": np,
    "pickle": pickle,
    "copy": copy,
}

ROWS = [
    # specs
    ("a", "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')"),
    ("b", "TensorSpec(shape=(2, 3), dtype=tf.float32, name=None)"),
    ("u", "TensorSpec(shape=<unknown>, dtype=tf.int32, name=None)"),
    ("Spec(())", "TensorSpec(shape=(), dtype=tf.float32, name=None)"),
    ("Spec(3)", "TensorSpec(shape=(3,), dtype=tf.float32, name=None)"),
    ('Spec([2], "int32")', "TensorSpec(shape=(2,), dtype=tf.int32, name=None)"),
    ("Spec([2], np.float64)", "TensorSpec(shape=(2,), dtype=tf.float64, name=None)"),
    ('Spec([2], "foo")', TypeError),
    ("Spec([2], None)", TypeError),
    ("Spec([-1])", ValueError),
    ('a == Spec([2, None], f32, name="a")', "True"),
    ("a == Spec([2, None], f32)", "False"),
    ("a != Spec([2, None], f32)", "True"),
    ("a == 3", "False"),
    ('hash(a) == hash(Spec([2, None], f32, name="b"))', "True"),
    ("a.value_type.__name__", "'Tensor'"),
    ("a.name, a.shape, a.dtype", "('a', TensorShape([2, None]), tf.float32)"),
    ("a._serialize()", "(TensorShape([2, None]), tf.float32, 'a')"),
    ("Spec._deserialize(a._serialize())", "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')"),
    ("pickle.loads(pickle.dumps(a))", "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')"),
    ("copy.deepcopy(a)", "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')"),
    ("Spec.from_spec(a)", "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')"),
    ('Spec.from_spec(a, name="z")', "TensorSpec(shape=(2, None), dtype=tf.float32, name='z')"),
    ("Spec.from_spec(bound)", "TensorSpec(shape=(2,), dtype=tf.float32, name='n')"),
    ("Spec.from_tensor(t23)", "TensorSpec(shape=(2, 3), dtype=tf.float32, name=None)"),
    ('Spec.from_tensor(t23, name="q")', "TensorSpec(shape=(2, 3), dtype=tf.float32, name='q')"),
    ("Spec.from_tensor(3)", ValueError),
    ("Spec.from_tensor(np.zeros(2))", ValueError),
    # spec compatibility
    ("a.is_compatible_with(b)", "True"),
    ("a.is_compatible_with(t23)", "True"),
    ("b.is_compatible_with(Spec([2, 4]))", "False"),
    ("b.is_compatible_with(Spec([2, 3], i32))", "False"),
    ("b.is_compatible_with(np.zeros((2, 3), np.float32))", "False"),
    ("b.is_compatible_with([[1.0, 2.0, 3.0]] * 2)", "False"),
    ("b.is_compatible_with(None)", "False"),
    ("b.is_compatible_with(NoneSpec())", "False"),
    ("u.is_compatible_with(tensor(1))", "True"),
    ("b.is_subtype_of(a)", "True"),
    ("a.is_subtype_of(b)", "False"),
    ('b.is_subtype_of(Spec([2, 3], name="x"))', "True"),
    ('Spec([2, 3], name="x").is_subtype_of(b)', "False"),
    ('a.is_subtype_of(Spec([2, None], name="b"))', "False"),
    ("b.is_subtype_of(3)", "False"),
    ("b.most_specific_common_supertype([a])", "None"),
    ("a.most_specific_common_supertype([a])", "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')"),
    (
        "b.most_specific_common_supertype([Spec([3, 3])])",
        "TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)",
    ),
    ("b.most_specific_common_supertype([u])", "None"),
    ("b.most_specific_common_supertype([3])", "None"),
    ("b.most_specific_common_supertype([])", "TensorSpec(shape=(2, 3), dtype=tf.float32, name=None)"),
    ('a.most_specific_common_supertype([Spec([2, 3], name="b")])', "None"),
    ("a.most_specific_compatible_type(b)", ValueError),
    (
        "b.most_specific_compatible_type(Spec([3]))",
        "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)",
    ),
    ("b.most_specific_compatible_type(Spec([2, 3], i32))", ValueError),
    ("a.most_specific_compatible_type(3)", ValueError),
    # spec components
    ("a._component_specs", "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')"),
    ("a._to_components([1.0])", AssertionError),
    ("a._flat_tensor_specs", "[TensorSpec(shape=(2, None), dtype=tf.float32, name='a')]"),
    ("a._to_legacy_output_types()", "tf.float32"),
    ("a._to_legacy_output_shapes()", "TensorShape([2, None])"),
    ("a._to_legacy_output_classes().__name__", "'Tensor'"),
    ("a._batch(4)", "TensorSpec(shape=(4, 2, None), dtype=tf.float32, name=None)"),
    ("a._batch(None)", "TensorSpec(shape=(None, 2, None), dtype=tf.float32, name=None)"),
    ("a._unbatch()", "TensorSpec(shape=(None,), dtype=tf.float32, name=None)"),
    ("Spec([])._unbatch()", ValueError),
    ("u._unbatch()", "TensorSpec(shape=<unknown>, dtype=tf.int32, name=None)"),
    ("a._with_tensor_ranks_only()", "TensorSpec(shape=(None, None), dtype=tf.float32, name='a')"),
    ("a._without_tensor_names()", "TensorSpec(shape=(2, None), dtype=tf.float32, name=None)"),
    ("a.flatten()", "[TensorSpec(shape=(2, None), dtype=tf.float32, name='a')]"),
    ("a.from_tensors([])", TypeError),
    ("a.cast(b, cast_specs)", "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')"),
    ("a.cast(Spec([3, 3]), cast_specs)", AssertionError),
    ("Spec([2]).cast(i2, cast)", TypeError),
    ("Spec([3]).cast(t2, cast)", TypeError),
    ("Spec([2]).to_tensors(t2)[0] is t2", "True"),
    ("a._from_tensor_list([])", ValueError),
    ("a._from_tensor_list([t2])", ValueError),
    ("a._from_tensor_list([t23]) is t23", "True"),
    ("a._to_tensor_list(t23)[0] is t23", "True"),
    ("a.experimental_as_proto().dtype, a.experimental_as_proto().name", "(1, 'a')"),
    (
        "Spec.experimental_from_proto(a.experimental_as_proto())",
        "TensorSpec(shape=(2, None), dtype=tf.float32, name='a')",
    ),
    # bounded
    (
        "bound",
        "BoundedTensorSpec(shape=(2,), dtype=tf.float32, name='n', minimum=array(0., dtype=float32), "
        "maximum=array([1., 2.], dtype=float32))",
    ),
    ('bound == Bounded((2,), f32, 0.0, [1.0, 2.0], name="n")', "True"),
    ('bound == Bounded((2,), f32, 0.0, [1.0, 3.0], name="n")', "False"),
    ('bound == Spec((2,), name="n")', "False"),
    ('Spec((2,), name="n") == bound', "False"),
    ('hash(bound) == hash(Bounded((2,), f32, 0.0, [1.0, 2.0], name="n"))', "True"),
    ("bound.minimum", "array(0., dtype=float32)"),
    ("bound.maximum", "array([1., 2.], dtype=float32)"),
    ("bound.minimum.flags.writeable", "False"),
    ("Bounded((2,), f32, [0.0, 0, 0], 1.0)", ValueError),
    ("Bounded((2,), f32, None, 1.0)", ValueError),
    ("Bounded((2,), f32, 0.0, None)", ValueError),
    (
        "Bounded((2, 3), f32, [0.0, 1, 2], [[3.0], [4.0]])",
        "BoundedTensorSpec(shape=(2, 3), dtype=tf.float32, name=None, minimum=array([0., 1., 2.], "
        "dtype=float32), maximum=array([[3.],\n       [4.]], dtype=float32))",
    ),
    (
        "Bounded(None, f32, [0.0, 1, 2], 5.0)",
        "BoundedTensorSpec(shape=<unknown>, dtype=tf.float32, name=None, minimum=array([0., 1., 2.], "
        "dtype=float32), maximum=array(5., dtype=float32))",
    ),
    (
        "Bounded.from_spec(bound)",
        "BoundedTensorSpec(shape=(2,), dtype=tf.float32, name='n', minimum=array(0., dtype=float32), "
        "maximum=array([1., 2.], dtype=float32))",
    ),
    (
        "Bounded.from_spec(a)",
        "BoundedTensorSpec(shape=(2, None), dtype=tf.float32, name='a', minimum=array(-3.4028235e+38, "
        "dtype=float32), maximum=array(3.4028235e+38, dtype=float32))",
    ),
    ('Bounded.from_spec(Spec((2,), "string"))', TypeError),
    (
        "pickle.loads(pickle.dumps(bound))",
        "BoundedTensorSpec(shape=(2,), dtype=tf.float32, name='n', minimum=array(0., dtype=float32), "
        "maximum=array([1., 2.], dtype=float32))",
    ),
    (
        "bound._serialize()",
        "(TensorShape([2]), tf.float32, array(0., dtype=float32), array([1., 2.], dtype=float32), 'n')",
    ),
    ("bound.is_compatible_with(tensor([11.0, 2.0]))", "True"),
    ('bound.is_subtype_of(Spec((2,), name="n"))', "True"),
    (
        "Bounded((2,), f32, 0, 1).most_specific_common_supertype([Bounded((3,), f32, 0, 1)])",
        "BoundedTensorSpec(shape=(None,), dtype=tf.float32, name=None, minimum=array(0., "
        "dtype=float32), maximum=array(1., dtype=float32))",
    ),
    ("Bounded((2,), f32, 0, 1).most_specific_common_supertype([Bounded((2,), f32, 0, 2)])", "None"),
    ("Bounded((2,), f32, 0, 1)._batch(3)", "TensorSpec(shape=(3, 2), dtype=tf.float32, name=None)"),
    # none
    ("NoneSpec()", "NoneTensorSpec()"),
    ("NoneSpec() == NoneSpec()", "True"),
    ("NoneSpec().is_compatible_with(None)", "True"),
    ("NoneSpec().is_compatible_with(NoneSpec())", "True"),
    ("NoneSpec().is_compatible_with(1)", "False"),
    ("NoneSpec().value_type.__name__", "'NoneTensor'"),
    ("NoneSpec()._component_specs", "[]"),
    ("NoneSpec()._serialize()", "()"),
    ("NoneSpec()._to_components(None)", "[]"),
    ("NoneSpec()._from_components([])", "None"),
    ("NoneSpec()._batch(3)", "NoneTensorSpec()"),
    ("NoneSpec()._unbatch()", "NoneTensorSpec()"),
    ("NoneSpec()._to_legacy_output_types()", "NoneTensorSpec()"),
    ("NoneSpec().most_specific_compatible_type(NoneSpec())", "NoneTensorSpec()"),
    ("NoneSpec().most_specific_compatible_type(a)", ValueError),
    ("NoneSpec().is_subtype_of(NoneSpec())", "True"),
    ("spec_of(None)", "NoneTensorSpec()"),
    ("spec_of(t23)", "TensorSpec(shape=(2, 3), dtype=tf.float32, name=None)"),
    ("spec_of(object())", TypeError),
    ('spec_of({"a": 1})', TypeError),
    ("spec_of(a)", TypeError),
    ("nest.flatten(a, expand_composites=True)", "[TensorSpec(shape=(2, None), dtype=tf.float32, name='a')]"),
    (
        "nest.flatten([NoneSpec(), a], expand_composites=True)",
        "[TensorSpec(shape=(2, None), dtype=tf.float32, name='a')]",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), ROWS)
def test_as_tensorflow(expression, expected):
    check(expression, expected, NAMES)


class Box(CompositeTensor):
    """A tensor with a tag: a small composite."""

    def __init__(self, content, tag="t"):
        self.content, self.tag = content, tag

    @property
    def _type_spec(self):
        return BoxSpec(type_spec_from_value(self.content), self.tag)


class BoxSpec(BatchableTypeSpec):
    def __init__(self, content, tag="t"):
        self.content, self.tag = content, tag

    value_type = Box

    def _serialize(self):
        return (self.content, self.tag)

    @property
    def _component_specs(self):
        return {"content": self.content}

    def _to_components(self, value):
        return {"content": value.content}

    def _from_components(self, components):
        return Box(components["content"], self.tag)

    def _batch(self, batch_size):
        return BoxSpec(self.content._batch(batch_size), self.tag)

    def _unbatch(self):
        return BoxSpec(self.content._unbatch(), self.tag)


X = BoxSpec(TensorSpec([2]))
Y = BoxSpec(TensorSpec([None]))
Z = BoxSpec(TensorSpec([None]), "u")
BOX = Box(tensor([1.0, 2.0]))
BOX_NAMES = NAMES | {"X": X, "Y": Y, "Z": Z, "Box": BoxSpec, "box": BOX, "value": Box}

# What TensorFlow says about the same class.
BOX_ROWS = [
    ("X", "BoxSpec(TensorSpec(shape=(2,), dtype=tf.float32, name=None), 't')"),
    ("X == Box(Spec([2]))", "True"),
    ("X == Y, X != Y, X != 3", "(False, True, True)"),
    ("hash(X) == hash(Box(Spec([2])))", "True"),
    ("X.is_compatible_with(Y), X.is_compatible_with(Z)", "(True, False)"),
    ("X.is_compatible_with(box), Z.is_compatible_with(box)", "(True, False)"),
    ("X.is_compatible_with(object())", TypeError),
    ("X.is_subtype_of(Y), Y.is_subtype_of(X), X.is_subtype_of(Z)", "(True, False, False)"),
    ("X.most_specific_common_supertype([Y]) == Y", "True"),
    ("X.most_specific_common_supertype([Box(Spec([3]))]) == Y", "True"),
    ("X.most_specific_common_supertype([Z])", "None"),
    ("X.most_specific_common_supertype([b])", "None"),
    ("X.most_specific_common_supertype(3)", TypeError),
    ("X.most_specific_compatible_type(Z)", ValueError),
    ("X._flat_tensor_specs == [Spec([2])]", "True"),
    ("X._to_tensor_list(box)[0] is box.content", "True"),
    ("X._to_batched_tensor_list(box)[0] is box.content", "True"),
    ("Box(Spec([]))._to_batched_tensor_list(value(tensor(1.0)))", ValueError),
    ("X._from_tensor_list([box.content]).content is box.content", "True"),
    ("X._from_tensor_list([tensor([1.0])])", ValueError),
    ("X._from_tensor_list([])", ValueError),
    ("X._from_tensor_list([1.0])", ValueError),
    ("X._with_tensor_ranks_only() == Y", "True"),
    ("Box(a)._without_tensor_names() == Box(Spec([2, None]))", "True"),
    ("Box(a) == Box(Spec([2, None]))", "False"),
    ("X._to_legacy_output_types()", NotImplementedError),
    ("X.flatten() == [Spec([2])]", "True"),
    ("X.to_tensors(box)[0] is box.content", "True"),
    ("X.from_tensors(iter([box.content])).content is box.content", "True"),
    ("X.cast(box, cast).content is box.content", "True"),
    ("X.cast(value(tensor([1.0])), cast)", TypeError),
    ("X.cast(3, cast)", AttributeError),
    ("X.cast(Y, cast_specs)", AssertionError),
    ("Y.cast(X, cast_specs) == Y", "True"),
    ("pickle.loads(pickle.dumps(X)) == X", "True"),
    ("Box([Spec([2]), {'k': 1}], True) == Box([Spec([2]), {'k': 1}], 1)", "True"),
    ("Box([Spec([2]), {'k': 1}], True) == Box((Spec([2]), {'k': 1}), True)", "False"),
    ("Box([Spec([2])], True).is_compatible_with(Box([Spec([2])], 1))", "False"),
    ("Box([Spec([2]), {'k': 1}]).most_specific_common_supertype([Box([Spec([3]), {'k': 1}])])"
     " == Box([Spec([None]), {'k': 1}])", "True"),
    ("Box([Spec([2]), {'k': 1}]).most_specific_common_supertype([Box([Spec([3]), {'k': 2}])])", "None"),
    ("Box([Spec([2]), {'k': 1}]).most_specific_common_supertype([Box([Spec([3]), {'j': 1}])])", "None"),
    ("hash(Box({1}))", ValueError),
    ("Box(np.zeros(2)) == Box(np.zeros(2))", "True"),
    ("hash(Box(np.zeros(2))) == hash(Box(np.zeros(2)))", "True"),
    ("nest.flatten([box, 1], expand_composites=True)[0] is box.content", "True"),
    ("nest.flatten([box, 1])[0] is box", "True"),
    ("nest.flatten(X, expand_composites=True) == [Spec([2])]", "True"),
    ("nest.pack_sequence_as(X, [box.content], expand_composites=True).content is box.content", "True"),
    ("nest.flatten_with_tuple_paths([box], expand_composites=True)[0][0]", "(0, 'Box', 'content')"),
    ("nest.assert_same_structure(box, X)", "None"),
    ("nest.assert_same_structure(box, X, expand_composites=True)", "None"),
    ("nest.assert_same_structure(box, Y, expand_composites=True)", "None"),
    ("nest.assert_same_structure(box, Z, expand_composites=True)", ValueError),
    ("nest.assert_same_structure(box, Z, expand_composites=True, check_types=False)", ValueError),
    ("nest.assert_same_structure(box, 1, expand_composites=True)", ValueError),
    ("nest.assert_same_structure(box, [1], expand_composites=True)", TypeError),
    ("nest.flatten_up_to([X], [box], expand_composites=True)[0] is box.content", "True"),
    ("nest.flatten_up_to([1], [box], expand_composites=True)[0] is box", "True"),
    ("nest.flatten_up_to([Z], [box], expand_composites=True)", ValueError),
    ("nest.flatten_up_to([X], [[1]], expand_composites=True)", TypeError),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), BOX_ROWS)
def test_a_composite_of_ones_own(expression, expected):
    check(expression, expected, BOX_NAMES)


def test_map_structure_rebuilds_composites():
    (result,) = nest.map_structure(lambda x: tensor(x.numpy() + 1), [BOX], expand_composites=True)
    assert isinstance(result, Box)
    assert result.content.numpy().tolist() == [2.0, 3.0]
    assert nest.map_structure(lambda x: type(x).__name__, [BOX]) == ["Box"]


def test_nested_composites_are_flattened_to_tensors():
    outer = Box(BOX, "outer")
    assert nest.flatten(outer, expand_composites=True) == [BOX.content]
    spec = outer._type_spec
    assert spec.flatten() == [TensorSpec([2])]
    assert spec._flat_tensor_specs == [TensorSpec([2])]
    again = spec._from_tensor_list(spec._to_tensor_list(outer))
    assert again.content.content is BOX.content
    assert spec._batch(3)._flat_tensor_specs == [TensorSpec([3, 2])]


def test_abstract_specs_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        TypeSpec()
    with pytest.raises(TypeError, match="abstract"):
        BatchableTypeSpec()


def test_beyond_tensorflow():
    # TensorFlow compares the bounds with `==` on arrays and finds no supertype.
    bound = NAMES["bound"]
    assert bound.most_specific_common_supertype([bound]) == bound


def test_protocols():
    assert isinstance(TensorSpec([]), TraceType)
    assert isinstance(TensorSpec([]).shape, TraceType)
    assert isinstance(dtypes.int32, TraceType)
    assert isinstance(BOX, SupportsTracingProtocol)
    assert BOX.__tf_tracing_type__(None) == X
    assert isinstance(BOX.content, SupportsTracingProtocol)
    assert BOX.content.__tf_tracing_type__(None) == TensorSpec([2])
    assert BOX.consumers() == []
    with pytest.raises(NotImplementedError):
        BOX._shape_invariant_to_type_spec(None)
    with pytest.raises(NotImplementedError):
        CompositeTensor()._type_spec


def test_placeholders_come_from_the_context():
    class Graph(PlaceholderContext):
        def placeholder(self, spec):
            return ("placeholder", spec)

    assert TensorSpec([2]).placeholder_value(Graph()) == ("placeholder", TensorSpec([2]))
    assert X.placeholder_value(Graph()).content == ("placeholder", TensorSpec([2]))
    with pytest.raises(NotImplementedError, match="needs a graph"):
        TensorSpec([2]).placeholder_value(PlaceholderContext())


def test_registered_values_have_specs():
    class Mine:
        pass

    class Derived(Mine):
        pass

    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(Mine())
    register_type_spec_from_value_converter(Mine, lambda value: TensorSpec([7]))
    assert type_spec_from_value(Mine()) == TensorSpec([7])
    with pytest.raises(TypeError):
        type_spec_from_value(Derived())
    register_type_spec_from_value_converter(Mine, lambda value: TensorSpec([8]), allow_subclass=True)
    assert type_spec_from_value(Derived()) == TensorSpec([8])


def test_a_user_defined_trace_type():
    class Five(TraceType):
        def is_subtype_of(self, other):
            return self == other

        def most_specific_common_supertype(self, others):
            return self

        def placeholder_value(self, placeholder_context):
            return 5

        def __eq__(self, other):
            return isinstance(other, Five)

        def __hash__(self):
            return 5

    five = Five()
    assert five.cast(5, None) == 5
    assert five.flatten() == five.to_tensors(5) == []
    assert five.from_tensors(iter([])) == 5
    with pytest.raises(AssertionError):
        five.cast(6, None)
