"""`tf.data.Options`: types, merging, the serialized form, and what a walk is told."""

import copy

import pytest

import headrace as tf
from headrace._src.data.running.stages import Run
from headrace._src.data.saving.option_messages import parsed, serialized

# Written by TensorFlow 2.21 for the options of `_all_set`.
MESSAGE = bytes.fromhex(
    "08011204080210031a1c08013001480150015801600170017801880101900101980101a8010120012a040802100330023a0c0801100218032004"
    "28053006400148016200"
)


def _all_set():
    options = tf.data.Options()
    options.deterministic = True
    options.experimental_slack = True
    options.experimental_symbolic_checkpoint = True
    options.experimental_warm_start = True
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.FAIL
    options.threading.max_intra_op_parallelism = 2
    options.threading.private_threadpool_size = 3
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    options.experimental_distribute.num_devices = 3
    options.autotune.enabled = True
    options.autotune.cpu_budget = 2
    options.autotune.ram_budget = 3
    options.autotune.autotune_algorithm = tf.data.experimental.AutotuneAlgorithm.STAGE_BASED
    options.autotune.initial_parallelism = 5
    options.autotune.min_parallelism = 6
    for name in type(options.experimental_optimization)._fields():
        setattr(options.experimental_optimization, name, True)
    return options


def test_serialized_form():
    options = _all_set()
    options.dataset_name = "name"
    options.framework_type = ["a", "b"]
    options.experimental_service.pinned = False
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    assert parsed(serialized(options)) == options
    assert parsed(b"") == tf.data.Options()


def test_serialized_form_is_tensorflows():
    assert parsed(MESSAGE) == _all_set()
    assert serialized(_all_set()) == MESSAGE


@pytest.mark.parametrize("data", [b"\x08", b"\x1a\x05\x08", b"\x0d\x00\x00", b"\x80" * 12])
def test_broken_messages(data):
    with pytest.raises(tf.errors.InvalidArgumentError, match="serialized_options"):
        parsed(data)


def test_unknown_options_and_wrong_types():
    options = tf.data.Options()
    with pytest.raises(AttributeError, match="Cannot set the property unknown on Options"):
        options.unknown = 3
    with pytest.raises(AttributeError, match="on ThreadingOptions"):
        options.threading.unknown = 3
    with pytest.raises(TypeError, match='Property "deterministic" must be of type'):
        options.deterministic = 3
    with pytest.raises(TypeError, match="ThreadingOptions"):
        options.threading = None
    with pytest.raises(TypeError, match="must be a tf.data.Options"):
        tf.data.Dataset.range(3).with_options(3)


def test_older_names():
    options = tf.data.Options()
    options.experimental_deterministic = False
    assert options.deterministic is False
    options.experimental_threading.private_threadpool_size = 4
    assert options.threading.private_threadpool_size == 4


def test_copies_are_independent():
    options = _all_set()
    other = copy.deepcopy(options)
    assert other == options
    other.threading.private_threadpool_size = 9
    assert options.threading.private_threadpool_size == 3
    assert other != options
    with pytest.raises(TypeError, match="unhashable"):
        hash(options)


def test_options_of_a_dataset_are_frozen():
    dataset = tf.data.Dataset.range(3).with_options(_all_set())
    for options in (dataset.options(), dataset.map(lambda x: x).options(), tf.data.Dataset.range(3).options()):
        with pytest.raises(ValueError, match="with_options"):
            options.deterministic = True
        with pytest.raises(ValueError, match="with_options"):
            options.threading.private_threadpool_size = 1


def test_later_options_count():
    one, two = tf.data.Options(), tf.data.Options()
    one.deterministic, one.threading.private_threadpool_size = True, 1
    two.deterministic = False
    dataset = tf.data.Dataset.range(3).with_options(one).map(lambda x: x).with_options(two)
    for options in (dataset.options(), dataset.stage.options):
        assert options.deterministic is False
        assert options.threading.private_threadpool_size == 1
    zipped = tf.data.Dataset.zip(tf.data.Dataset.range(1).with_options(one), tf.data.Dataset.range(1).with_options(two))
    assert zipped.options().deterministic is False
    assert zipped.stage.options.threading.private_threadpool_size == 1


def test_a_walk_knows_its_options(monkeypatch):
    seen = []
    before = Run.__init__

    def init(self, options=None):
        seen.append(options)
        before(self, options)

    monkeypatch.setattr(Run, "__init__", init)
    options = _all_set()
    list(tf.data.Dataset.range(2).with_options(options).batch(2))
    assert seen[0] == options


def test_options_inside_of_functions():
    options = _all_set()

    @tf.function
    def total():
        return tf.data.Dataset.range(4).with_options(options).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    assert int(total()) == 6
