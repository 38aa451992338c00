"""`tf.compat.v1.train.init_from_checkpoint`: first values from a checkpoint, for variables, names and scopes."""

import pytest

import headrace as tf

v1 = tf.compat.v1


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "c")
    tensors = [tf.constant([1.0, 2.0]), tf.constant([[3.0]]), tf.constant(7.0)]
    tf.raw_ops.SaveV2(prefix=path, tensor_names=["old/a", "old/b", "root"], shape_and_slices=[""] * 3, tensors=tensors)
    return path


def initialized(path, mapping, use_resource=True):
    """The values of three variables after their initializers have run; `mapping` gets the variables."""
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("new"):
            a = v1.get_variable("a", [2], use_resource=use_resource, initializer=tf.zeros_initializer())
            b = v1.get_variable("b", [1, 1], use_resource=use_resource, initializer=tf.zeros_initializer())
        root = v1.get_variable("root", [], use_resource=use_resource, initializer=tf.zeros_initializer())
        v1.train.init_from_checkpoint(path, mapping(a, b, root))
        session.run(v1.global_variables_initializer())
        return [value.tolist() for value in session.run([a, b, root])]


MAPS = [
    (lambda a, b, root: {"old/": "new/", "root": root}, [[1, 2], [[3]], 7]),
    (lambda a, b, root: [("old/a", a), ("old/b", "new/b"), ("root", "root")], [[1, 2], [[3]], 7]),
    (lambda a, b, root: {"old/a": "new/a"}, [[1, 2], [[0]], 0]),
    (lambda a, b, root: {"root": [root]}, [[0, 0], [[0]], 7]),
]


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize(("mapping", "values"), MAPS)
def test_what_goes_where(path, mapping, values, use_resource):
    assert initialized(path, mapping, use_resource) == values


REFUSED = [
    (lambda a, b, root: {"nothing": a}, "Tensor nothing is not found in .* checkpoint"),
    (
        lambda a, b, root: {"old/a": b},
        r"Shape of variable new/b:0 \(\(1, 1\)\) doesn't match .* tensor old/a \(\[2\]\)",
    ),
    (lambda a, b, root: {"old/a": "new/z"}, "Assignment map with scope only name new should map to scope only old/a"),
    (lambda a, b, root: {"/": "new/"}, r"Tensor a \(a in /\) is not found"),
    (lambda a, b, root: {"old/": "/"}, r"Tensor old/new/a \(new/a in old/\) is not found"),
]


@pytest.mark.parametrize(("mapping", "text"), REFUSED)
def test_what_is_refused(path, mapping, text):
    with pytest.raises(ValueError, match=text):
        initialized(path, mapping)


def test_the_scope_around_all(tmp_path):
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "c"), tensor_names=["a", "b"], shape_and_slices=["", ""],
        tensors=[tf.constant([4.0, 5.0]), tf.constant([[6.0]])],
    )  # fmt: skip
    assert initialized(tmp_path / "c", lambda a, b, root: {"/": "new/"}) == [[4, 5], [[6]], 0]


def test_eager_variables_have_the_value_at_once(path, tmp_path):
    variable = tf.Variable([0.0, 0.0])
    v1.train.update_checkpoint_state(str(tmp_path), path)
    v1.train.init_from_checkpoint(tmp_path, {"old/a": variable})
    assert variable.numpy().tolist() == [1, 2]
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        v1.train.init_from_checkpoint(tmp_path / "nowhere", {"old/a": variable})
