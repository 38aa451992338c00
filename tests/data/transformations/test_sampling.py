"""`sample_from_datasets` and `choose_from_datasets`: what is taken in blocks is what is taken one by one."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.data.running.drawn_choices import drawn_choices
from headrace._src.data.running.stages import Run
from headrace._src.ops.random.bits import Philox, philox_blocks
from headrace._src.ops.random.seeds import keys_and_counters

Dataset = tf.data.Dataset


def pair():
    return [Dataset.range(40), Dataset.range(100, 170)]


PIPELINES = {
    "both to the end": lambda: Dataset.sample_from_datasets(pair(), [0.3, 0.7], seed=5),
    "until one ends": lambda: Dataset.sample_from_datasets(pair(), [0.7, 0.3], seed=5, stop_on_empty_dataset=True),
    "no weights": lambda: Dataset.sample_from_datasets([*pair(), Dataset.range(200, 203)], seed=2),
    "shuffled without end": lambda: Dataset.sample_from_datasets(
        [d.shuffle(9, seed=i).repeat() for i, d in enumerate(pair())], [0.5, 0.5], seed=3
    ).take(150),
    "one shuffle twice": lambda: (
        lambda d: Dataset.sample_from_datasets([d, d.map(lambda x: -x)], [0.5, 0.5], seed=3).take(90)
    )(Dataset.range(7).shuffle(7, seed=1).repeat()),
    "chosen": lambda: Dataset.choose_from_datasets(pair(), Dataset.range(2).repeat(33)),
    "chosen after one ended": lambda: Dataset.choose_from_datasets(
        pair(), Dataset.range(100).map(lambda x: x // 60), stop_on_empty_dataset=False
    ),
    "other choices each time": lambda: Dataset.sample_from_datasets(
        pair(), [0.5, 0.5], seed=3, rerandomize_each_iteration=True
    ).repeat(2),
    "mapped": lambda: Dataset.sample_from_datasets(pair(), [0.5, 0.5], seed=4).map(lambda x: x * 2),
    "weights for each": lambda: Dataset.sample_from_datasets(
        pair(), Dataset.from_tensors(np.float32([0.2, 0.8])).repeat(), seed=4
    ),
}


def numbers(dataset):
    return [int(x) for x in dataset]


@pytest.mark.parametrize("name", PIPELINES)
def test_blocks_hold_what_elements_are(name):
    expected = numbers(PIPELINES[name]())
    for size in (1, 7, 64, 1000):
        assert numbers(np.concatenate([batch.numpy() for batch in PIPELINES[name]().batch(size)])) == expected


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("size", [None, 6])
def test_walks_go_on_where_they_stood(name, size):
    make = (lambda: PIPELINES[name]()) if size is None else (lambda: PIPELINES[name]().batch(size))
    whole = [x.numpy().tolist() for x in make()]
    for count in (0, 1, 5, len(whole) - 2, len(whole)):
        iterator = iter(make())
        for _ in range(count):
            next(iterator)
        state = iterator.state_dict()
        other = iter(make())
        other.load_state_dict(state)
        assert [x.numpy().tolist() for x in other] == whole[count:]


def test_choices_are_those_of_single_draws():
    for weights in ([0.1, 0.9], [0.2, 0.0, 0.3, 0.5], [1e-30, 1.0], [3.0, 4.0]):
        stage = Dataset.sample_from_datasets([Dataset.range(3)] * len(weights), weights, seed=8).stage
        drawn = drawn_choices(stage.selector).cursor(Run())
        single = stage.selector.cursor(Run())
        expected = [int(single.next()[0]) for _ in range(300)]
        found = [int(drawn.next()[0]) for _ in range(100)]
        while len(found) < 300:
            found += drawn.block(300 - len(found))[0].tolist()
        assert found == expected


def test_other_selectors_are_walked_through():
    seeds = Dataset.random(seed=2).batch(2)
    other = seeds.map(lambda s: tf.random.stateless_categorical([[0.0, 0.0]], 2, s)[0, 1])
    stage = Dataset.choose_from_datasets(pair(), other).stage
    assert drawn_choices(stage.selector) is None
    assert drawn_choices(Dataset.range(2).repeat().stage) is None


def test_blocks_of_many_streams():
    seeds = np.array([[0, 0], [1, -1], [-(2**63), 2**63 - 1], [2**32, 5]])
    expected = [Philox.from_seed_pair(pair).block() for pair in seeds]
    keys, counters = keys_and_counters(seeds)
    assert [tuple(row) for row in philox_blocks(keys[:, 0], counters, 1)[:, 0].tolist()] == expected


def test_errors_come_at_their_elements():
    def make():
        sources = [Dataset.range(20).map(lambda x: x // (x - 13) * 0 + x), Dataset.range(100, 120)]
        return Dataset.choose_from_datasets(sources, Dataset.range(2).repeat(20))

    def until_failure(iterator):
        found = []
        with pytest.raises(tf.errors.InvalidArgumentError, match="element 13]"):
            for x in iterator:
                found += x.numpy().ravel().tolist()
        return found

    assert len(until_failure(iter(make()))) == 26
    iterator = iter(make().batch(4))
    assert len(until_failure(iterator)) == 24
    # The batch is lost; the elements after the one that failed are not.
    assert 14 in next(iterator).numpy()


def test_choices_out_of_range():
    choices = Dataset.from_tensor_slices(np.int64([0, 1, 0, 2, 1]))
    for size, count in ((1, 3), (3, 1)):
        iterator = iter(Dataset.choose_from_datasets(pair(), choices).batch(size))
        for _ in range(count):
            next(iterator)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Selector index out of range: 2 >= 2"):
            next(iterator)


def test_ignored_errors_lose_one_element():
    sources = [Dataset.range(6).map(lambda x: x // (x - 3) * 0 + x), Dataset.range(100, 106)]
    dataset = Dataset.choose_from_datasets(sources, Dataset.range(2).repeat(6), stop_on_empty_dataset=False)
    assert numbers(dataset.ignore_errors()) == [0, 100, 1, 101, 2, 102, 103, 4, 104, 5, 105]
