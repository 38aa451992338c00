"""What log_program.py must have written: tags by run and plugin, and how they are read back without TensorBoard."""

import glob
import importlib.metadata
import os

KERAS = tuple(int(number) for number in importlib.metadata.version("keras").split(".")[:2])


def tag_of(weight):
    """What Keras calls a weight's summaries: 3.13 by the last part of its path only."""
    return weight if KERAS > (3, 13) else weight.rpartition("/")[2]


RUNS = {
    "summaries": {
        "decay": "scalars", "inside/cosine": "scalars", "spread": "histograms", "gradients": "images", "tone": "audio",
        "note": "text", "table": "text",
    },
    "function": {"my_func_trace": "graph_run_metadata"},
    "training/train": {
        "keras": "graph_keras_model", "batch_6": "graph_run_metadata_graph", "epoch_loss": "scalars",
        "epoch_accuracy": "scalars", "epoch_learning_rate": "scalars",
        f"{tag_of('sequential/words/embeddings')}/histogram": "histograms",
        f"{tag_of('sequential/hidden/kernel')}/histogram": "histograms",
        f"{tag_of('sequential/hidden/bias')}/histogram": "histograms",
        f"{tag_of('sequential/classes/kernel')}/histogram": "histograms",
        f"{tag_of('sequential/hidden/kernel')}/image": "images",
    },
    "training/validation": {
        "epoch_loss": "scalars", "epoch_accuracy": "scalars", "evaluation_loss_vs_iterations": "scalars",
    },
}  # fmt: skip
# Written with TensorBoard's package only.
PLUGIN_RUNS = {
    "search": {"_hparams_/experiment": "hparams"},
    "search/run-7": {"_hparams_/session_start_info": "hparams", "accuracy": "scalars"},
    "search/keras": {"_hparams_/session_start_info": "hparams", "_hparams_/session_end_info": "hparams"},
    "projector": {"points": "scalars"},
}
PROFILES = {
    "training/train": ["Profiled batch", "multi_step_on_iterator"],
    "function": ["my_func", "product/MatMul:MatMul"],
    "compiled": ["train", "update:XlaLaunch", "XLA compile here", "tf.function-graph_building"],
}
EMBEDDINGS = "training/train/keras_embedding_words.tsv"


def tags_of(folder, run):
    """The tags of a run with their plugins, as headrace reads them."""
    import headrace as tf

    found = {}
    for path in sorted(glob.glob(os.path.join(folder, run, "events*"))):
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name:
                    found[value.tag] = value.metadata.plugin_data.plugin_name
    return found


def events_of_profile(folder, run):
    """The names of what a profile shows."""
    from headrace._src.formats.profile_messages import XSpace

    names = set()
    for path in glob.glob(os.path.join(folder, run, "plugins", "profile", "*", "*.xplane.pb")):
        with open(path, "rb") as file:
            space = XSpace.FromString(file.read())
        names.update(entry.name for plane in space.planes for entry in plane.event_metadata.values())
    return names


def problems(folder, with_plugins):
    """What is missing in a log folder, as texts."""
    found = []
    for run, expected in {**RUNS, **(PLUGIN_RUNS if with_plugins else {})}.items():
        tags = tags_of(folder, run)
        for tag, plugin in expected.items():
            if tags.get(tag) != plugin:
                found.append(f"{run}: {tag!r} should be of {plugin}, is of {tags.get(tag)}; there are {sorted(tags)}")
    for run, names in PROFILES.items():
        there = events_of_profile(folder, run)
        found += [f"{run}: the profile does not show {name!r}" for name in names if name not in there]
    with open(os.path.join(folder, EMBEDDINGS)) as file:
        sizes = [len(line.split("\t")) for line in file]
    if sizes != [8] * 30:
        found.append(f"{EMBEDDINGS}: {sizes}")
    return found


def problems_of_board(folder):
    """What TensorBoard's own reader does not find in a log folder."""
    reader = importlib.import_module("tensorboard.backend.event_processing.event_multiplexer")
    board = reader.EventMultiplexer().AddRunsFromDirectory(folder).Reload()
    found = []
    for run, expected in {**RUNS, **PLUGIN_RUNS}.items():
        there = board.Runs().get(run, {"tensors": []})["tensors"]
        found += [f"{run}: TensorBoard does not find {tag!r}" for tag in expected if tag not in there]
    return found
