"""SavedModels as targets: they are loaded, and what loads is called."""

import functools
import pathlib
import zipfile
from collections.abc import Mapping

from byte_mutations import any_bytes
from container_mutations import changed_table, repaired_bundle, repaired_table
from fuzz_checkpoints import _entry
from fuzz_targets import exchanged_files, on_file, one_file, target
from message_mutations import mutated_message

import headrace as tf
from headrace._src.core.lazy import protobuf_text_format
from headrace._src.formats.model_messages import SavedModel
from headrace._src.op.loading import load_everything

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"
MODEL, INDEX, DATA = "saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"
_LARGEST = 200_000  # bytes of a model's variables


def archived(path):
    """The folders of an archive, each as files."""
    found: dict = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            folder, _, rest = name.partition("/")
            if not name.endswith("/"):
                found.setdefault(folder, {})[rest] = archive.read(name)
    return found


@functools.cache
def models():
    """What TensorFlow wrote: variables, arguments of functions, control flow, gradients, composites, tables, files."""
    found = archived(FIXTURES / "saved_models" / "models.zip")
    return [files for _, files in sorted(found.items()) if len(files[DATA]) < _LARGEST]


def _message(rng, data, others):
    changed = mutated_message(rng, data, SavedModel, others)
    return any_bytes(rng, data, others) if changed is None else changed


def _values(rng, files, corpus):
    """Other values of variables, with right checksums."""
    changed = bytearray(files[DATA])
    for _ in range(rng.choice([1, 4, 40])):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    files[INDEX], files[DATA] = repaired_bundle(files[INDEX], bytes(changed))
    return files


MUTATIONS = [
    (8, on_file(_message, MODEL)),
    (2, on_file(any_bytes, MODEL)),
    (0.5, on_file(any_bytes, INDEX)),
    (0.5, on_file(repaired_table, INDEX)),
    (1, on_file(lambda rng, data, others: changed_table(rng, data, _entry, others), INDEX)),
    (0.5, on_file(any_bytes, DATA)),
    (1, _values),
    (0.5, exchanged_files),
]
# What a program that came with the data may raise when it runs or is traced.
_PROGRAM = (ValueError, TypeError, tf.errors.AbortedError, tf.errors.CancelledError)


def _compile():
    """Loads XLA, which takes longer than a program is given, and all ops, as an op does that does not exist."""
    load_everything()
    tf.function(lambda x: tf.sin(x) + 1.0, jit_compile=True)(tf.constant(1.0))


@target("saved_model", models, MUTATIONS, named=True, prepare=_compile, group="model", cost=6)
def load_and_call(trial):
    loaded = trial.attempt(lambda: tf.saved_model.load(trial.folder), (ValueError,))
    if loaded is None:
        return
    functions = []
    for name in dir(loaded):
        if name.startswith("__"):
            continue
        value = trial.attempt(lambda name=name: getattr(loaded, name, None), (ValueError,), named=False)
        functions += getattr(value, "concrete_functions", [])
    if isinstance(getattr(loaded, "signatures", None), Mapping):
        functions += loaded.signatures.values()
    for function in functions if len(functions) <= 2 else trial.rng.sample(functions, 2):
        call(trial, function)


def call(trial, function):
    """Calls a function with arguments as it says that it takes them."""

    def run():
        args, kwargs = function.structured_input_signature
        make = lambda spec: _value(spec, trial.rng)
        args, kwargs = tf.nest.map_structure(make, (args, kwargs), expand_composites=trial.rng.random() < 0.9)
        return function(*args, **kwargs)

    trial.attempt_program(run, _PROGRAM)


def _value(spec, rng):
    """An argument that a spec describes; small, whatever it says."""
    if not isinstance(spec, tf.TensorSpec):
        return spec
    shape = [] if spec.shape.rank is None else [2 if size is None else min(size, 4) for size in spec.shape]
    if len(shape) > 6:
        shape = shape[:6]
    if spec.dtype is tf.string:
        return tf.fill(shape, rng.choice(["a", "words", "assets/inside.txt", "/etc/hostname", "../x"]))
    if spec.dtype in (tf.resource, tf.variant):
        return tf.zeros([])
    return tf.cast(tf.fill(shape, rng.choice([0, 1, 2])), spec.dtype)


# The same as text, and the fingerprint.


def _as_text(files):
    files = dict(files)
    files["saved_model.pbtxt"] = protobuf_text_format.MessageToString(SavedModel.FromString(files.pop(MODEL))).encode()
    return files


@target(
    "saved_model_text",
    lambda: list(map(_as_text, models()[:3])),
    [(1, on_file(any_bytes, ".pbtxt"))],
    named=True,
    group="model",
    cost=11,
)
def load_text(trial):
    trial.attempt(lambda: tf.saved_model.load(trial.folder), (ValueError,))


def _fingerprints():
    return one_file("fingerprint.pb", *[files["fingerprint.pb"] for files in models()])


@target(
    "fingerprint",
    _fingerprints,
    [(1, on_file(any_bytes))],
    right=(RuntimeError, FileNotFoundError),
    named=True,
    group="model",
    cost=0.4,
)
def read_fingerprint(trial):
    found = trial.attempt(lambda: tf.saved_model.experimental.read_fingerprint(trial.folder))
    if found is not None:
        trial.attempt(found.singleprint)
