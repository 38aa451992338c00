"""Sharing variables by name, as TensorFlow does it, and the texts of its errors."""

import pytest

import headrace as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_reuse():
    first = v1.get_variable("w", [3])
    with pytest.raises(ValueError, match="Variable w already exists, disallowed. Did you mean to set reuse=True"):
        v1.get_variable("w", [3])
    with v1.variable_scope("", reuse=True):
        assert v1.get_variable("w") is first
        with pytest.raises(ValueError, match="Variable q does not exist, or was not created with tf.get_variable"):
            v1.get_variable("q", [3])
        with pytest.raises(ValueError, match=r"specified shape \(4,\) and found shape \(3,\)"):
            v1.get_variable("w", [4])
        with pytest.raises(ValueError, match="specified dtype int32 and found dtype float32"):
            v1.get_variable("w", [3], tf.int32)
    with v1.variable_scope("a", reuse=v1.AUTO_REUSE):
        second = v1.get_variable("w", [3])
        assert v1.get_variable("w", [3]) is second
        assert second is not first
    with v1.variable_scope("a") as scope:
        scope.reuse_variables()
        assert v1.get_variable("w") is second


def test_names_of_scopes(graph):
    with v1.variable_scope("a") as a:
        assert (a.name, a.original_name_scope, tf.constant(1.0).name) == ("a", "a/", "a/Const:0")
        with v1.variable_scope("b") as b:
            assert v1.get_variable("w", [1]).name == "a/b/w:0"
            assert b.name == "a/b"
    with v1.variable_scope(a, reuse=True) as again:
        assert (again.name, again.original_name_scope, graph.get_name_scope()) == ("a", "a/", "a_1")
    with v1.variable_scope(a, auxiliary_name_scope=False):
        assert graph.get_name_scope() == ""
    found = []
    for _ in range(2):
        with v1.variable_scope(None, default_name="d"):
            found.append(v1.get_variable("w", [1]).name)
    with v1.variable_scope("d"):
        found += [v1.get_variable_scope().name, graph.get_name_scope()]
    assert found == ["d/w:0", "d_1/w:0", "d", "d_2"]
    assert v1.get_variable_scope().name == ""


def test_defaults_of_a_scope():
    def getter(getter, name, **keywords):
        assert keywords["trainable"] is not False
        return getter(name, **keywords)

    with v1.variable_scope("s", initializer=v1.ones_initializer(), regularizer=tf.reduce_sum, dtype=tf.float64,
                           custom_getter=getter):
        w = v1.get_variable("w", [2])
        assert w.dtype is tf.float64
        v1.get_variable("plain", [2], regularizer=v1.no_regularizer)
    (loss,) = v1.losses.get_regularization_losses()
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        assert sess.run([w, loss])[0].tolist() == [1, 1]


def test_initializers():
    w = v1.get_variable("w", [3, 2])
    integers = v1.get_variable("i", [2], tf.int32)
    text = v1.get_variable("t", [2], tf.string)
    constant = v1.get_variable("c", initializer=[1.0, 2.0])
    called = v1.get_variable("f", initializer=lambda: tf.constant([3.0]))
    own = v1.get_variable("own", [2], initializer=lambda shape, dtype: tf.fill(shape, tf.cast(5, dtype)))
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        assert abs(sess.run(w)).max() <= (6 / 5) ** 0.5
        assert sess.run(integers).tolist() == [0, 0]
        assert sess.run(text).tolist() == [b"", b""]
        assert sess.run([constant, called, own])[2].tolist() == [5, 5]
    with pytest.raises(ValueError, match="did not get an initializer, so its `shape` argument must be specified"):
        v1.get_variable("n")
    with pytest.raises(ValueError, match="The initializer passed is not valid"):
        v1.get_variable("n", [None])
    with pytest.raises(ValueError, match="If initializer is a constant, do not specify shape"):
        v1.get_variable("n", [2], initializer=tf.constant([1.0]))


def test_local_variables_and_collections():
    v1.get_variable("w", [2])
    local = v1.get_local_variable("l", [2])
    assert v1.local_variables() == [local]
    assert not local.trainable
    assert [v.name for v in v1.global_variables()] == ["w:0"]
    with v1.variable_scope("s") as scope:
        inner = v1.get_variable("w", [2])
    assert scope.global_variables() == [inner] == v1.global_variables("s")


def test_templates():
    def layer(x):
        return x * v1.get_variable("w", initializer=2.0)

    template = v1.make_template("layer", layer)
    other = v1.make_template("layer", layer)
    a, b, c = template(3.0), template(4.0), other(5.0)
    assert [a.name, b.name] == ["layer/mul:0", "layer_1/mul:0"]
    assert [v.name for v in v1.global_variables()] == ["layer/w:0", "layer_1/w:0"]
    assert [v.name for v in template.trainable_variables] == ["layer/w:0"]
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        assert sess.run([a, b, c]) == [6.0, 8.0, 10.0]


def test_arguments_that_are_refused():
    with pytest.raises(TypeError, match="name_or_scope is required"):
        v1.variable_scope(None)
    with pytest.raises(ValueError, match="reuse=True cannot be used without a name_or_scope"):
        v1.variable_scope(None, default_name="d", reuse=True)
    with pytest.raises(TypeError, match="must be a string or VariableScope"):
        v1.variable_scope(3)
