"""safetensors files and their index as targets."""

import functools
import json

import numpy as np
from byte_mutations import NUMBERS, any_bytes
from fuzz_targets import Find, exchanged_files, on_file, target

import headrace as tf

NAME, INDEX = "model.safetensors", "model.safetensors.index.json"


@functools.cache
def _tensors():
    return {
        "a": tf.reshape(tf.range(6.0), [2, 3]), "b": tf.constant([1, 2], tf.int64), "c": tf.constant(True),
        "d": tf.zeros([0, 4], tf.bfloat16), "e.f": tf.cast([1.0, 2.0], tf.float16),
    }  # fmt: skip


def _files():
    whole = tf.safetensors.save(_tensors(), {"format": "tf"})
    one, other = dict(list(_tensors().items())[:2]), dict(list(_tensors().items())[2:])
    names = {"model-00001-of-00002.safetensors": one, "model-00002-of-00002.safetensors": other}
    index = {"metadata": {"total_size": 60}, "weight_map": {key: name for name, part in names.items() for key in part}}
    shards = {name: tf.safetensors.save(part) for name, part in names.items()}
    return [{NAME: whole}, {INDEX: json.dumps(index).encode(), **shards}]


def _header(rng, data, others):
    """Another header, whose length is right."""
    length = int.from_bytes(data[:8], "little")
    try:
        fields = json.loads(data[8 : 8 + length])
    except ValueError:
        return any_bytes(rng, data, others)
    for _ in range(rng.choice([1, 1, 2, 3])):
        _change(rng, fields)
    text = json.dumps(fields).encode()
    if rng.random() < 0.2:
        text = any_bytes(rng, text)
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


def _change(rng, fields):
    names = sorted(fields)
    name = rng.choice(names) if names else "x"
    value = fields.get(name)
    kind = rng.randrange(8)
    if kind == 0 and names:
        del fields[name]
    elif kind == 1:
        fields[rng.choice(["", "__metadata__", "x" * 999, name + "2"])] = value
    elif kind == 2:
        fields[name] = rng.choice([None, 1, "x", [], {}, [[[[]]]], {"dtype": {}}])
    elif isinstance(value, dict) and "shape" in value and isinstance(value["shape"], list):
        if kind in (3, 4):
            numbers = value[rng.choice(["shape", "data_offsets"])]
            if isinstance(numbers, list):
                numbers.insert(rng.randrange(len(numbers) + 1), rng.choice([*NUMBERS, -1, 1.5, True, None, "1"]))
                if rng.random() < 0.7:
                    del numbers[rng.randrange(len(numbers))]
        elif kind == 5:
            value["dtype"] = rng.choice(["F64", "I8", "BOOL", "F4", "F8_E8M0", "Q", None, 3])
        elif kind == 6:
            value["shape"] = rng.choice([[], [0], [2**62, 0], [1] * 70, [2**31, 2**31], [6]])
        else:
            value[rng.choice(["dtype", "shape", "data_offsets", "more"])] = rng.choice([None, 1, "x", [0, 0]])


def _index(rng, data, others):
    if rng.random() < 0.5 or not data.startswith(b"{"):
        return any_bytes(rng, data, others)
    fields = json.loads(data)
    weights = fields["weight_map"]
    name = rng.choice(sorted(weights))
    weights[name] = rng.choice(["../x", "/etc/passwd", "", ".", "nothing", 3, None, [], weights[name] + "x", INDEX])
    return json.dumps(fields).encode()


class _Module(tf.Module):
    """Variables as the valid files have them."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (tf.Variable(tf.zeros_like(_tensors()[name])) for name in "abc")
        self.d = tf.Variable(tf.zeros([0, 4], tf.bfloat16))
        self.e = {"f": tf.Variable(tf.zeros([2], tf.float16))}


@target(
    "safetensors",
    _files,
    [
        (2, on_file(any_bytes)),
        (5, on_file(_header, ".safetensors")),
        (2, on_file(_index, ".json")),
        (0.3, exchanged_files),
    ],
    named=True,
    cost=1.2,
)
def read_safetensors(trial):
    path = trial.folder if trial.rng.random() < 0.3 else trial.path(INDEX if INDEX in trial.files else NAME)
    trial.attempt(lambda: tf.safetensors.load_file(path))
    if NAME in trial.files:
        trial.attempt(lambda: tf.safetensors.load(trial.files[NAME]), named=False)
    module = _Module()
    before = [variable.numpy() for variable in module.variables]
    loaded = trial.attempt(lambda: tf.safetensors.load_model(module, path, strict=trial.rng.random() < 0.5))
    if loaded is None:
        for variable, value in zip(module.variables, before):
            if not np.array_equal(variable.numpy(), value):
                raise Find(f"a load that failed has changed {variable}")
