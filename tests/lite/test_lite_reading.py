"""Files of TensorFlow Lite, read: what is shown of them, and that broken ones are refused."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from lite_programs import PROGRAMS, converted_program

import headrace as tf
from headrace._src.cli.show import main as show
from headrace._src.formats.flatbuffer_reading import BrokenFlatbuffer
from headrace._src.formats.flatbuffers import Scalar, Vector, written
from headrace._src.lite import conversion, schema
from headrace._src.lite.reading import read_model
from headrace._src.lite.runtimes import quantized_version, runtime_of

HERE = pathlib.Path(__file__).parent
needs_litert = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="LiteRT is not there: pip install 'headrace[lite]'"
)


def registered():
    lines = (HERE / "registered_operators.txt").read_text().splitlines()
    return {name: int(version) for name, version in (line.split() for line in lines if not line.startswith("#"))}


def test_operators_are_those_of_litert():
    """Every operator that any converter names is one that LiteRT has, and it is known which runtime has it."""
    highest, numbers = registered(), schema.enum("BuiltinOperator")
    folder = pathlib.Path(conversion.__file__).parent
    named = set()
    for file in folder.glob("*_operators.py"):
        named |= set(re.findall(r'"([A-Z][A-Z0-9_]+)"', file.read_text()))
    named &= set(numbers)
    assert len(named) > 100
    for name in named:
        assert name in highest, name
        for bits in (8, 16):
            version = quantized_version(name, 2 if name == "BROADCAST_TO" else 1, bits)
            assert version <= highest[name]
            assert re.fullmatch(r"[12]\.\d+\.\d", runtime_of(name, version))


@pytest.mark.parametrize(("name", "runtime"), [
    ("dense", "1.5.0"), ("loop", "1.15.0"), ("list of unknown sizes", "2.9.0"), ("words to numbers", "2.5.0"),
    ("gelu", "2.9.0"),
])  # fmt: skip
def test_what_is_read(name, runtime):
    model = read_model(converted_program(name))
    assert model.minimum_runtime == runtime
    highest = registered()
    assert all(version <= highest[code] for code, version in model.operators())
    assert model.graphs[0].inputs == [0]


def test_what_is_shown(tmp_path, capsys):
    data = converted_program("words to numbers")
    path = tmp_path / "m.tflite"
    path.write_bytes(data)
    assert show([str(path), "--gpu"]) == 0
    text = capsys.readouterr().out
    assert "Op#0 CALL_ONCE(Subgraph#1) -> []" in text
    assert "HASHTABLE_FIND" in text
    assert "type:STRING" in text
    assert f"Model size: {len(data)} bytes" in text
    assert "a GPU may not run CALL_ONCE, HASHTABLE, HASHTABLE_FIND" in text
    tf.lite.experimental.Analyzer.analyze(model_content=data)
    assert capsys.readouterr().out.startswith("=== TensorFlow Lite model ===\n")
    path.write_bytes(data[:100])
    assert show([str(path)]) == 1
    assert "broken" in capsys.readouterr().err
    with pytest.raises(ValueError, match="one of"):
        tf.lite.experimental.Analyzer.analyze()


def file_of(tensors, operators, codes=((0, 1),), buffers=1, inputs=(0,), outputs=(1,)):
    """A file with one graph, given as tables."""
    graph = {
        0: tensors, 1: Vector(np.array(inputs, np.int32)), 2: Vector(np.array(outputs, np.int32)), 3: operators, 4: "g",
    }  # fmt: skip
    codes = [{0: Scalar("int8", min(code, 127)), 2: Scalar("int32", v), 3: Scalar("int32", code)} for code, v in codes]
    return written({0: Scalar("uint32", 3), 1: codes, 2: [graph], 4: [{}] * buffers}, b"TFL3")


def tensor(shape=(2,), kind=0, buffer=0):
    return {
        0: Vector(np.array(shape, np.int32)), 1: Scalar("int8", kind), 2: Scalar("uint32", buffer), 3: "t",
    }  # fmt: skip


def operator(inputs=(0,), outputs=(1,), code=0, kind=None):
    table = {
        0: Scalar("uint32", code), 1: Vector(np.array(inputs, np.int32)), 2: Vector(np.array(outputs, np.int32)),
    }  # fmt: skip
    return table if kind is None else {**table, 3: Scalar("uint8", schema.enum("BuiltinOptions")[kind]), 4: {}}


TWO = [tensor(), tensor()]
ADD = operator((0, 0), kind="AddOptions")
# What is wrong with a file, and what is said of it.
BROKEN = {
    "no tensor 9": file_of(TWO, [operator((0, 9), kind="AddOptions")]),
    "an output of ADD is left out": file_of(TWO, [operator(outputs=(-1,), kind="AddOptions")]),
    "an input of ADD is left out": file_of(TWO, [operator((0, -1), kind="AddOptions")]),
    "no code of an operator 5": file_of(TWO, [operator((0, 0), code=5)]),
    "ADD has MulOptions": file_of(TWO, [operator((0, 0), kind="MulOptions")]),
    "no operator of number 700": file_of(TWO, [ADD], codes=[(700, 1)]),
    "no type of number 99": file_of([tensor(kind=99), tensor()], [ADD]),
    "no buffer 4": file_of([tensor(buffer=4), tensor()], [ADD]),
    "has the shape": file_of([tensor(shape=(-5,)), tensor()], [ADD]),
    "would have": file_of([tensor(shape=(1 << 30, 1 << 30)), tensor()], [ADD]),
    "no tensor 3": file_of(TWO, [ADD], outputs=(3,)),
    "strideW 0": file_of(TWO, [operator((0, 0, 0), kind="Conv2DOptions")], codes=[(3, 1)]),
    "does not fit the graph": file_of(TWO, [operator((0,), kind="IfOptions")], codes=[(118, 1)]),
    "does not begin": b"nothing of that kind",
    "outside of the file": b"\xff\xff\xff\x7fTFL3" + bytes(30),
}


def test_a_whole_file_is_read():
    assert read_model(file_of(TWO, [ADD])).operators() == {("ADD", 1)}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_files(text):
    with pytest.raises(BrokenFlatbuffer, match=re.escape(text)):
        read_model(BROKEN[text])


def test_a_graph_that_runs_itself():
    body = {
        **operator((0,), kind="WhileOptions"), 2: Vector(np.array([0], np.int32)),
        4: {0: Scalar("int32", 0), 1: Scalar("int32", 0)},
    }  # fmt: skip
    with pytest.raises(BrokenFlatbuffer, match="a graph runs itself"):
        read_model(file_of([tensor()], [body], codes=[(119, 1)], outputs=(0,)))


def test_parts_that_share_places_cost_no_more_than_the_file_is_long():
    """A vector may name one table a thousand times, and this one another a thousand times, and so on."""
    data = bytearray(file_of([tensor()] * 400, [ADD] * 400))
    model = FlatbufferEdit(data)
    model.point_all_subgraphs_to_one(300)
    with pytest.raises(BrokenFlatbuffer):
        read_model(bytes(model.data))


class FlatbufferEdit:
    """Changes a file so that its list of graphs names the same graph many times."""

    def __init__(self, data):
        self.data = data

    def _u32(self, place):
        return int.from_bytes(self.data[place : place + 4], "little")

    def point_all_subgraphs_to_one(self, count):
        root = self._u32(0)
        index = root - int.from_bytes(self.data[root : root + 4], "little", signed=True)
        slot = root + int.from_bytes(self.data[index + 8 : index + 10], "little")
        vector = slot + self._u32(slot)
        graph = vector + 4 + self._u32(vector + 4)
        new = len(self.data) + -len(self.data) % 4
        self.data += bytes(new - len(self.data)) + count.to_bytes(4, "little") + bytes(4 * count)
        moved = new + 4 * (count + 1)
        # Offsets point forwards: a table with the same index and slots behind the vector.
        self.data[slot : slot + 4] = (new - slot).to_bytes(4, "little")
        index = graph - int.from_bytes(self.data[graph : graph + 4], "little", signed=True)
        size = int.from_bytes(self.data[index + 2 : index + 4], "little")
        self.data += self.data[graph : graph + size]
        self.data[moved : moved + 4] = (moved - index).to_bytes(4, "little", signed=True)
        for number in range(count):
            place = new + 4 + 4 * number
            self.data[place : place + 4] = (moved - place).to_bytes(4, "little")


@needs_litert
def test_typed_errors(tmp_path):
    with pytest.raises(tf.errors.DataLossError, match="no model"):
        tf.lite.Interpreter(model_content=b"nothing")
    with pytest.raises(ValueError, match="no model"):  # what TensorFlow raises
        tf.lite.Interpreter(model_content=b"nothing")
    with pytest.raises(tf.errors.NotFoundError):
        tf.lite.Interpreter(model_path=str(tmp_path / "none.tflite"))
    with pytest.raises(ValueError, match="one of"):
        tf.lite.Interpreter()
    interpreter = tf.lite.Interpreter(model_content=converted_program("dense"))
    interpreter.resize_tensor_input(0, [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="failed to prepare"):
        interpreter.allocate_tensors()


@needs_litert
@pytest.mark.slow
def test_files_broken_by_chance():
    """Twenty thousand are for scripts/lite_fuzz."""
    command = [sys.executable, str(HERE / "lite_fuzz.py"), "0", "400", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = [line.split()[1] for line in done.stdout.splitlines() if " " in line]
    assert len(outcomes) == 400
    assert set(outcomes) <= {"ready", "BrokenModelError", "ModelRefusedError"}


def test_all_programs_are_there():
    assert len(PROGRAMS) >= 60
