"""One side of the exchange of iterators: a process with one framework that saves positions, or goes on from them.

    python position_exchange.py MODULE files|save|load|pass FOLDER [TARGET] [NAME ...]

`files` writes the files that pipelines read, below the working directory, where they are looked for. `save` writes a
checkpoint for each pipeline and position, and what follows it. `load` goes on from those in FOLDER and prints, as JSON,
what differs. `pass` restores and saves again, into TARGET. Without names, all pipelines are taken; of one that is a
number, every such.
"""

import importlib
import json
import pathlib
import shutil
import sys

import position_pipelines

EXPECTED = "following.json"


def all_positions(tf, names):
    """Each pipeline with each position: the key, a new dataset, the position."""
    every = int(names[0]) if names and names[0].isdecimal() else 1
    for position in position_pipelines.POSITIONS:
        tf.random.set_seed(position_pipelines.SEED)
        for number, (name, dataset) in enumerate(position_pipelines.pipelines(tf).items()):
            if number % every == 0 and (every > 1 or not names or name in names):
                yield f"{name}-{position}", dataset, position


def save(tf, folder, names):
    """Write checkpoints, and what follows each."""
    expected = {}
    for key, dataset, position in all_positions(tf, names):
        iterator = iter(dataset)
        for _ in range(position):
            next(iterator, None)
        tf.train.Checkpoint(iterator=iterator).write(str(folder / key))
        expected[key] = position_pipelines.following(tf, iterator)
    (folder / EXPECTED).write_text(json.dumps(expected))
    return {}


def load(tf, folder, names):
    """What differs from what the other side had."""
    expected, differing = json.loads((folder / EXPECTED).read_text()), {}
    for key, dataset, _ in all_positions(tf, names):
        iterator = iter(dataset)
        if tf.__name__ == "headrace" and folder.name == "by_tensorflow" and key in position_pipelines.REFUSED:
            continue
        try:
            tf.train.Checkpoint(iterator=iterator).read(str(folder / key)).assert_consumed()
            actual = json.loads(json.dumps(position_pipelines.following(tf, iterator)))
        except Exception as error:
            differing[key] = f"{type(error).__name__}: {str(error)[:400]}"
            continue
        if actual != expected[key]:
            differing[key] = f"expected {str(expected[key])[:300]}, got {str(actual)[:300]}"
    return differing


def pass_on(tf, folder, target, names):
    """Restore positions and save them again, with what is expected to follow."""
    failures = {}
    for key, dataset, _ in all_positions(tf, names):
        checkpoint = tf.train.Checkpoint(iterator=iter(dataset))
        try:
            checkpoint.read(str(folder / key))
            checkpoint.write(str(target / key))
        except Exception as error:
            failures[key] = f"{type(error).__name__}: {str(error)[:400]}"
    shutil.copy(folder / EXPECTED, target / EXPECTED)
    return failures


def main(module, what, folder, *rest):
    tf = importlib.import_module(module)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if what == "files":
        position_pipelines.make_files(tf)
        return {}
    if what == "pass":
        target = pathlib.Path(rest[0])
        target.mkdir(parents=True, exist_ok=True)
        return pass_on(tf, folder, target, rest[1:])
    return (save if what == "save" else load)(tf, folder, rest)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
