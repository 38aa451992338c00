"""Calls with one bad argument: classes that programs can catch as TensorFlow's, and messages that say what is wrong.

`sample.json` has several hundred calls that `scripts/bad_arguments` made up, and TensorFlow's class for each. The same
command makes thousands of others. The tables below have one call for each mechanism.
"""

import functools
import json
import pathlib
import pickle
import re

import evaluation_of_calls as evaluation
import numpy as np
import permissions
import pytest

import headrace as tf

SAMPLE = json.loads((pathlib.Path(__file__).parent / "sample.json").read_text())
InvalidArgumentError = tf.errors.InvalidArgumentError


@functools.cache
def answers():
    names = {"tf": tf, "np": np}
    return [(call, evaluation.answer(tf, names, call["text"])) for call in SAMPLE]


def test_classes_are_those_that_programs_catch():
    differing = []
    count = 0
    for call, ours in answers():
        if "error" in ours and call["theirs"]:
            count += 1
            if evaluation.outcome(ours, {"error": call["theirs"]}) == "other class":
                differing.append((call["text"], ours["error"][0], call["theirs"][0]))
    assert count > 300
    assert len(differing) <= 0.03 * count, differing


def test_messages_name_the_function_and_the_argument():
    errors = [(call, ours["message"]) for call, ours in answers() if "error" in ours]
    unnamed = [
        (call["text"], message) for call, message in errors
        if not (evaluation.names_function(call, message) and evaluation.names_argument(call, message))
    ]
    assert len(unnamed) <= 0.03 * len(errors), unnamed
    assert all(len(message) < 1500 for _, message in errors)


def test_hardly_any_call_is_computed_that_tensorflow_refuses():
    computed = [call["text"] for call, ours in answers() if "value" in ours and call["theirs"]]
    assert len(computed) <= 0.02 * len(SAMPLE), computed


X = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def pooled(ksize):
    return tf.raw_ops.MaxPool(input=tf.ones([1, 2, 2, 1]), ksize=ksize, strides=[1, 1, 1, 1], padding="SAME")


# What an attribute of each kind refuses: TensorFlow's class, and the user's argument.
ATTRIBUTES = [
    (lambda: tf.linalg.svd(X, full_matrices=1), TypeError, "linalg.svd: full_matrices must be a bool, got 1."),
    (lambda: tf.math.cumsum(X, reverse="x"), TypeError, "math.cumsum: reverse must be a bool, got 'x'."),
    (lambda: tf.math.cumsum(X, reverse=tf.constant(True)), TypeError, "math.cumsum: reverse must be a bool"),
    (lambda: tf.strings.join(["a"], separator=9), TypeError, "strings.join: separator must be a string, got 9."),
    (lambda: tf.raw_ops.Unpack(value=X, num=2, axis="0"), TypeError, "Unpack: axis must be an int, got '0'."),
    (lambda: tf.raw_ops.Unpack(value=X, num=2, axis=2**70), OverflowError, "Unpack: axis must be an int of 64 bits"),
    (lambda: tf.raw_ops.Unpack(value=X, num=2, axis=float("inf")), OverflowError, "axis must be an int of 64 bits"),
    (lambda: tf.raw_ops.LeakyRelu(features=X, alpha="1"), TypeError, "LeakyRelu: alpha must be a float, got '1'."),
    (lambda: tf.raw_ops.LeakyRelu(features=X, alpha=tf.constant(1.0)), TypeError, "alpha must be a float"),
    (lambda: tf.raw_ops.Cast(x=X, DstT=X), TypeError, "Cast: DstT must be a dtype"),
    (lambda: tf.raw_ops.Cast(x=X, DstT=[1]), TypeError, "Cast: DstT must be a dtype, got [1]."),
    (lambda: tf.raw_ops.PlaceholderWithDefault(input=X, shape="x"), TypeError, "shape must be a shape, got 'x'."),
    (lambda: pooled(2), TypeError, "MaxPool: ksize must be a list of ints, got 2."),
    (lambda: pooled([1, "1"]), TypeError, "MaxPool: ksize must be a list of ints, got '1'."),
    (lambda: pooled(np.ones(4)), TypeError, "MaxPool: ksize must be a list of ints"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), ATTRIBUTES)
def test_attributes_are_checked_by_their_kind(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)
    with pytest.raises(kind):  # also while a graph is built
        tf.function(call, autograph=False)()


def test_attributes_in_other_forms_become_canonical():
    assert tf.raw_ops.Unpack(value=X, num=2, axis=0.0)[0].shape == [3]
    assert tf.raw_ops.Unpack(value=X, num=2, axis=np.int64(0))[0].shape == [3]
    assert tf.raw_ops.Sum(input=X, axis=[0], keep_dims=None).shape == [3]
    assert tf.raw_ops.Cast(x=X, DstT=np.float64).dtype == tf.float64
    assert tf.raw_ops.LeakyRelu(features=-X, alpha=True).numpy()[0, 0] == -1
    image = tf.ones([1, 2, 2, 1])
    options = {"strides": (1, 1.0, True, 1), "padding": b"SAME"}
    assert tf.raw_ops.MaxPool(input=image, ksize=[1, 1, 1, 1], **options).shape == [1, 2, 2, 1]


# An inner op's argument is told by the name that the user knows.
BORDER = [
    (lambda: tf.reduce_logsumexp(tf.constant("s")), "math.reduce_logsumexp: input_tensor must be one of"),
    (lambda: tf.linalg.logdet(tf.constant([7, -9])), "linalg.logdet: matrix must be one of"),
    (lambda: tf.math.mod([1], "x"), "math.mod: y was expected to be a int32 tensor but is a string tensor (x is"),
    (lambda: tf.image.rgb_to_yiq([-5.0]), "image.rgb_to_yiq: linalg.matmul: "),
    (lambda: tf.image.rgb_to_yiq([-5.0]), "Got images=[-5.0]."),
    (lambda: tf.gather(X, [5]), "gather: indices[0] = 5 is not in [0, 2). Got params=<EagerTensor (2, 3) float32>."),
    (lambda: tf.add(X, {}), "math.add: y: Attempt to convert a value ({})"),
    (lambda: tf.constant(abs), "constant: Attempt to convert a value (<built-in function abs>)"),
    (lambda: tf.data.Dataset.range(3).filter(3), "Dataset.filter: expected a function, got 3. Got predicate=3."),
    (lambda: tf.data.Dataset.range(3).batch("x"), "Dataset.batch: Cannot convert 'x' to EagerTensor of dtype int64."),
    (lambda: tf.RaggedTensor.from_row_splits([1.0], {}), "RaggedTensor.from_row_splits: "),
    (lambda: tf.reshape(X, tf.ragged.constant([[1.0], [2.0, 3.0]])), "reshape: shape: A RaggedTensor cannot become"),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(1.5, X), "too few dimensions"),
    # What decides is told too: another argument's rank or dtype.
    (lambda: tf.unstack([-5], axis=1), "unstack: axis must be in [-1, 1), got 1. Got value=[-5]."),
    (lambda: tf.gather_nd(X, [True], batch_dims=1), "Got params=<EagerTensor (2, 3) float32>, indices=[True]."),
    (lambda: tf.linalg.band_part(X, -1, tf.constant(True)), "num_lower was expected to be a bool tensor but is a"),
    (lambda: tf.linalg.band_part(X, -1, tf.constant(True)), "(num_upper is bool)"),
    (lambda: tf.math.polyval([[1], [2]], X), "x was expected to be a int32 tensor but is a float32 tensor (Mul's x is"),
    (lambda: tf.random.stateless_uniform([2], [1, 2], 0, tf.constant(5, tf.int64), tf.int32), "maxval=<EagerTensor ()"),
    # Methods by the name of their class.
    (lambda: tf.Variable([1.0]).assign("x"), "Variable.assign: Cannot convert 'x' to EagerTensor of dtype float32."),
    (lambda: tf.Variable([1.0]).assign_add([None, 1]), "Got delta=[None, 1]"),
    (lambda: tf.TensorArray(tf.float32, 2).unstack({}), "TensorArray.unstack: Attempt to convert a value ({})"),
    (lambda: tf.ragged.constant([[1.0]]).to_tensor(1 + 2j), "RaggedTensor.to_tensor: Cannot convert (1+2j)"),
    (lambda: tf.broadcast_static_shape("x", [1]), "broadcast_static_shape: Failed to convert 'x' to a shape"),
    (lambda: tf.type_spec_from_value(abs), "type_spec_from_value: Could not build a TypeSpec for the value"),
    # What is no list of sizes.
    (lambda: tf.nn.max_pool2d(tf.ones([1, 2, 2, 1]), {1, 2}, 1, "SAME"), "ksize must be a number or a list of numbers"),
    (lambda: tf.image.extract_patches(tf.ones([1, 2, 2, 1]), {1}, [1] * 4, [1] * 4, "SAME"), "sizes must be a list of"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), BORDER)
def test_errors_speak_of_the_public_function_and_the_users_argument(call, text):
    with pytest.raises((TypeError, ValueError, InvalidArgumentError)) as caught:
        call()
    assert text in str(caught.value)
    if isinstance(caught.value, InvalidArgumentError):
        assert caught.value.message == str(caught.value)


def test_the_users_own_errors_stay_as_they_are():
    def refuse(x):
        raise ValueError("mine")

    for call in (lambda: tf.map_fn(refuse, X), lambda: tf.data.Dataset.range(2).map(refuse)):
        with pytest.raises(ValueError, match="^mine$|in user code") as caught:
            call()
        assert "map" not in str(caught.value).partition("\n")[0]


def test_an_inner_call_of_the_users_function_is_told_by_its_own_name():
    with pytest.raises(InvalidArgumentError, match=r"^reshape: .*tensor=<EagerTensor \(3,\) float32>, shape=\[7\]"):
        tf.map_fn(lambda x: tf.reshape(x, [7]), X)


# TF: one of these classes, by what its code does first with the value.
BOTH = [
    (lambda: tf.add(X, {}), (TypeError, ValueError)),
    (lambda: tf.zeros(None), (TypeError, ValueError)),
    (lambda: tf.constant("x", tf.int32), (TypeError, ValueError, InvalidArgumentError)),
    (lambda: tf.add(X, np.zeros(2, "M8[s]")), (TypeError, ValueError, InvalidArgumentError)),
    (lambda: tf.add(X, tf.constant(1)), (TypeError, ValueError, InvalidArgumentError)),
    (lambda: tf.sqrt(tf.constant(1)), (TypeError, ValueError, InvalidArgumentError)),
    (lambda: tf.Variable(1.0).assign(tf.constant("x")), (TypeError, ValueError)),
]


@pytest.mark.parametrize(("call", "kinds"), BOTH)
def test_every_class_of_tensorflow_catches_them(call, kinds):
    for kind in kinds:
        with pytest.raises(kind) as caught:
            call()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value)
    assert str(copy) == str(caught.value)


def test_what_only_headrace_computes_has_a_row_in_decision_0019():
    text = next((pathlib.Path(__file__).parents[2] / "docs" / "decisions").glob("0019-*.md")).read_text()
    table = text.partition("**Computed here, refused by TensorFlow:**")[2].partition("`scripts/bad_arguments`")[0]
    assert {int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} == set(permissions.RULES)


def test_permissions_do_not_cover_what_is_computed_without_reason():
    call = {"text": "", "function": "tf.linalg.lu", "argument": "output_idx_type", "kind": "dtype"}
    assert permissions.permission(call, {"error": ["InvalidArgumentError"], "message": "Value for attr 'T'"}) is None
    call = {"text": "", "function": "tf.map_fn", "argument": "back_prop", "kind": "text"}
    assert permissions.permission(call, {"error": ["TypeError"], "message": "no truth"}) == 1
