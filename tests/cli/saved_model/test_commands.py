"""`saved_model_cli` prints what TensorFlow's prints, and says what is wrong."""

import ast
import json
import pathlib
import pickle
import re
import shlex
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from command_lines import COMMANDS

import headrace as tf
from headrace._src.cli.main import main as headrace_main
from headrace._src.cli.saved_model.commands import main

TESTS = pathlib.Path(__file__).parents[2]
RECORDED = json.loads((TESTS / "golden" / "saved_model_cli.json").read_text())
SERVING = "run --dir module --tag_set serve --signature_def serving_default "
EXAMPLES = "run --dir examples --tag_set serve --signature_def serving_default "

# Where ours answers another way, on purpose: the exit code, and what it says instead of an error.
OTHERWISE = {
    # Spaces around keys and files mean nothing.
    SERVING + "--inputs 'x = x.npy' --input_exprs y=2": (0, "24.0"),
    SERVING + "--input_exprs 'x=[[1, 2]]; y=2'": (0, "2.0"),
    # A feature without values.
    EXAMPLES + """--input_examples 'serialized=[{"ids":[]}]'""": (0, "nobody"),
    # Errors that say more.
    SERVING + "--inputs x=bytes.txt --input_exprs y=2": (1, "bytes.txt is neither .npy, .npz nor a pickle"),
    SERVING + "--input_exprs 'x=[[1, 2]]'": (1, 'takes "x", "y"; there is no value for "y"'),
    "run --dir module --tag_set serve --signature_def count --input_exprs x=1": (1, "it takes no inputs"),
    "run --dir module --tag_set serve --signature_def types --input_exprs 'b=[True, False];c=1+2j;i=300'": (
        1, 'not compatible with Tensor type <class \'numpy.int8\'> of the input "i": it is too large',
    ),
    "run --dir graphs --tag_set serve --signature_def total --input_exprs 's=[[1, 2]]'": (1, "a composite tensor"),
    EXAMPLES + """--input_examples 'serialized=[{"ids":[26.5]}]'""": (1, "Data types don't match"),
    EXAMPLES + "--input_examples 'serialized'": (1, '--input_examples "serialized" format is incorrect'),
}  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(TESTS / "fixtures" / "saved_models" / "commands.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def here(models, monkeypatch):
    monkeypatch.chdir(models)
    return models


@pytest.fixture
def cli(here, capsys):
    """Carries out a command; its exit code, what it printed, and its errors."""

    def run(command):
        try:
            code = main(shlex.split(command) if isinstance(command, str) else command)
        except SystemExit as exit:
            code = exit.code
        out, error = capsys.readouterr()
        return code, out, error

    return run


def comparable(text):
    """A text in which sets and named arguments are in order, and what TensorFlow overwrites is gone."""
    text = re.sub("(, )?\x08\x08", "", text)
    text = re.sub("Option #2", "Option #1", text)  # of the one function that has more traces, one is not shown
    text = re.sub(r"\{('\w+'(, )?)+\}", lambda match: str(sorted(ast.literal_eval(match[0]))), text)
    choices = r"(?:choose from|following tag-sets):? (.*)"
    text = re.sub(choices, lambda match: str(sorted(re.findall(r"\w+", match[1]))), text)
    names = iter(sorted(re.findall(r"Named Argument #\d+\n *(\w+)", text)))
    return re.sub(r"(Named Argument) #\d+\n *\w+", lambda match: f"{match[1]} {next(names)}", text)


PRINTED = [c for c in COMMANDS if c not in OTHERWISE and " --outdir" not in c]


@pytest.mark.parametrize("command", PRINTED)
def test_prints_what_tensorflow_prints(cli, command):
    recorded = RECORDED[command]
    code, out, error = cli(command)
    assert (code, comparable(out)) == (recorded["code"], comparable(recorded["out"]))
    expected = recorded["error"].partition(": ")[2].split("\n")[0].rstrip(".")
    assert comparable(expected.replace('follow"', 'follow "').replace('or"', 'or "')) in comparable(error)


@pytest.mark.parametrize("command", OTHERWISE)
def test_prints_more_than_tensorflow(cli, command):
    code, text = OTHERWISE[command]
    result = cli(command)
    assert result[0] == code
    assert text in result[1 if code == 0 else 2]


def test_saves_results(cli, here):
    for command in [c for c in COMMANDS if " --outdir" in c]:
        code, out, error = cli(command)
        recorded = RECORDED[command]
        assert (code, out) == (recorded["code"], recorded["out"])
        assert recorded["error"].partition(": ")[2].strip() in error
    assert np.load(here / "out" / "output_0.npy") == 7.0
    assert np.load(here / "made" / "deep" / "output_0.npy", allow_pickle=True).tolist() == [b"SOME"]
    # What was saved can be passed again, strings too.
    code, out, _ = cli("run --dir module --tag_set serve --signature_def words --inputs words=made/deep/output_0.npy")
    assert (code, out.splitlines()[1]) == (0, "[b'SOME']")


def test_a_key_of_the_model_does_not_lead_out_of_the_folder(cli, here, tmp_path):
    from headrace._src.formats.model_messages import SavedModel

    shutil.copytree(here / "dense", tmp_path / "model")
    path = tmp_path / "model" / "saved_model.pb"
    message = SavedModel.FromString(path.read_bytes())
    graph = message.meta_graphs[0]
    outputs = graph.signature_def["serve"].outputs
    outputs["../../out"].CopyFrom(outputs.pop("output_0"))
    for function in graph.object_graph_def.concrete_functions.values():
        structure = function.output_signature.dict_value.fields
        if "output_0" in structure:
            structure["../../out"].CopyFrom(structure.pop("output_0"))
    path.write_bytes(message.SerializeToString())
    command = f"run --dir {tmp_path}/model --tag_set serve --signature_def serve --input_exprs features=[[1,2,3]]"
    code, _, error = cli(f"{command} --outdir {tmp_path}/results/deep")
    assert code == 0, error
    assert [path.name for path in tmp_path.rglob("*.npy")] == [".._.._out.npy"]


def test_takes_arrays_that_numpy_makes(cli):
    code, out, _ = cli(SERVING + "--input_exprs 'x=np.arange(4).reshape(2, 2).astype(np.float32);y=np.int32(1)'")
    assert (code, out.splitlines()[1]) == (0, "0.0")


def test_a_semicolon_in_a_string_is_part_of_it(cli):
    command = "run --dir module --tag_set serve --signature_def words --input_exprs"
    code, out, _ = cli(f"""{command} 'words=["a;b", "c\\";"]'""")
    assert (code, out.splitlines()[1]) == (0, """[b'A;B' b'C";']""")


def test_a_signature_without_inputs_needs_none(cli):
    code, out, _ = cli("run --dir module --tag_set serve --signature_def count")
    assert (code, out) == (0, "Result for output key output_0:\n1\n")


def test_pickles_run_no_code(cli, here, tmp_path):
    class Evil:
        def __reduce__(self):
            return open, (str(tmp_path / "made"), "w")

    (tmp_path / "x.pickle").write_bytes(pickle.dumps(Evil()))
    np.save(tmp_path / "x.npy", np.array([Evil()], object), allow_pickle=True)
    for name in ("x.pickle", "x.npy"):
        code, _, error = cli(SERVING + f"--inputs x={tmp_path / name} --input_exprs y=2")
        assert code == 1
        assert "open, and only arrays and plain values are read from pickles" in error
    assert not (tmp_path / "made").exists()


def test_pickles_of_every_protocol_are_read(cli, tmp_path):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for value in (np.ones([1, 2], np.float32), [[1.0, 1.0]]):
            (tmp_path / "x.pickle").write_bytes(pickle.dumps(value, protocol))
            code, out, error = cli(SERVING + f"--inputs x={tmp_path / 'x.pickle'} --input_exprs y=2")
            assert (code, out.splitlines()[-1]) == (0, "[[13. 23.]]"), error


def test_refuses_files_outside_of_the_model_unless_allowed(cli, tmp_path):
    (tmp_path / "outside.txt").write_text("some text")
    command = "run --dir reader --tag_set serve --signature_def serving_default "
    command += f"""--input_exprs 'path="{tmp_path}/outside.txt"'"""
    code, _, error = cli(command)
    assert code == 1
    assert "--allow_file_access" in error
    code, out, error = cli(command + " --allow_file_access")
    assert (code, "some text" in out) == (0, True), error


def test_scans_functions_that_no_signature_calls(cli, tmp_path):
    # TensorFlow's says that this model has no such ops.
    with zipfile.ZipFile(TESTS / "fixtures" / "saved_models" / "models.zip") as archive:
        archive.extractall(tmp_path)
    code, out, _ = cli(f"scan --dir {tmp_path}/file_access")
    assert code == 0
    assert out == "MetaGraph with tag set ['serve'] contains the following denylisted ops: {'ReadFile', 'WriteFile'}\n"


def test_dumps_tensors(cli, tmp_path):
    command = "run --dir dense --tag_set serve --signature_def serve --input_exprs features=[[1,2,3]] --tf_debug"
    code, out, error = cli(f"{command} --outdir {tmp_path}")
    assert code == 0, error
    assert f"dumped to {tmp_path}/tfdbg" in out
    assert {"execution", "graph_execution_traces", "graphs"} <= {
        path.suffix.removeprefix(".") for path in (tmp_path / "tfdbg").iterdir()
    }


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("convert --dir module --tag_set serve --output_dir out tensorrt --precision_mode FP16", "tf2onnx"),
        ("aot_compile_cpu --dir module --tag_set serve --output_prefix out --cpp_class A", "HEADRACE_COMPILE_CACHE"),
        (SERVING + "--worker grpc://a:1", "--worker is not possible here"),
        (SERVING + "--init_tpu", "--init_tpu is not possible here"),
    ],
)
def test_says_what_to_use_instead(cli, command, text):
    code, out, error = cli(command)
    assert (code, out) == (1, "")
    assert text in error


@pytest.mark.parametrize("command", ["", "nothing", "show --nothing", "show --dir module --al", "run --dir module"])
def test_is_not_understood(cli, command):
    code, out, error = cli(command)
    assert (code, out) == (2, "")
    assert "usage: saved_model_cli" in error


def test_says_what_a_folder_is(cli, tmp_path):
    tf.io.write_file(str(tmp_path / "1" / "saved_model.pb"), b"")
    code, _, error = cli(f"show --dir {tmp_path}")
    assert code == 1
    assert "It holds versions of a model" in error


def test_headrace_saved_model_is_the_same(here, capsys):
    with pytest.raises(SystemExit) as exit:
        headrace_main(["saved-model", "show", "--dir", "module"])
    assert exit.value.code == 0
    assert capsys.readouterr().out == RECORDED["show --dir module"]["out"]
    with pytest.raises(SystemExit) as exit:
        headrace_main(["saved-model", "--help"])
    assert "usage: headrace saved-model" in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_that_has_seen_enough(here):
    command = [sys.executable, "-m", "headrace", "saved-model", "show", "--dir", "module", "--all"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here)
    process.stdout.close()
    assert process.communicate()[1] == b""


FREEZE = "freeze_model --tag_set serve --dir "


def frozen_results(folder, fetches, feeds):
    """What a frozen graph computes."""
    graph_def = tf.compat.v1.GraphDef.FromString((folder / "frozen_graph.pb").read_bytes())
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        with tf.compat.v1.Session() as session:
            return session.run(fetches, feeds)


def test_freezes_variables(cli, tmp_path):
    code, out, error = cli(f"{FREEZE} module --output_prefix {tmp_path}")
    assert code == 0, error
    assert out.splitlines()[-1] == f"Writing config_pbtxt to: {tmp_path}/config.pbtxt"
    text = (tmp_path / "config.pbtxt").read_text()
    assert re.findall('node_name: "(.*)"', text) == ["serving_default_x", "serving_default_y"] + 2 * [
        "StatefulPartitionedCall_2"
    ]
    assert re.findall(r'name: "(fe.*)"', text) == ["feed_x", "feed_y", "fetch_product", "fetch_sum"]
    feeds = {"serving_default_x:0": [[1.0, 2.0]], "serving_default_y:0": 3}
    product, total = frozen_results(tmp_path, ["StatefulPartitionedCall_2:0", "StatefulPartitionedCall_2:1"], feeds)
    assert (product, total.tolist()) == (2.0, [[14.0, 25.0]])


def test_freezes_values_of_another_checkpoint(cli, here, tmp_path):
    model = tf.saved_model.load("module")
    model.v.assign([1.0, 2.0])
    path = tf.train.Checkpoint(model).write(str(tmp_path / "checkpoint"))
    assert cli(f"{FREEZE} module --output_prefix {tmp_path} --checkpoint_path {path}")[0] == 0
    feeds = {"serving_default_x:0": [[1.0, 2.0]], "serving_default_y:0": 3}
    assert frozen_results(tmp_path, "StatefulPartitionedCall_2:1", feeds).tolist() == [[5.0, 7.0]]


@pytest.mark.parametrize("names", ["all", "v"])
def test_some_variables_are_fed(cli, tmp_path, names):
    assert cli(f"{FREEZE} module --output_prefix {tmp_path} --variables_to_feed {names}")[0] == 0
    assert 'variable {\n  node_name: "v"\n  name: "param_v"\n' in (tmp_path / "config.pbtxt").read_text()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("module --signature_def_key count", "(AssignAddVariableOp) does something else with a variable"),
        ("module --signature_def_key nothing", 'Could not find signature "nothing"'),
        ("module --variables_to_feed w", "there are no variables ['w']. There are: ['v']."),
        ("nowhere", "SavedModel file does not exist at: nowhere"),
    ],
)
def test_does_not_freeze(cli, tmp_path, options, text):
    code, out, error = cli(f"{FREEZE} {options} --output_prefix {tmp_path}")
    assert (code, out) == (1, "")
    assert text in error
