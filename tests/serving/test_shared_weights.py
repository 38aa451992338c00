"""One copy of a model's values: mapped, aligned, read-only, and removed with its last user."""

import gc
import logging
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from headrace._src.serving.servables import Servable
from headrace._src.serving.shared_weights import SharedWeights


@pytest.fixture
def model(tmp_path):
    """A SavedModel with a large and a small variable, and a signature that changes the large one."""
    module = tf.Module()
    module.large = tf.Variable(tf.reshape(tf.range(4096.0), [64, 64]))
    module.other = tf.Variable(tf.ones([1000, 3], tf.float64))
    module.small = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 64], tf.float32, name="x")])
    def call(x):
        return {"y": tf.matmul(x, module.large) + module.small[0]}

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="by")])
    def add(by):
        return {"first": module.large.assign_add(tf.fill([64, 64], by))[0, :2]}

    tf.saved_model.save(module, str(tmp_path / "1"), signatures={"serving_default": call, "add": add})
    return str(tmp_path / "1")


def storages(servable):
    return [variable._storage for variable in (servable._loaded.large, servable._loaded.other)] if hasattr(
        servable._loaded, "large"
    ) else []  # fmt: skip


def called(servable, name, **arrays):
    signature = servable.signature(name)
    return signature.call(signature.checked(arrays))


def test_values_lie_in_one_file(model, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    weights = SharedWeights(str(folder))
    one, two = (Servable("m", 1, model, weights=weights) for _ in range(2))
    assert len(list(folder.glob("*.weights"))) == 1
    for large, other in (storages(one), storages(two)):
        for array in (large.value, other.value):
            assert not array.flags.writeable
            assert not array.flags.owndata
            assert array.__array_interface__["data"][0] % 64 == 0
        assert large.value.tolist() == np.arange(4096.0).reshape(64, 64).tolist()
        assert other.value.dtype == np.float64
    x = np.ones([2, 64], np.float32)
    assert np.array_equal(called(one, "", x=x)["y"], called(two, "", x=x)["y"])


def test_who_changes_a_value_has_it_alone(model, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    weights = SharedWeights(str(folder))
    one, two = (Servable("m", 1, model, weights=weights) for _ in range(2))
    before = pathlib.Path(next(folder.glob("*.weights"))).read_bytes()
    for _ in range(5):
        found = called(one, "add", by=np.float32(1.0))
    assert found["first"].tolist() == [5.0, 6.0]
    assert called(two, "add", by=np.float32(0.5))["first"].tolist() == [0.5, 1.5]
    assert pathlib.Path(next(folder.glob("*.weights"))).read_bytes() == before


def test_the_last_user_removes_the_file(model, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    weights = SharedWeights(str(folder))
    one, two = (Servable("m", 1, model, weights=weights) for _ in range(2))
    del one
    gc.collect()
    assert list(folder.glob("*.weights"))
    (folder / next(folder.glob("*.json")).name.replace(".json", ".999999999-1.user")).touch()  # of a process that died
    del two
    gc.collect()
    assert not list(folder.glob("*.weights"))
    three = Servable("m", 1, model, weights=weights)
    assert called(three, "", x=np.ones([1, 64], np.float32))["y"].shape == (1, 64)


def test_without_room_each_has_its_own(model, tmp_path, caplog):
    weights = SharedWeights(str(tmp_path / "nowhere"))
    with caplog.at_level(logging.WARNING, "headrace.serving"):
        servable = Servable("m", 1, model, weights=weights)
    assert "Each process has its own" in caplog.text
    assert called(servable, "", x=np.ones([1, 64], np.float32))["y"].shape == (1, 64)


@pytest.mark.slow
def test_processes_share(model, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    code = (
        "import sys; from headrace._src.serving.servables import Servable\n"
        "from headrace._src.serving.shared_weights import SharedWeights\n"
        f"s = Servable('m', 1, {model!r}, weights=SharedWeights({str(folder)!r}))\n"
        "maps = open('/proc/self/maps').read()\n"
        "print(sum('.weights' in line for line in maps.splitlines()), flush=True); sys.stdin.read()\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.stdout.readline().strip() for process in processes] == ["1", "1"]
    assert len(list(folder.glob("*.weights"))) == 1
    processes[0].kill()
    processes[0].communicate()
    processes[1].communicate()
    assert not list(folder.glob("*.weights"))
