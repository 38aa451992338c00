"""Positions of iterators are applied as a whole or refused as a whole: each kind of step, each kind of damage."""

import copy
import pickle
import random

import numpy as np
import pytest

import headrace as tf

data = tf.data.Dataset


def plus_one(x):
    return x + 1


PIPELINES = {
    "range": lambda folder: data.range(20),
    "map": lambda folder: data.range(20).map(plus_one),
    "random map": lambda folder: data.range(20).map(lambda x: x + tf.random.uniform([], 0, 9, tf.int64, seed=3)),
    "parallel map": lambda folder: data.range(20).map(plus_one, 2),
    "batch": lambda folder: data.range(60).map(plus_one).batch(3),
    "shuffle": lambda folder: data.range(20).shuffle(5, seed=4),
    "shuffle, repeat": lambda folder: data.range(7).shuffle(5, seed=4).repeat(3),
    "filter": lambda folder: data.range(40).filter(lambda x: x % 2 == 0),
    "prefetch": lambda folder: data.range(20).map(plus_one).prefetch(3),
    "cache": lambda folder: data.range(20).map(plus_one).cache(),
    "file cache": lambda folder: data.range(20).map(plus_one).cache(f"{folder}.cache"),
    "interleave": lambda folder: data.range(5).interleave(lambda x: data.range(x, x + 4), 2),
    "flat_map": lambda folder: data.range(5).flat_map(lambda x: data.range(x, x + 4)),
    "zip": lambda folder: data.zip(data.range(20), data.range(20).map(plus_one)),
    "window": lambda folder: data.range(40).window(2, shift=1).flat_map(lambda x: x.batch(2)),
    "group": lambda folder: data.range(20).group_by_window(lambda x: x % 2, lambda key, x: x.batch(3), 3),
    "scan": lambda folder: data.range(20).scan(np.int64(0), lambda state, x: (state + x, state + x)),
    "sample": lambda folder: data.sample_from_datasets([data.range(20), data.range(20)], seed=3),
    "generator": lambda folder: data.from_generator(lambda: iter(range(20)), output_types=tf.int64),
    "take, skip, concatenate": lambda folder: data.range(9).skip(2).concatenate(data.range(9).take(6)),
    "unbatch": lambda folder: data.range(20).batch(3).map(plus_one).unbatch(),
    "strings": lambda folder: data.from_tensor_slices([b"a", b"bb"] * 9).shuffle(4, seed=1).prefetch(2),
}


def as_plain(element):
    return tf.nest.map_structure(lambda x: np.asarray(x.numpy()).tolist(), element)


def rest_of(iterator, most=9):
    return [as_plain(element) for _, element in zip(range(most), iterator)]


def places(tree, path=()):
    """The path of each value in a tree."""
    yield path
    if isinstance(tree, dict):
        for key in tree:
            yield from places(tree[key], (*path, key))
    elif isinstance(tree, (list, tuple)):
        for index in range(len(tree)):
            yield from places(tree[index], (*path, index))


def changed(rng, value):
    """Something else than a value."""
    if isinstance(value, (bool, np.bool_)):
        return rng.choice([not value, None, 2, "x"])
    if isinstance(value, (int, np.integer)):
        return rng.choice([value + 1, -1 - value, value + 2**63, 10**30, float(value) + 0.5, str(value), None, [value]])
    if isinstance(value, np.ndarray) and not value.ndim:
        return rng.choice([value[None], None, "x", {"x": 1}])
    if isinstance(value, np.ndarray):
        return rng.choice([value[..., None], value.tolist(), value.astype(object), np.zeros(3, np.float16)])
    if isinstance(value, (list, tuple)):
        return rng.choice([[*value, None], [*value, 0], {"x": list(value)}, None, 7])
    if isinstance(value, dict):
        return rng.choice([{**value, "more": 1}, dict(list(value.items())[1:]) if value else 7, None, 3, list(value)])
    return rng.choice([0, "other", b"other", [value], {"x": value}])


def damaged(rng, state):
    """The state with a value changed, exchanged or left out."""
    state = copy.deepcopy(state)
    path = rng.choice([path for path in places(state) if path])
    inside = state
    for step in path[:-1]:
        inside = inside[step]
    if isinstance(inside, dict) and rng.random() < 0.2:
        del inside[path[-1]]
    elif isinstance(inside, tuple):
        return damaged(rng, state)
    else:
        inside[path[-1]] = changed(rng, inside[path[-1]])
    return state


@pytest.mark.parametrize("name", PIPELINES)
def test_damaged_states_are_refused_and_change_nothing(name, tmp_path):
    rng = random.Random(name)
    iterator = iter(PIPELINES[name](tmp_path))
    next(iterator), next(iterator), next(iterator)
    state = iterator.state_dict()
    other = iter(PIPELINES[name](tmp_path / "other"))
    next(other)
    for _ in range(60):
        wrong = damaged(rng, state)
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
            other.load_state_dict(wrong)
    want = rest_of(iter(PIPELINES[name](tmp_path / "third")), 10)[1:]
    assert rest_of(other) == want
    iterator.load_state_dict(state)
    first = rest_of(iterator)
    iterator.load_state_dict(state)
    assert rest_of(iterator) == first
    assert first[: len(want) - 2] == want[2:]


def as_stored(value):
    """What a store of another kind gives back: lists for tuples, numbers of Python's, keys in another order."""
    if isinstance(value, dict):
        return {key: as_stored(value[key]) for key in reversed(list(value))}
    if isinstance(value, (list, tuple)):
        return [as_stored(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("name", ["random map", "shuffle", "prefetch", "interleave", "zip", "strings", "group"])
def test_states_may_be_kept_anywhere(name, tmp_path):
    iterator = iter(PIPELINES[name](tmp_path))
    next(iterator)
    state = pickle.loads(pickle.dumps(iterator.state_dict()))
    want = rest_of(iterator)
    iterator.load_state_dict(as_stored(state))
    assert rest_of(iterator) == want


def test_states_of_other_pipelines_are_refused(tmp_path):
    states = {name: iter(make(tmp_path / name)).state_dict() for name, make in PIPELINES.items()}
    described = {state["pipeline"] for state in states.values()}
    for name, make in PIPELINES.items():
        iterator = iter(make(tmp_path / "again"))
        for state in states.values():
            if state["pipeline"] == states[name]["pipeline"]:
                continue
            with pytest.raises(tf.errors.InvalidArgumentError, match="belongs to the pipeline"):
                iterator.load_state_dict(state)
    assert len(described) > 15
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32.*float32"):
        iter(data.from_tensor_slices([1.0])).load_state_dict(iter(data.from_tensor_slices([np.int64(1)])).state_dict())


def nested_in_itself():
    inner: list = []
    inner.append(inner)
    return {"pipeline": "x", "checksum": "y", "cursor": inner}


@pytest.mark.parametrize("state", [None, 3, [], {}, "x", {"ended": True}, {"pipeline": 1}, nested_in_itself()])
def test_what_is_no_state_is_refused(state):
    iterator = iter(data.range(3))
    next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no position"):
        iterator.load_state_dict(state)
    assert rest_of(iterator) == [1, 2]


@pytest.mark.parametrize("write", [True, False])
def test_a_walk_stays_where_it_is_when_another_cannot_be_made(tmp_path, write):
    """The state is right, but a file is gone that it needs."""
    path = tmp_path / "lines"
    path.write_text("".join(f"{number}\n" for number in range(9)))
    (tmp_path / "others").write_text("x\n" * 9)
    make = data.from_tensor_slices([str(path), str(tmp_path / "others")]).flat_map(tf.data.TextLineDataset)
    make = make.shuffle(3, seed=4)
    make = make.cache(str(tmp_path / "cache")) if write else make
    iterator = iter(make)
    next(iterator)
    state = iterator.state_dict()
    for _ in range(10):
        next(iterator)
    now = iterator.state_dict()
    want = rest_of(iterator, 3)
    iterator.load_state_dict(now)
    path.unlink()
    with pytest.raises(tf.errors.NotFoundError):
        iterator.load_state_dict(state)
    assert rest_of(iterator, 3) == want
