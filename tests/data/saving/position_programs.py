"""Pipelines whose positions TensorFlow saved, for tests that go on from there: how many elements were taken, and what.

Run by TensorFlow as `python record_positions.py`, which writes tests/fixtures/iterator_positions.zip.
"""

import numpy as np

PAIRS = (np.arange(20.0).reshape(10, 2), np.arange(10))
MORE = 5  # elements that are recorded after the position


def pipelines(tf):
    """Name to (dataset, number of elements that were taken)."""
    data = tf.data.Dataset
    R, S = data.range, data.from_tensor_slices
    DOUBLED = S(PAIRS).map(lambda x, y: (x * 2, y), num_parallel_calls=-1)
    return {
        "range": (R(100), 3),
        "map": (R(100).map(lambda i: i*2), 3),
        "pmap": (R(100).map(lambda i: i*2, num_parallel_calls=2), 3),
        "pmap_auto": (R(100).map(lambda i: i*2, num_parallel_calls=-1), 3),
        "batch": (R(100).batch(4), 3),
        "batch_par": (R(100).batch(4, num_parallel_calls=2), 3),
        "mapbatch": (R(100).map(lambda i: i*2).batch(4), 3),
        "batchmap": (R(100).batch(4).map(lambda i: i*2), 3),
        "shuffle": (R(40).shuffle(8, seed=3), 3),
        "shuffle_batch": (R(40).shuffle(8, seed=3).batch(2), 3),
        "shuffle_rep": (R(10).shuffle(4, seed=3).repeat(3), 13),
        "rep_shuffle": (R(10).repeat(3).shuffle(4, seed=3), 13),
        "repeat": (R(10).repeat(3), 13),
        "repeat_inf": (R(10).repeat(), 13),
        "repeat_batch": (R(10).repeat().batch(3), 5),
        "cache": (R(10).cache(), 3),
        "cache_rep": (R(10).cache().repeat(3), 13),
        "take": (R(10).take(5), 3),
        "skip": (R(10).skip(5), 3),
        "shard": (R(10).shard(2,1), 3),
        "filter": (R(100).filter(lambda i: i%2==0), 3),
        "prefetch": (R(100).prefetch(2), 3),
        "prefetch_auto": (R(100).prefetch(-1), 3),
        "zip": (data.zip((R(100),R(50))), 3),
        "concat": (R(3).concatenate(R(10,20)), 5),
        "slices": (S(np.arange(10.0)), 3),
        "slices2": (S({"a":np.arange(10.0),"b":np.arange(10)}), 3),
        "tensors": (data.from_tensors([1,2]), 1),
        "enumerate": (R(100).enumerate(), 3),
        "window": (R(100).window(4).flat_map(lambda part: part.batch(4)), 2),
        "interleave": (R(4).interleave(lambda i: R(i,i+5), cycle_length=2, block_length=2), 5),
        "flat_map": (R(4).flat_map(lambda i: R(i,i+5)), 7),
        "unbatch": (R(100).batch(4).unbatch(), 6),
        "padded": (R(100).map(lambda i: tf.fill([i],i)).padded_batch(3), 2),
        "scan": (R(100).scan(np.int64(0),lambda s, i: (s+i,s)), 3),
        "take_while": (R(100).take_while(lambda i: i<50), 3),
        "train": (S(PAIRS).shuffle(10, seed=1).batch(4).repeat().prefetch(-1), 4),
        "train2": (S(PAIRS).map(lambda x, y: (x*2,y)).shuffle(10, seed=1).repeat().batch(4).prefetch(-1), 4),
        "train3": (DOUBLED.cache().shuffle(10, seed=1).batch(4).prefetch(-1), 2),
        "unseeded": (R(40).shuffle(8), 3),
        "several_walks": (R(10).shuffle(10, seed=5).batch(4).repeat(4), 8),
        "unfused_shuffle": (R(12).shuffle(5, seed=2).map(lambda i: i + 1).repeat(), 17),
        "nested_repeats": (R(3).repeat(2).map(lambda i: i * i).repeat(3), 11),
        "idle_steps": (R(20).skip(0).take(-1).repeat(1).batch(2), 3),
        "end": (R(4), 4),
    }


def plain(tf, element):
    """An element as JSON has it."""
    return tf.nest.map_structure(lambda x: x.numpy().tolist(), element)


def following(tf, iterator):
    """The next elements, and None for each that is not there any more."""
    elements = []
    for _ in range(MORE):
        element = next(iterator, None)
        elements.append(None if element is None else plain(tf, element))
    return elements
