"""Ways of saving that must survive crashes, and how to see what is left of them.

Each saves one version after another: numbers from 1 on, of which all values are made. Whatever happens, what is found
afterwards must be a version as a whole: the last one that `save` returned for, or the one that was being saved.
"""

import contextlib
import os
import re
import tempfile
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

import headrace as tf
from headrace._src.formats import bundle_files, durable_files
from headrace._src.formats.model_messages import FingerprintDef, SavedModel
from headrace._src.formats.tensor_bundle import BundleReader
from headrace._src.saved_model import model_folder

SIZES = {"a": 3, "b": 700, "c": 0}


class Values(tf.Module):
    """Variables that all say which version this is."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (tf.Variable(tf.zeros([size])) for size in SIZES.values())
        self.text = tf.Variable("")

    def become(self, version):
        """Sets all values to those of a version."""
        for variable in (self.a, self.b, self.c):
            variable.assign(tf.fill(variable.shape, float(version)))
        self.text.assign("x" * version)


def version_of(prefix) -> int:
    """The version that a checkpoint has.

    Raises:
        OpError: it cannot be read.
        AssertionError: it is mixed.
    """
    with BundleReader(prefix) as reader:
        found = {}
        for key in reader.keys():
            array = reader.read(key)
            name = key.split("/")[0]
            if name in SIZES:
                assert array.shape == (SIZES[name],), (key, array.shape)
                found[key] = set(array.tolist())
            elif name == "text":
                found[key] = {float(len(array[()]))}
    versions = set().union(*found.values())
    assert len(found) == 4, found
    assert len(versions) == 1, f"values of versions {versions} are mixed: {found}"
    return int(versions.pop())


def visible_checkpoints(folder) -> list[str]:
    """The prefixes of all checkpoints that can be seen in a folder."""
    endings = (".index", ".index" + bundle_files.PENDING)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return sorted({os.path.join(folder, name.split(".index")[0]) for name in names if name.endswith(endings)})


def complaints_about(folder) -> list[str]:
    """What is wrong with checkpoints that can be seen in a folder: each must load, whether it is named or not."""
    found = []
    for prefix in visible_checkpoints(folder):
        try:
            version_of(prefix)
        except (tf.errors.OpError, AssertionError) as error:
            found.append(f"{os.path.basename(prefix)} can be seen, but not read: {error}")
    return found


def plain_only(folder) -> None:
    """Removes what TensorFlow does not know of."""
    for name in os.listdir(folder):
        if name.endswith(bundle_files.PENDING):
            os.unlink(os.path.join(folder, name))


class Scenario:
    """A way of saving.

    Args:
        name: what it is called.
        save: saves a version into a folder; called for 1, 2, 3 ... It gets what it returned before, None at first.
        look: the version that a program finds in the folder after a crash; None if there is none.
        versions: how many are saved.
        files: the paths in the folder after each save, by version; nothing else may be left.
        shown: what else must be durable when `save` has returned: a function of the folder.
        keep: how many versions are always there.
        listed: how many can be found in a folder.
    """

    def __init__(
        self,
        name: str,
        save: Callable[[str, int, Any], Any],
        look: Callable[[str], int | None],
        versions: int,
        files: Callable[[int], set[str]],
        shown: Callable[[str], Any] = lambda folder: None,
        keep: int = 0,
        listed: Callable[[str], int] = lambda folder: 0,
    ):
        self.name, self.save, self.look, self.versions, self.files = name, save, look, versions, files
        self.shown, self.keep, self.listed = shown, keep, listed

    def __repr__(self):
        return self.name

    def run(self, folder, mark=lambda text: None):
        """Saves all versions, and says when each begins and ends."""
        state = None
        for version in range(1, self.versions + 1):
            mark(("saving", version))
            state = self.save(folder, version, state)
            mark(("saved", version))
        return state


def _manager(options=None, **keywords):
    def save(folder, version, state):
        if state is None:
            values = Values()
            checkpoint = tf.train.Checkpoint(values)
            manager = tf.train.CheckpointManager(checkpoint, os.path.join(folder, "logs"), **keywords)
            with contextlib.suppress(TypeError):
                checkpoint.restore(manager.latest_checkpoint)
            state = values, manager
        values, manager = state
        values.become(version)
        manager.save(options=options and options())
        manager.sync()
        return state

    return save


def _new_manager(folder):
    return tf.train.CheckpointManager(None, os.path.join(folder, "logs"), 1)


def _latest(folder):
    path = _new_manager(folder).latest_checkpoint
    return None if path is None else version_of(path)


def _manager_state(folder):
    return [os.path.basename(path) for path in _new_manager(folder).checkpoints]


def _listed(folder):
    """How many checkpoints are named in the folder, and there."""
    return sum(map(bundle_files.is_there, _new_manager(folder).checkpoints))


def bundle(prefix, shards=1):
    """The names of the files of a checkpoint."""
    return {f"{prefix}.index", *(f"{prefix}.data-{shard:05}-of-{shards:05}" for shard in range(shards))}


def _managed(keep, shards=1):
    return lambda version: {"logs/checkpoint"}.union(
        *(bundle(f"logs/ckpt-{number}", shards) for number in range(max(1, version - keep + 1), version + 1))
    )


_SHARDS = {3: 3, 4: 3, 5: 2}  # version to the number of files, where it is not 1


def _same_prefix(folder, version, state):
    values = state or Values()
    values.become(version)
    policy = tf.train.experimental.MaxShardSizePolicy(-(-2900 // _SHARDS.get(version, 1)))
    options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    tf.train.Checkpoint(values).write(os.path.join(folder, "c"), options)
    return values


def _look_at_same(folder):
    prefix = os.path.join(folder, "c")
    return version_of(prefix) if bundle_files.is_there(prefix) else None


def _plain_version(folder):
    plain_only(folder)
    return version_of(os.path.join(folder, "c"))


def _by_op(folder, version, state):
    """The op of a graph, into a new folder."""
    arrays = [np.full(size, version, np.float32) for size in SIZES.values()]
    tf.raw_ops.SaveV2(
        prefix=os.path.join(folder, "new", "c"),
        tensor_names=[*SIZES, "text"],
        shape_and_slices=[""] * 4,
        tensors=[*arrays, tf.constant("x" * version)],
    )


def _look_at_op(folder):
    return _look_at_same(os.path.join(folder, "new"))


def _merged(folder, version, state):
    """The ops of a graph of several tasks: parts in a folder of their own, which are merged into a checkpoint."""
    arrays = {name: np.full(size, version, np.float32) for name, size in SIZES.items()}
    parts = [os.path.join(folder, "c_temp", f"part-{number}") for number in range(2)]
    names = [["a", "b"], ["c", "text"]]
    tensors = [[arrays["a"], arrays["b"]], [arrays["c"], tf.constant("x" * version)]]
    for part, some, values in zip(parts, names, tensors):
        tf.raw_ops.SaveV2(prefix=part, tensor_names=some, shape_and_slices=["", ""], tensors=values)
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=os.path.join(folder, "c"))


def _saved_model(folder, version, state):
    """A SavedModel in the place of another. It has an asset, and in its folder is a file of the user's."""
    values = state or Values()
    values.become(version)
    text = f"<version {version}>"
    values.say = tf.function(lambda: tf.constant(text), input_signature=[])
    if version == 2:
        durable_files.replace(os.path.join(folder, "model", "notes.txt"), b"the user's")
    with tempfile.TemporaryDirectory() as other:
        with open(os.path.join(other, "words.txt"), "w") as file:
            file.write(text)
        values.words = tf.saved_model.Asset(file.name)
        tf.saved_model.save(values, os.path.join(folder, "model"))
    return values


def _model_in_place(folder, version, state):
    """A SavedModel in a folder that cannot be renamed, such as one where a disk is mounted."""
    os.makedirs(os.path.join(folder, "model"), exist_ok=True)
    with mock.patch.object(model_folder, "_is_fixed", return_value=True):
        return _saved_model(folder, version, state)


def _look_at_model(folder):
    path = os.path.join(folder, "model")
    if not tf.saved_model.contains_saved_model(path):
        return None
    with open(os.path.join(path, "saved_model.pb"), "rb") as file:
        data = file.read()
    SavedModel.FromString(data)
    version = int((re.findall(rb"<version (\d+)>", data) or [b"0"])[0])
    values = version_of(os.path.join(path, "variables", "variables"))
    with open(os.path.join(path, "assets", "words.txt")) as file:
        words = file.read()
    assert words == f"<version {version}>", f"the graph is of version {version}, the asset says {words!r}"
    assert values == version, f"the graph is of version {version}, the values of version {values}"
    with open(os.path.join(path, "fingerprint.pb"), "rb") as file:
        assert FingerprintDef.FromString(file.read()).checkpoint_hash, "no fingerprint"
    return version


def _notes(folder):
    path = os.path.join(folder, "model", "notes.txt")
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return file.read()


def _files_of_model(version):
    names = {"saved_model.pb", "fingerprint.pb", "assets/words.txt", "notes.txt", *bundle("variables/variables")}
    return {f"model/{name}" for name in names}


def _shards_of_two_thousand():
    return tf.train.CheckpointOptions(experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(2000))


def _in_the_background():
    return tf.train.CheckpointOptions(enable_async=True)


def _manager_scenario(name, versions, keep, options=None, shards=1):
    save = _manager(options, max_to_keep=keep)
    return Scenario(name, save, _latest, versions, _managed(keep, shards), _manager_state, keep, _listed)


SCENARIOS = [
    _manager_scenario("manager", 3, 1),
    _manager_scenario("manager of several", 4, 2),
    _manager_scenario("shards", 3, 2, _shards_of_two_thousand, shards=2),
    _manager_scenario("background", 3, 1, _in_the_background),
    Scenario("same prefix", _same_prefix, _look_at_same, 5, lambda v: bundle("c", _SHARDS.get(v, 1)), _plain_version),
    Scenario("op", _by_op, _look_at_op, 2, lambda v: bundle("new/c")),
    Scenario("saved model", _saved_model, _look_at_model, 3, _files_of_model, _notes),
    Scenario("saved model in place", _model_in_place, _look_at_model, 1, _files_of_model, _notes),
    Scenario("merged parts", _merged, _look_at_same, 3, lambda v: bundle("c", 2), _plain_version),
]
