"""`tf.train.CheckpointManager`: which checkpoints it saves, numbers and keeps, and what the next one knows of them."""

import glob
import logging
import os
import pathlib
import threading
import time

import pytest

import headrace as tf
from headrace._src.formats import durable_files


@pytest.fixture
def checkpoint():
    return tf.train.Checkpoint(v=tf.Variable(1.0))


def names(paths):
    return [os.path.basename(path) for path in paths]


def indexes(folder):
    return sorted(path.stem for path in pathlib.Path(folder).glob("*.index"))


def test_old_ones_are_deleted(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2)
    assert (manager.latest_checkpoint, manager.checkpoints) == (None, [])
    assert (manager.directory, manager.checkpoint, manager.checkpoint_interval) == (str(tmp_path), checkpoint, None)
    saved = [manager.save() for _ in range(3)]
    assert saved == [str(tmp_path / f"ckpt-{number}") for number in (1, 2, 3)]
    assert manager.checkpoints == saved[1:]
    assert manager.latest_checkpoint == tf.train.latest_checkpoint(tmp_path) == saved[2]
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint", "ckpt-2.data-00000-of-00001", "ckpt-2.index", "ckpt-3.data-00000-of-00001", "ckpt-3.index",
    ]  # fmt: skip
    state = tf.train.get_checkpoint_state(tmp_path)
    assert list(state.all_model_checkpoint_paths) == saved[1:]
    assert len(state.all_model_checkpoint_timestamps) == 2
    assert "ckpt-3" in (tmp_path / "checkpoint").read_text()
    assert str(tmp_path) not in (tmp_path / "checkpoint").read_text()


def test_none_keeps_all(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), None)
    assert [os.path.basename(manager.save()) for _ in range(4)] == names(manager.checkpoints)
    assert len(indexes(tmp_path)) == 4


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"max_to_keep": 0}, "Expected a positive integer or `None` for `max_to_keep`, got 0."),
        ({"max_to_keep": -1}, "Expected a positive integer"),
        ({"max_to_keep": 1, "checkpoint_interval": 2}, "`step_counter` should be passed"),
    ],
)
def test_arguments_that_are_refused(checkpoint, tmp_path, arguments, text):
    with pytest.raises(ValueError, match=text):
        tf.train.CheckpointManager(checkpoint, tmp_path, **arguments)


def test_numbers(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 3, checkpoint_name="my name")
    saved = [manager.save(100), manager.save(tf.constant(7)), manager.save(tf.Variable(9, dtype=tf.int64))]
    saved.append(manager.save(checkpoint_number=checkpoint.save_counter))
    assert names(saved) == ["my name-100", "my name-7", "my name-9", "my name-4"]
    assert int(checkpoint.save_counter) == 4
    manager.save(7)  # again: it is the newest now
    assert names(manager.checkpoints) == ["my name-9", "my name-4", "my name-7"]
    assert names([manager.latest_checkpoint]) == ["my name-7"]
    for number in (3.7, "5", tf.constant([1, 2])):
        with pytest.raises(TypeError, match="checkpoint_number must be an int, or a tensor or variable of one"):
            manager.save(number)


def test_intervals(checkpoint, tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, None, step_counter=step, checkpoint_interval=3)
    assert manager.checkpoint_interval == 3
    saved = []
    for number in range(8):
        step.assign(number)
        saved.append(manager.save() is not None)
    assert saved == [True, False, False, True, False, False, True, False]
    assert manager.save(check_interval=False) is not None
    assert manager.save(check_interval=False) is None  # there is one for this step
    arguments = {"step_counter": step, "checkpoint_interval": 3}
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1, last_checkpoint_step=6, **arguments)
    assert manager.save() is None
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1, **arguments)
    manager.restore_or_initialize()
    assert manager.save() is None
    step.assign(10)
    assert manager.save() is not None


def test_restoring_or_initializing(checkpoint, tmp_path):
    calls = []
    folder = tmp_path / "new" / "deep"
    manager = tf.train.CheckpointManager(checkpoint, folder, 2, init_fn=lambda: calls.append(1))
    assert manager.restore_or_initialize() is None
    assert calls == [1]
    assert not folder.exists()
    path = manager.save()
    checkpoint.v.assign(5.0)
    assert manager.restore_or_initialize() == path
    assert (calls, checkpoint.v.numpy()) == ([1], 1.0)
    assert tf.train.CheckpointManager(checkpoint, tmp_path, 2).restore_or_initialize() is None


def test_one_every_few_hours_stays(checkpoint, tmp_path, monkeypatch):
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2, keep_checkpoint_every_n_hours=2)
    for _ in range(9):
        now[0] += 1800
        manager.save()
    assert names(manager.checkpoints) == ["ckpt-8", "ckpt-9"]
    assert indexes(tmp_path) == ["ckpt-4", "ckpt-8", "ckpt-9"]
    assert tf.train.get_checkpoint_state(tmp_path).last_preserved_timestamp == 1e9 + 4 * 1800
    again = tf.train.CheckpointManager(checkpoint, tmp_path, 1)
    assert names(again.checkpoints) == ["ckpt-8", "ckpt-9"]
    again.save()
    assert indexes(tmp_path) == ["ckpt-10", "ckpt-4"]  # what stays, stays also for another manager


def test_the_next_manager_goes_on(checkpoint, tmp_path):
    saved = [tf.train.CheckpointManager(checkpoint, tmp_path, 3).save() for _ in range(4)]
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2)
    assert (manager.checkpoints, manager.latest_checkpoint) == (saved[1:], saved[3])
    os.rename(tmp_path, tmp_path.with_name("moved"))
    manager = tf.train.CheckpointManager(checkpoint, tmp_path.with_name("moved"), 2)
    assert manager.latest_checkpoint == str(tmp_path.with_name("moved") / "ckpt-4")
    manager.save()
    assert indexes(tmp_path.with_name("moved")) == ["ckpt-4", "ckpt-5"]


def test_checkpoints_of_others_stay(checkpoint, tmp_path):
    for _ in range(2):
        checkpoint.save(tmp_path / "ckpt")
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1)
    assert (manager.checkpoints, names([manager.latest_checkpoint])) == ([], ["ckpt-2"])
    manager.save()
    manager.save()
    assert indexes(tmp_path) == ["ckpt-1", "ckpt-2", "ckpt-4"]


def test_a_clock_that_went_back(checkpoint, tmp_path, caplog):
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1)
    manager.save()
    state = tmp_path / "checkpoint"
    state.write_text(state.read_text().replace("last_preserved_timestamp: ", "last_preserved_timestamp: 9"))
    with caplog.at_level(logging.WARNING, "tensorflow"):
        manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1)
    assert "seconds behind the last preserved checkpoint timestamp" in caplog.text
    assert (manager.checkpoints, names([manager.latest_checkpoint])) == ([], ["ckpt-1"])


def test_what_somebody_else_deleted_does_not_count(checkpoint, tmp_path):
    # TensorFlow would delete ckpt-1, which is there, to keep ckpt-2, which is not.
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 2)
    manager.save()
    for path in glob.glob(manager.save() + "*"):
        os.remove(path)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(0.0)), tmp_path, 2)
    with pytest.raises(tf.errors.NotFoundError, match="ckpt-2"):
        manager.restore_or_initialize()
    manager.save(3)
    assert names(manager.checkpoints) == ["ckpt-1", "ckpt-3"]
    assert indexes(tmp_path) == ["ckpt-1", "ckpt-3"]


def test_data_without_an_index_goes(checkpoint, tmp_path):
    left = ["ckpt-7.data-00000-of-00002", "ckpt-8.data-00000-of-00001"]
    others = ["other-7.data-00000-of-00001", "ckpt-x.data-00000-of-00001", "ckpt-9.data", "notes.txt"]
    for name in left + others:
        (tmp_path / name).write_bytes(b"x")
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1)
    manager.save()
    assert set(os.listdir(tmp_path)) == {"checkpoint", "ckpt-1.index", "ckpt-1.data-00000-of-00001", *others}


def test_callbacks_of_the_user(checkpoint, tmp_path):
    seen = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[seen.append])
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1)
    assert [manager.save(options=options), manager.save(options=options)] == seen
    assert len(options.experimental_write_callbacks) == 1


def test_in_a_session(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.Variable(3.0)
        step = tf.Variable(5)
        checkpoint = tf.train.Checkpoint(variable=variable)
        manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1, step_counter=step, checkpoint_interval=2)
        session.run([variable.initializer, step.initializer])
        assert names([manager.save()]) == ["ckpt-1"]
        assert manager.save() is None
        session.run(step.assign(8))
        assert names([manager.save(checkpoint_number=step)]) == ["ckpt-8"]
        assert indexes(tmp_path) == ["ckpt-8"]
        session.run(variable.assign(0.0))
        checkpoint.restore(manager.latest_checkpoint).run_restore_ops()
        assert session.run(variable) == 3.0
    with pytest.raises(NotImplementedError, match="from a function is not supported"):
        tf.function(manager.save)()


class SlowDisk(durable_files.Disk):
    """A disk that waits before it writes, until it may."""

    def __init__(self):
        self.gate, self.began = threading.Event(), threading.Event()

    def write(self, file, data):
        self.began.set()
        assert self.gate.wait(60)
        super().write(file, data)


def test_in_the_background(checkpoint, tmp_path):
    options = tf.train.CheckpointOptions(enable_async=True)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, 1)
    disk = SlowDisk()
    with durable_files.disk_replaced(disk):
        path = manager.save(options=options)
        assert disk.began.wait(60)
        assert (manager.latest_checkpoint, os.path.exists(path + ".index")) == (None, False)
        checkpoint.v.assign(2.0)
        disk.gate.set()
        assert manager.restore_or_initialize() == path  # it waits
    assert checkpoint.v.numpy() == 1.0
    manager.save(options=options)
    manager.sync()
    assert indexes(tmp_path) == ["ckpt-2"]


def test_errors_in_the_background(checkpoint, tmp_path):
    options = tf.train.CheckpointOptions(enable_async=True)
    manager = tf.train.CheckpointManager(checkpoint, tmp_path / "folder", 1)
    (tmp_path / "folder").write_text("no folder")
    manager.save(options=options)
    with pytest.raises(tf.errors.OpError, match="folder"):
        manager.sync()
    os.remove(tmp_path / "folder")
    manager.save(options=options)
    manager.sync()
    assert indexes(tmp_path / "folder") == ["ckpt-2"]


@pytest.mark.parametrize("scheme", ["memory://", "ram://"])
def test_other_file_systems(checkpoint, scheme, monkeypatch):
    folder, finished = f"{scheme}managed-{os.getpid()}/logs", []
    finish = durable_files.NewFile.finish
    monkeypatch.setattr(durable_files.NewFile, "finish", lambda file: (finish(file), finished.append(file.path)))
    manager = tf.train.CheckpointManager(checkpoint, folder, 2)
    for _ in range(3):
        manager.save()
    # The state says nothing that is not there yet; the second time, it no longer names what is gone.
    assert names(finished)[:3] == ["ckpt-1.data-00000-of-00001", "ckpt-1.index", "checkpoint"]
    assert names(finished)[6:] == ["ckpt-3.data-00000-of-00001", "ckpt-3.index", "checkpoint", "checkpoint"]
    assert sorted(name for name in tf.io.gfile.listdir(folder) if name.endswith(".index")) == [
        "ckpt-2.index", "ckpt-3.index",
    ]  # fmt: skip
    checkpoint.v.assign(7.0)
    again = tf.train.CheckpointManager(checkpoint, folder, 2)
    assert again.restore_or_initialize() == folder + "/ckpt-3"
    assert checkpoint.v.numpy() == 1.0
