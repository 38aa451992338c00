"""A part of Keras's own tests: what passes on TensorFlow passes here. All of them: scripts/keras_suite."""

import importlib.metadata
import importlib.util
import sys

import pytest
from suite import KERAS_VERSION, read_apart, read_recorded, reasons, run

if importlib.util.find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)

# Those that take a few minutes together.
PATHS = [
    "activations", "backend/tensorflow/saved_model_test.py", "constraints", "export/saved_model_test.py",
    "export/tfsm_layer_test.py", "initializers", "layers/activations", "layers/attention", "layers/core",
    "layers/layer_test.py", "layers/normalization", "layers/pooling", "layers/rnn", "losses", "metrics", "models",
    "optimizers", "random", "regularizers", "trainers/trainer_test.py", "trainers/compile_utils_test.py", "tree",
]  # fmt: skip
# Packages that only some tests need, and what these have in their names.
OTHERS = {"torch": "torch", "grain": "grain", "tree": "dmtree"}
MISSING = [part for package, part in OTHERS.items() if importlib.util.find_spec(package) is None]


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_what_passes_on_tensorflow_passes(path):
    if importlib.metadata.version("keras") != KERAS_VERSION:
        pytest.skip(f"the recorded results are those of Keras {KERAS_VERSION}")
    passes = {name for name in read_recorded() if name.startswith((f"keras/src/{path}/", f"keras/src/{path}::"))}
    passes = {name for name in passes if not any(part in name for part in MISSING)}
    assert passes, f"no test of {path} is recorded: scripts/keras_suite --record"
    outcomes = run(sys.executable, path, on_headrace=True)
    failing = {name for name in passes if outcomes.get(name) != "passed"}
    failing -= set(reasons(failing, read_apart()))
    assert not failing, f"pass on TensorFlow, but not here: {sorted(failing)}"
