"""Readers of checkpoints as targets: index, data, files of the first version, the state file, and merging."""

import functools
import os
import pathlib
import tempfile

import numpy as np
from byte_mutations import any_bytes, same_length
from container_mutations import changed_table, repaired_bundle, repaired_table
from fuzz_targets import TYPED, Find, exchanged_files, on_file, target
from message_mutations import mutated_message

import headrace as tf
from headrace._src.formats.bundle_merging import merge_bundles
from headrace._src.formats.checkpoint_messages import (
    BundleEntryProto,
    BundleHeaderProto,
    CheckpointState,
    SavedTensorSlices,
    TrackableObjectGraph,
)
from headrace._src.formats.slice_files import write_slice_file
from headrace._src.formats.tensor_bundle import BundleReader, write_bundle
from headrace._src.formats.tensor_slices import TensorSlice, whole

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "bundles"
PREFIX = "ckpt"


def files_in(folder, prefix=""):
    """The files of a folder and those below it, by their paths in it."""
    root = pathlib.Path(folder)
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in paths
        if path.name.startswith(prefix) and not path.name.startswith(".")
    }


def _golden(name):
    """A checkpoint that TensorFlow wrote, under the prefix that all inputs have."""
    return {
        path.name.replace(name, PREFIX, 1): path.read_bytes()
        for path in GOLDEN.glob(f"{name}.*")
        if path.suffix != ".json"
    }


def strings(*items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _written(tensors, shards=1):
    with tempfile.TemporaryDirectory() as folder:
        write_bundle(os.path.join(folder, PREFIX), tensors, shards)
        return files_in(folder, PREFIX)


def object_graph():
    """A message such as object-based checkpoints have."""
    message = TrackableObjectGraph()
    root, child, slot = message.nodes.add(), message.nodes.add(), message.nodes.add()
    root.children.add(node_id=1, local_name="layer")
    child.attributes.add(name="VARIABLE_VALUE", full_name="w", checkpoint_key="layer/.ATTRIBUTES/VARIABLE_VALUE")
    root.slot_variables.add(original_variable_node_id=1, slot_name="m", slot_variable_node_id=2)
    slot.attributes.add(name="VARIABLE_VALUE", checkpoint_key="slot/.ATTRIBUTES/VARIABLE_VALUE")
    return message.SerializeToString()


@functools.cache
def bundles():
    """Checkpoints of every dtype, of strings, variants, slices, and of several shards."""
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    small = [
        ("layer/.ATTRIBUTES/VARIABLE_VALUE", tf.float32, rows),
        ("_CHECKPOINTABLE_OBJECT_GRAPH", tf.string, np.array(object_graph(), object)),
        ("numbers", tf.int64, np.arange(5)),
        ("words", tf.string, strings(b"", b"a", b"b" * 200)),
        ("scalar", tf.bool, np.array(True)),
    ]
    parts = [
        ("parts", tf.float32, rows[:2], ((4, 3), TensorSlice((0, 0), (2, -1)))),
        ("parts", tf.float32, rows[2:], ((4, 3), TensorSlice((2, 0), (2, -1)))),
        ("text", tf.string, strings(b"x", b"yy"), ((3,), TensorSlice((0,), (2,)))),
        ("text", tf.string, strings(b"zzz"), ((3,), TensorSlice((2,), (1,)))),
        ("other", tf.int32, np.arange(3, dtype=np.int32)),
    ]
    many = [(f"layer_{n}/kernel/.ATTRIBUTES/VARIABLE_VALUE", tf.int16, np.full(2, n, np.int16)) for n in range(60)]
    return [
        _golden("dtypes"),
        _golden("variants"),
        _golden("merged"),
        _written(small),
        _written(small, 3),
        _written(parts),
        _written(many),
    ]


def _entry(rng, key, value):
    """Another entry of the index."""
    if rng.random() < 0.15:
        return any_bytes(rng, value)
    changed = mutated_message(rng, value, BundleEntryProto if key else BundleHeaderProto)
    return any_bytes(rng, value) if changed is None else changed


INDEX = [
    (3, on_file(any_bytes, ".index")),
    (2, on_file(repaired_table, ".index")),
    (6, on_file(lambda rng, data, others: changed_table(rng, data, _entry, others), ".index")),
    (0.3, exchanged_files),
]


def _values(rng, files, corpus):
    """Other data, with the checksums of these in the index: what strings and variants say is then believed."""
    names = [name for name in files if ".data-" in name]
    if len(names) != 1:
        return on_file(any_bytes, names[0])(rng, files, corpus)
    changed = same_length(rng, files[names[0]])
    files["ckpt.index"], files[names[0]] = repaired_bundle(files["ckpt.index"], changed)
    return files


def _data_bytes(rng, files, corpus):
    name = rng.choice([name for name in sorted(files) if ".data-" in name])
    others = [data for each in corpus for other, data in each.items() if ".data-" in other]
    files[name] = any_bytes(rng, files[name], others)
    return files


def read_checkpoint(trial, expected=()):
    """Everything that can be asked of a checkpoint by name. `expected`: name to value, of what must not be another."""
    prefix = trial.path(PREFIX)
    reader = trial.attempt(lambda: tf.train.load_checkpoint(prefix))
    if reader is None:
        return
    trial.attempt(reader.debug_string)
    shapes = trial.attempt(reader.get_variable_to_shape_map) or {}
    types = trial.attempt(reader.get_variable_to_dtype_map) or {}
    names = list(reader._reader.keys())
    for name in names if len(names) <= 12 else trial.rng.sample(names, 12):
        value = trial.attempt(lambda name=name: reader.get_tensor(name), (tf.errors.InternalError,))
        if value is not None and name in expected:
            if not np.array_equal(value, expected[name], equal_nan=np.asarray(value).dtype.kind in "fc"):
                raise Find(f"{name} has another value than was written: {value!r}")
    if names:
        _read_parts(trial, prefix, trial.rng.choice(names), shapes)
        if types:
            _restore_op(trial, prefix, types)


def _read_parts(trial, prefix, name, shapes):
    shape = shapes.get(name, [])
    lengths = tuple(trial.rng.randrange(min(size, 5) + 1) for size in shape)
    part = TensorSlice((0,) * len(shape), lengths)

    def read():
        with BundleReader(prefix) as reader:
            return reader.read(name, part)

    trial.attempt(read)


def _restore_op(trial, prefix, types):
    chosen = trial.rng.sample(sorted(types), min(3, len(types)))
    wanted = [types[name] if trial.rng.random() < 0.9 else tf.float32 for name in chosen]
    names = [name.encode("utf-8", "surrogateescape") for name in chosen]
    trial.attempt(
        lambda: tf.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(chosen), dtypes=wanted
        ),
        named=False,
    )


@target("checkpoint_index", bundles, INDEX, named=True, group="index", cost=2)
def read_index(trial):
    read_checkpoint(trial)


@functools.cache
def _expected(which):
    with tempfile.TemporaryDirectory() as folder:
        for name, data in bundles()[which].items():
            (pathlib.Path(folder) / name).write_bytes(data)
        reader = tf.train.load_checkpoint(os.path.join(folder, PREFIX))
        return {
            name: reader.get_tensor(name)
            for name, dtype in reader.get_variable_to_dtype_map().items()
            if dtype is not tf.variant
        }


def _bundles_and_values():
    for which in range(len(bundles())):
        _expected(which)
    return bundles()


@target("checkpoint_data", _bundles_and_values, [(1, _data_bytes), (0.1, exchanged_files)], named=True, group="data",
        cost=3.5)  # fmt: skip
def read_data(trial):
    # The index is whole, so that what is read without an error must be what was written.
    index = "ckpt.index"
    same = trial.which is not None and trial.files.get(index) == bundles()[trial.which][index]
    read_checkpoint(trial, _expected(trial.which) if same else ())


@target("checkpoint_values", bundles, [(1, _values)], named=True, group="data", cost=4)
def read_values(trial):
    read_checkpoint(trial)


# Files of the first version.


@functools.cache
def first_version():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        rows = np.arange(6, dtype=np.float32).reshape(2, 3)
        write_slice_file(
            path,
            [
                ("whole", tf.float32, rows, (2, 3), whole(2)),
                ("parts", tf.int64, np.arange(3), (5,), TensorSlice((0,), (3,))),
                ("parts", tf.int64, np.arange(2), (5,), TensorSlice((3,), (2,))),
                ("words", tf.string, strings(b"a", b""), (2,), whole(1)),
                ("half", tf.float16, np.ones(2, np.float16), (2,), whole(1)),
                ("complex", tf.complex64, np.ones(2, np.complex64), (2,), whole(1)),
            ],
        )
        written = pathlib.Path(path).read_bytes()
    return [{PREFIX: written}, {PREFIX: (GOLDEN / "first_version").read_bytes()}]


def _slices(rng, key, value):
    changed = mutated_message(rng, value, SavedTensorSlices)
    return any_bytes(rng, value) if changed is None else changed


@target(
    "checkpoint_first_version",
    first_version,
    [
        (2, on_file(any_bytes)),
        (1, on_file(repaired_table)),
        (5, on_file(lambda rng, data, others: changed_table(rng, data, _slices, others))),
    ],
    named=True,
    group="data",
    cost=1.8,
)
def read_first_version(trial):
    path = trial.path(PREFIX)
    reader = trial.attempt(lambda: tf.train.load_checkpoint(path))
    if reader is None:
        return
    trial.attempt(reader.debug_string)
    for name in list(reader.get_variable_to_shape_map())[:12]:
        trial.attempt(lambda name=name: reader.get_tensor(name))
    trial.attempt(
        lambda: tf.raw_ops.RestoreSlice(
            file_pattern=path, tensor_name="parts", shape_and_slice="5 1,3", dt=tf.int64, preferred_shard=-1
        ),
        named=False,
    )


# The state file.


def _state(rng, data, others):
    if rng.random() < 0.6:
        return any_bytes(rng, data, others)
    lines = data.split(b"\n")
    for _ in range(rng.choice([1, 2])):
        at = rng.randrange(len(lines))
        lines[at] = rng.choice([
            lines[at] * 2, b"", b"{", b"}", b'model_checkpoint_path: "', b'model_checkpoint_path: "\\377\\001"',
            b"all_model_checkpoint_timestamps: 1e999", b"all_model_checkpoint_timestamps: nan", b"unknown: 3",
            b'all_model_checkpoint_paths: "../../x"', b"last_preserved_timestamp: -1", b"# " + lines[at], b"\xff\xfe",
        ])  # fmt: skip
    return b"\n".join(lines)


def _states():
    state = CheckpointState(model_checkpoint_path="ckpt-2", all_model_checkpoint_paths=["ckpt-1", "ckpt-2"])
    state.all_model_checkpoint_timestamps.extend([1.5, 2.5])
    state.last_preserved_timestamp = 1.0
    short = b'model_checkpoint_path: "ckpt-1"\nall_model_checkpoint_paths: "ckpt-1"\n'
    return [{"checkpoint": str(state).encode()}, {"checkpoint": short}]


@target("checkpoint_state", _states, [(1, on_file(_state))], right=(*TYPED, ValueError), named=True, group="index",
        cost=1.2)  # fmt: skip
def read_state(trial):
    state = trial.attempt(lambda: tf.train.get_checkpoint_state(trial.folder))
    trial.attempt(lambda: tf.train.latest_checkpoint(trial.folder))
    trial.attempt(lambda: tf.train.load_checkpoint(trial.folder), (ValueError,), named=False)
    if state is not None and not isinstance(state.model_checkpoint_path, str):
        raise Find(f"{state!r}")


# Merging.


def _pairs():
    one, other = bundles()[3], bundles()[6]
    return [
        {**one, **{name.replace(PREFIX, "more", 1): data for name, data in other.items()}},
        {**bundles()[5], **{name.replace(PREFIX, "more", 1): data for name, data in bundles()[0].items()}},
    ]


@target("checkpoint_merging", _pairs, INDEX, named=True, group="index", cost=1.6)
def merge(trial):
    prefixes = [trial.path(PREFIX), trial.path("more")]
    trial.attempt(lambda: merge_bundles(prefixes, trial.path("merged")))
