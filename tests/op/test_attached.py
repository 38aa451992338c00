"""Methods that stand in other files: they are loaded when first used, and nobody can tell."""

import functools
import subprocess
import sys

import pytest

from headrace._src import index
from headrace._src.op import attached
from headrace._src.op.attached import Deferred, attach, method_of, open_class

# Programs that touch a method first, in a process of its own, and what they print.
PROGRAMS = {
    "nothing is loaded before": ("print('headrace._src.data.transformations.mapping' in sys.modules)", "False"),
    "only what is used is loaded": (
        "D.range(3)\nprint([m for m in sys.modules if m.startswith('headrace._src.data.transformations.')])", "[]",
    ),
    "hasattr": ("print(hasattr(D, 'map'), hasattr(D.range(3), 'batch'), hasattr(D, 'no_such'))", "True True False"),
    "dir": ("print('map' in dir(D), 'from_tensor_slices' in dir(D.range(3)))", "True True"),
    "a signature": ("print(list(inspect.signature(D.batch).parameters)[:2])", "['self', 'batch_size']"),
    "a method by its class": ("print(list(D.take(D.range(9), 2).as_numpy_iterator()))", "[np.int64(0), np.int64(1)]"),
    "a static method": ("print(D.range(1).from_tensors is D.from_tensors)", "True"),
    "a special method": ("print([int(x) for x in D.range(3)])", "[0, 1, 2]"),
    "instances of abstract classes": (
        "print(isinstance(D.range(3), collections.abc.Iterable), issubclass(D, collections.abc.Iterable))", "True True",
    ),
    "an abstract class": (
        "try:\n    D(tf.constant(0))\nexcept TypeError as error:\n    print('abstract' in str(error))", "True",
    ),
    "a subclass": (
        "class Mine(D):\n    def __init__(self, inner):\n        self.inner = inner\n"
        "        super().__init__(inner._variant_tensor)\n"
        "    element_spec = property(lambda self: self.inner.element_spec)\n"
        "    def take(self, count):\n        return super().take(count + 1)\n"
        "mine = Mine(D.range(9))\nprint(len(mine.take(1)), len(list(mine)), len(mine.skip(2)))", "2 9 7",
    ),
    "what a program puts there stays": (
        "D.take = lambda self, count: 'mine'\nD.range(3).skip(1)\nprint(D.range(3).take(1))", "mine",
    ),
    "a loop in a function": (
        "@tf.function\ndef f(dataset):\n    total = tf.constant(0, tf.int64)\n    for x in dataset:\n"
        "        total += x\n    return total\nprint(int(f(D.range(4))))", "6",
    ),
    "operators": (
        "r = tf.ragged.constant([[1, 2], [3]])\nprint((1 + r).to_list(), (r == r).to_list(), r[0].numpy().tolist())",
        "[[2, 3], [4]] [[True, True], [True]] [1, 2]",
    ),
    "a spec alone": ("print(tf.RaggedTensorSpec([None, None]).value_type.__name__)", "RaggedTensor"),
    "a function of a dense and a sparse tensor": (
        "s = tf.SparseTensor([[0, 1]], [4.0], [1, 2])\n"
        "print(tf.sqrt(s).values.numpy(), tf.cast(s, tf.int32).dtype.name, (s * [[1.0, 2.0]]).values.numpy())",
        "[2.] int32 [8.]",
    ),
    "a list with a ragged tensor": (
        "r = tf.ragged.constant([[1, 2], [3]])\nprint(tf.concat([r, r], 1).to_list())", "[[1, 2, 1, 2], [3, 3]]",
    ),
}  # fmt: skip


@pytest.fixture
def run(tmp_path):
    return functools.partial(_run, tmp_path / "program.py")


def _run(path, program):
    # A file, since AutoGraph reads the source.
    path.write_text("import collections.abc, inspect, sys\nimport headrace as tf\nD = tf.data.Dataset\n" + program)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_use(run, name):
    program, want = PROGRAMS[name]
    assert run(program) == want


@pytest.mark.parametrize("place", ["data.transformations.taking", "no.such_file"])
def test_a_stale_index_is_slow_and_not_wrong(run, place):
    program = (
        "from headrace._src.op.attached import Deferred\n"
        f"D.batch = Deferred(D, 'batch', {place!r})\n"
        "print([x.tolist() for x in D.range(3).batch(2).as_numpy_iterator()])"
    )
    assert run(program) == "[[0, 1], [2]]"


def test_a_function_that_the_index_does_not_know(run):
    program = (
        "from headrace._src import index\ndel index.TEACHERS['ops.ragged.tensor:RaggedTensor']['concat']\n"
        "r = tf.ragged.constant([[1, 2], [3]])\nprint(tf.concat([r, r], 1).to_list())"
    )
    assert run(program) == "[[1, 2, 1, 2], [3, 3]]"


def test_kinds_of_attached_things(monkeypatch):
    module = __name__.rpartition(".")[2]
    names = ("plain", "static", "of_class", "field", "__len__")
    monkeypatch.setitem(index.METHODS, f"{__name__}:Thing", dict.fromkeys(names, module))
    monkeypatch.setattr(attached, "load_indexed", lambda place: attach_all())

    @open_class
    class Thing:
        pass

    def attach_all():
        @method_of(Thing)
        def plain(self):
            return self

        attach(Thing, "static", staticmethod(lambda: "static"))
        attach(Thing, "of_class", classmethod(lambda cls: cls))
        attach(Thing, "field", property(lambda self: "field"))
        method_of(Thing, "__len__")(lambda self: 3)

    for name in names:
        setattr(Thing, name, Deferred(Thing, name, module))
    thing = Thing()
    assert len(thing) == 3
    assert not isinstance(vars(Thing)["plain"], Deferred)
    assert (thing.plain(), Thing.static(), thing.of_class(), thing.field) == (thing, "static", Thing, "field")


def test_what_no_file_attaches(monkeypatch):
    monkeypatch.setattr(attached, "load_indexed", lambda place: None)
    monkeypatch.setattr(attached, "load_everything", lambda: None)

    class Thing:
        pass

    Thing.missing = Deferred(Thing, "missing", "nowhere")
    with pytest.raises(AttributeError, match="scripts/exports"):
        Thing().missing
    assert not hasattr(Thing, "missing")
