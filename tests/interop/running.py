"""One side of the interoperability proof: a process with one framework that saves and loads programs as it is told.

    python running.py MODULE

reads lines `save NAME FOLDER` and `load NAME FOLDER` and answers each with a line of JSON.
"""

import importlib
import json
import os
import pathlib
import signal
import sys
import traceback

import numpy as np

STEPS = 10
SECONDS = 300  # for one program
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
# In which forms programs are saved, and which results of the one that loads must be those of the one that saved.
FORMS = {"checkpoint": ("outputs", "step", "after"), "model": ("outputs", "step", "signatures")}


def encoded(results):
    """Nests of results as arrays that `np.savez` holds without pickles: small floats widened, strings as hex digits."""
    arrays = {}
    for key, array in results.items():
        array = np.asarray(array)
        if array.dtype.kind in "OSU":
            as_bytes = [x.encode() if isinstance(x, str) else bytes(x) for x in array.ravel()]
            arrays[f"{key}@string"] = np.array([x.hex() for x in as_bytes], "U").reshape(array.shape)
        elif array.dtype.kind == "V" or array.dtype.name in ("bfloat16", "float8_e5m2", "float8_e4m3fn"):
            arrays[f"{key}@{array.dtype.name}"] = array.astype("float32")
        else:
            arrays[f"{key}@{array.dtype.name}"] = array
    return arrays


def flat(tf, value, prefix):
    """The parts of a nest of tensors, by place."""
    parts = [x for x in tf.nest.flatten(value, expand_composites=True) if x is not None]
    return {f"{prefix}/{i}": x.numpy() if hasattr(x, "numpy") else np.asarray(x) for i, x in enumerate(parts)}


def go_on(tf, program, obj):
    """Ten more steps, and what is computed before and after them."""
    results = flat(tf, program.outputs(tf, obj), "outputs")
    if program.trains:
        for step in range(program.warm_up, program.warm_up + STEPS):
            results |= flat(tf, program.train(tf, obj, step), f"step{step}")
        results |= flat(tf, program.outputs(tf, obj), "outputs_after")
    return results


def tensors_of(tf, path):
    """Everything in a checkpoint, but for the description of the objects and the state of iterators."""
    reader = tf.train.load_checkpoint(str(path))
    names = [x for x in reader.get_variable_to_shape_map() if x != OBJECT_GRAPH and not x.endswith("ITERATOR_STATE")]
    tensors = {name: reader.get_tensor(name) for name in sorted(names)}
    for name in names:
        if name.endswith("-keys"):
            sort_table(tensors, name, name.removesuffix("keys") + "values")
    return {f"state/{name}": tensor for name, tensor in tensors.items()}


def sort_table(tensors, keys, values):
    """Put the entries of a table into the order of their keys: in files they stand in that of their hashes."""
    entries = zip(tensors[keys].tolist(), tensors[values].tolist(), strict=True)
    order = [place for place, _ in sorted(enumerate(entries), key=lambda item: item[1])]
    tensors[keys], tensors[values] = tensors[keys][order], tensors[values][order]


def with_prefix(prefix, results):
    return {f"{prefix}/{key}": value for key, value in results.items()}


def fresh(tf, program, seed):
    tf.keras.utils.set_random_seed(seed)
    return program.build(tf)


def write(tf, program, folder: pathlib.Path):
    """Train a little, and save in both forms; the object, and its checkpoint."""
    obj = fresh(tf, program, 3)
    if program.trains:
        for step in range(program.warm_up):
            program.train(tf, obj, step)
    checkpoint = program.checkpoint(tf, obj)
    checkpoint.save(str(folder / "checkpoint" / "ck"))
    if program.has_functions:
        program.save_model(tf, obj, str(folder / "model"))
    return obj, checkpoint


def save(tf, program, folder: pathlib.Path):
    """Train a little, save in both forms, train on; the results go into `results.npz`."""
    folder.mkdir(parents=True)
    obj, checkpoint = write(tf, program, folder)
    results = with_prefix("saved", tensors_of(tf, folder / "checkpoint" / "ck-1"))
    if program.has_functions:
        loaded = program.load_model(tf, str(folder / "model"))
        results |= flat(tf, program.call_signatures(tf, loaded), "signatures")
    results |= go_on(tf, program, obj)
    results |= with_prefix("after", tensors_of(tf, checkpoint.write(str(folder / "after" / "ck"))))
    np.savez_compressed(folder / "results.npz", **encoded(results))


def forms_of(program):
    """The forms in which a program is exchanged."""
    return ["checkpoint"] * program.is_whole_there + ["model"] * program.has_functions


def load(tf, program, folder: pathlib.Path, target: pathlib.Path):
    """Load both forms and train on; the results go below `target`."""
    target.mkdir(parents=True, exist_ok=True)
    failures = {}
    for form in forms_of(program):
        try:
            results = (load_checkpoint if form == "checkpoint" else load_model)(tf, program, folder, target)
            np.savez_compressed(target / f"{form}.npz", **encoded(results))
        except Exception as error:
            failures[form] = described(error)
    return failures


def load_checkpoint(tf, program, folder, target):
    obj = fresh(tf, program, 7)
    checkpoint = program.checkpoint(tf, obj)
    status = checkpoint.restore(str(folder / "checkpoint" / "ck-1"))
    if program.consumed:
        status.assert_consumed()
    results = go_on(tf, program, obj)
    return results | with_prefix("after", tensors_of(tf, checkpoint.write(str(target / "after" / "ck"))))


def load_model(tf, program, folder, target):
    # Signatures may have state, such as that of a recurrent layer: they are called on an object of their own.
    called, trained = (program.load_model(tf, str(folder / "model")) for _ in range(2))
    return flat(tf, program.call_signatures(tf, called), "signatures") | go_on(tf, program, trained)


def described(error):
    """The last lines of a traceback, for a report."""
    lines = "".join(traceback.format_exception(error)).splitlines()
    return "\n".join(lines[-25:])[-4000:]


def differences(program, expected, actual, prefixes=("",)):
    """Lines that say where results differ from the expected ones, as far as keys begin with one of the prefixes."""
    lines = []
    names = {key.rpartition("@")[0] for key in expected} | {key.rpartition("@")[0] for key in actual}
    theirs, ours = (
        {k.rpartition("@")[0]: (k.rpartition("@")[2], v) for k, v in side.items()} for side in (expected, actual)
    )
    for name in sorted(names):
        if not name.startswith(tuple(prefixes)):
            continue
        if name not in ours or name not in theirs:
            lines.append(f"{name}: only {'expected' if name in theirs else 'in what came'}")
            continue
        (dtype, a), (other, b) = theirs[name], ours[name]
        if dtype != other or a.shape != b.shape:
            lines.append(f"{name}: expected {dtype}{list(a.shape)}, got {other}{list(b.shape)}")
        elif a.dtype.kind in "fc":
            close = np.isclose(b, a, rtol=program.rtol, atol=program.atol, equal_nan=True)
            if not close.all():
                worst = np.unravel_index(np.argmax(np.where(close, 0, np.abs(a - b))), a.shape)
                where = f"{np.sum(~close)} of {close.size} differ; at {tuple(map(int, worst))}"
                lines.append(f"{name}: {where} expected {a[worst]}, got {b[worst]}")
        elif not np.array_equal(a, b):
            lines.append(f"{name}: expected {a.ravel()[:6]}, got {b.ravel()[:6]}")
    return lines


def serve(module, questions, answers):
    """Answer until the lines end."""
    tf = importlib.import_module(module)
    from programs import PROGRAMS  # after the framework: it may have to be the first to load

    def late(number, frame):
        raise TimeoutError(f"took more than {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    for line in questions:
        action, name, *folders = line.split()
        signal.alarm(SECONDS)
        failures = {}
        try:
            if action == "save":
                save(tf, PROGRAMS[name], pathlib.Path(folders[0]))
            else:
                failures = load(tf, PROGRAMS[name], *map(pathlib.Path, folders))
        except Exception as error:
            failures = {action: described(error)}
        signal.alarm(0)
        answers.write(json.dumps(failures) + "\n")
        answers.flush()


if __name__ == "__main__":
    private = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print does not belong to the answers
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    serve(sys.argv[1], sys.stdin, private)
