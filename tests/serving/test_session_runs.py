"""SessionService: tensors of a model's graph, by name."""

import grpc
import numpy as np
import pytest
from served_models import save

import headrace as tf
from headrace._src.formats import serving_messages as messages
from headrace._src.formats.graph_messages import TensorProto
from headrace._src.formats.model_messages import SavedModel

v1 = tf.compat.v1


def save_graph(path):
    """A SavedModel of 1.x: y = 3 x + 1 over a hidden tensor, texts, and an operation that counts."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        text = v1.placeholder(tf.string, [None], name="text")
        weight = v1.get_variable("weight", initializer=3.0, use_resource=True)
        y = tf.add(tf.multiply(x, weight, name="hidden"), 1.0, name="y")
        longer = tf.strings.join([text, "!"], name="longer")
        count = v1.get_variable("count", initializer=0, use_resource=True)
        v1.assign_add(count, 1, name="step")
        tf.identity(count.read_value(), name="counted")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, path, {"x": x, "text": text}, {"y": y, "longer": longer})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Has the models."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def run(folder):
    """Sends a request, and gives what was fetched."""
    save(folder / "functions", 3)
    save_graph(str(folder / "graph" / "1"))
    models = [tf.serving.ModelSettings(name, str(folder / name)) for name in ("functions", "graph")]
    settings = tf.serving.ServerSettings(poll_seconds=0)
    with tf.serving.Server(models, settings=settings) as server, grpc.insecure_channel(server.grpc_address) as channel:
        send = channel.unary_unary("/tensorflow.serving.SessionService/SessionRun")

        def answer(model, feeds, fetches=(), targets=(), signature="", **options):
            request = messages.SessionRunRequest(fetch=fetches, target=targets, **options)
            request.model_spec.name, request.model_spec.signature_name = model, signature
            for name, value in feeds:
                request.feed.add(name=name, tensor=tf.make_tensor_proto(value).SerializeToString())
            found = messages.SessionRunResponse.FromString(send(request.SerializeToString(), timeout=300))
            assert found.model_spec.name == model
            return [(one.name, tf.make_ndarray(TensorProto.FromString(one.tensor))) for one in found.tensor]

        yield answer


X = np.array([[1.0, 2.0]], np.float32)


def values(found):
    return {name: array.tolist() for name, array in found}


def test_any_part_of_a_graph(run):
    assert values(run("graph", [("x:0", X)], ["y:0", "hidden"])) == {"y:0": [[4.0, 7.0]], "hidden": [[3.0, 6.0]]}
    assert values(run("graph", [("hidden:0", X)], ["y:0", "hidden:0"])) == {
        "y:0": [[2.0, 3.0]],
        "hidden:0": [[1.0, 2.0]],
    }
    assert values(run("graph", [("text", [b"a", b"\xff"])], ["longer:0"])) == {"longer:0": [b"a!", b"\xff!"]}


def test_operations_run_and_state_stays(run):
    before = values(run("graph", [], ["counted:0"]))["counted:0"]
    assert run("graph", [], targets=["step"]) == []
    run("graph", [("x:0", X)], ["y:0"], ["step"])
    assert values(run("graph", [], ["counted:0"]))["counted:0"] == before + 2


def test_signatures_of_functions(run, folder):
    found = run("functions", [("x", X)], ["y"], tensor_name_is_alias=True)
    assert values(found) == {"y": [[2.0, 4.0]]}
    whole = [("serving_default_x:0", X), ("whole_i:0", np.int32([4, 5]))]
    message = SavedModel.FromString((folder / "functions/3/saved_model.pb").read_bytes())
    definitions = message.meta_graphs[0].signature_def
    y, total = definitions["serving_default"].outputs["y"].name, definitions["whole"].outputs["total"].name
    found = run("functions", whole, [total, y, "serving_default_x:0"], [y.partition(":")[0]])
    assert values(found) == {total: 9, y: [[2.0, 4.0]], "serving_default_x:0": [[1.0, 2.0]]}


@pytest.mark.parametrize(
    ("request_of", "code", "text"),
    [
        (("graph", [("x:0", X)], ["none:0"]), "NOT_FOUND", "none:0"),
        (("graph", [("none:0", X)], ["y:0"]), "NOT_FOUND", "none:0"),
        (("graph", [("x:0", X)], ["y:7"]), "NOT_FOUND", "y"),
        (("graph", [("x:0", X)], [], ["none"]), "NOT_FOUND", "none"),
        (("graph", [], ["y:0"]), "INVALID_ARGUMENT", "You must feed a value for placeholder"),
        (("graph", [("x:0", X), ("x", X)], ["y:0"]), "INVALID_ARGUMENT", "fed twice"),
        (("graph", [("x:0", np.float64(X))], ["y:0"]), "INVALID_ARGUMENT", "fed with float64"),
        (("graph", [("x:0", X[0])], ["y:0"]), "INVALID_ARGUMENT", r"shape \[2\]"),
        (("graph", []), "INVALID_ARGUMENT", "Must specify at least one target"),
        (("functions", [("x:0", X)], ["y:0"]), "NOT_FOUND", "unable to find feed output x:0"),
        (("functions", [], ["hidden:0"]), "NOT_FOUND", "not found. Of this model, the tensors of its signatures"),
        (("functions", [], [], ["step"]), "NOT_FOUND", "Some target nodes not found: step"),
        (("functions", [], ["serving_default_x:0"]), "INVALID_ARGUMENT", "You must feed a value for placeholder"),
        (("nobody", [], ["y:0"]), "NOT_FOUND", "nobody"),
    ],
)
def test_refusals(run, request_of, code, text):
    with pytest.raises(grpc.RpcError, match=text) as raised:
        run(*request_of)
    assert raised.value.code().name == code


def test_unknown_names_of_a_signature(run):
    with pytest.raises(grpc.RpcError, match="no input or output z. There are: x, y"):
        run("functions", [("z", X)], ["y"], tensor_name_is_alias=True)
