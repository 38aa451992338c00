"""SavedModels of 1.x: written, loaded into sessions, and loaded as objects, as TensorFlow does."""

import json
import pathlib

import pytest
import v1_saving_programs as programs

import headrace as tf

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
RECORDED = json.loads((GOLDEN / "v1_saving.json").read_text())["models"]
v1 = tf.compat.v1


@pytest.mark.parametrize("name", sorted(programs.FAMILIES["models"]))
def test_programs(name):
    programs.compare(name, programs.result_of(tf, programs.FAMILIES["models"][name]), RECORDED[name])


def saved(folder, **keywords):
    """A model y = x w, in a folder; its variable has a handle or none."""
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=[[1.0], [2.0]], **keywords)
        y = tf.matmul(x, w, name="y")
        v1.assign_add(w, [[1.0], [1.0]], name="add")
        sess.run(w.initializer)
        v1.saved_model.simple_save(sess, str(folder), {"x": x}, {"y": y})
    return str(folder)


@pytest.mark.parametrize("use_resource", [True, False])
def test_loaded_variables_are_trained(tmp_path, use_resource):
    loaded = tf.saved_model.load(saved(tmp_path / "m", use_resource=use_resource))
    (w,) = loaded.variables
    function = loaded.signatures["serving_default"]
    assert [v.name for v in function.trainable_variables] == ["w:0"]
    for _ in range(2):  # interpreted, and again
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(function(x=tf.constant([[2.0, 3.0]]))["y"])
        w.assign_sub(tape.gradient(loss, w))
    assert w.numpy().tolist() == [[-3.0], [-4.0]]
    assert function(x=tf.constant([[1.0, 1.0]]))["y"].numpy().tolist() == [[-7.0]]


@pytest.mark.parametrize("use_resource", [True, False])
def test_parts_that_assign(tmp_path, use_resource):
    loaded = tf.saved_model.load(saved(tmp_path / "m", use_resource=use_resource))
    add = loaded.prune([], ["add"] if use_resource else ["add:0"])
    add()
    add()
    assert loaded.variables[0].numpy().tolist() == [[3.0], [4.0]]
    loaded.restore(tmp_path / "m" / "variables" / "variables")
    assert loaded.variables[0].numpy().tolist() == [[1.0], [2.0]]


def test_two_loads_share_nothing(tmp_path):
    folder = saved(tmp_path / "m", use_resource=False)
    one, two = tf.saved_model.load(folder), tf.saved_model.load(folder)
    one.variables[0].assign([[0.0], [0.0]])
    one.prune([], ["add:0"])()
    assert two.signatures["serving_default"](tf.constant([[1.0, 1.0]]))["y"].numpy().tolist() == [[3.0]]
    assert one.variables[0].numpy().tolist() == [[1.0], [1.0]]


def test_what_is_not_there_is_named(tmp_path):
    loaded = tf.saved_model.load(saved(tmp_path / "m"))
    with pytest.raises(KeyError, match="'none:0' refers to an operation that is not in the graph"):
        loaded.prune("x:0", "none:0")
    with pytest.raises(TypeError, match="its name"):
        loaded.prune(tf.constant(1.0), "y:0")
    with pytest.raises(TypeError, match="signature_serving_default"):
        loaded.signatures["serving_default"]()


def test_only_what_is_asked_for_must_be_known(tmp_path):
    folder = pathlib.Path(saved(tmp_path / "m"))
    message = programs._names(tf)["model"](folder)
    message.meta_graphs[0].graph_def.node.add(name="odd", op="NoSuchOp")
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    loaded = tf.saved_model.load(str(folder))
    assert loaded.signatures["serving_default"](tf.constant([[1.0, 1.0]]))["y"].numpy().tolist() == [[3.0]]
    with pytest.raises(tf.errors.NotFoundError, match="NoSuchOp"):
        loaded.graph


def test_a_model_touches_no_other_files(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("42")
    folder = str(tmp_path / "m")
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.string, [], name="x")
        v1.saved_model.simple_save(sess, folder, {"x": x}, {"y": tf.io.read_file(x)})
    function = tf.saved_model.load(folder).signatures["serving_default"]
    with pytest.raises(tf.errors.PermissionDeniedError, match="secret"):
        function(tf.constant(str(secret)))
    for allowed in (False, True):
        with tf.Graph().as_default(), v1.Session() as sess:
            v1.saved_model.load(sess, ["serve"], folder, experimental_allow_file_access=allowed)
            if allowed:
                assert sess.run("ReadFile:0", {"x:0": str(secret)}) == b"42"
            else:
                with pytest.raises(tf.errors.PermissionDeniedError, match="secret"):
                    sess.run("ReadFile:0", {"x:0": str(secret)})


def test_an_asset_stays_in_its_folder(tmp_path):
    folder = pathlib.Path(saved(tmp_path / "m"))
    message = programs._names(tf)["model"](folder)
    message.meta_graphs[0].asset_file_def.add(filename="../../secret").tensor_info.name = "x:0"
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    with pytest.raises(tf.errors.PermissionDeniedError, match="not in the folder"):
        tf.saved_model.load(str(folder))
    with tf.Graph().as_default(), v1.Session() as sess:
        with pytest.raises(tf.errors.PermissionDeniedError, match="not in the folder"):
            v1.saved_model.load(sess, ["serve"], str(folder))


def test_sparse_and_ragged_signatures(tmp_path):
    folder = str(tmp_path / "m")
    with tf.Graph().as_default(), v1.Session() as sess:
        sparse = v1.sparse_placeholder(tf.float32, name="s")
        ragged = v1.ragged.placeholder(tf.int32, 1, [], name="r")
        outputs = {"dense": tf.sparse.to_dense(sparse), "twice": ragged * 2}
        v1.saved_model.simple_save(sess, folder, {"s": sparse, "r": ragged}, outputs)
    function = tf.saved_model.load(folder).signatures["serving_default"]
    found = function(s=tf.sparse.from_dense([[1.0, 0.0]]), r=tf.ragged.constant([[1], [2, 3]]))
    assert found["dense"].numpy().tolist() == [[1.0, 0.0]]
    assert found["twice"].to_list() == [[2], [4, 6]]
