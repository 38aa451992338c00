"""Requests that are joined."""

import asyncio
import concurrent.futures

import numpy as np
import pytest

import headrace as tf
from headrace._src.serving.batching import BatchingSettings, BatchQueue


class Doubling:
    """Stands for a signature; remembers the sizes of calls."""

    name = "doubling"
    inputs = ("x",)

    def __init__(self):
        self.sizes = []

    def call(self, arrays):
        self.sizes.append(len(arrays["x"]))
        return {"y": 2 * arrays["x"]}


def asked(settings, *requests, signature=None):
    """The answers to requests that come together, and the sizes of the calls."""
    signature = signature or Doubling()

    async def ask():
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            queue = BatchQueue(signature, settings, executor, lambda *numbers: None)
            calls = [queue.call({"x": np.array(request)}) for request in requests]
            return await asyncio.gather(*calls, return_exceptions=True)

    answers = asyncio.run(ask())
    return [one if isinstance(one, Exception) else one["y"].tolist() for one in answers], signature.sizes


def test_requests_are_joined_and_divided_again():
    assert asked(BatchingSettings(), [1, 2], [3], [4, 5]) == ([[2, 4], [6], [8, 10]], [5])
    assert asked(BatchingSettings(max_batch_size=3), [1, 2], [3], [4, 5])[1] == [3, 2]


def test_rows_are_added_up_to_an_allowed_size():
    settings = BatchingSettings(max_batch_size=8, allowed_batch_sizes=(4, 8))
    assert asked(settings, [1, 2], [3]) == ([[2, 4], [6]], [4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="allowed_batch_sizes"):
        BatchingSettings(max_batch_size=8, allowed_batch_sizes=(4,))


def test_rows_of_different_shapes_are_apart():
    answers, sizes = asked(BatchingSettings(), [[1, 2]], [[3]], [[4, 5]])
    assert answers == [[[2, 4]], [[6]], [[8, 10]]]
    assert sorted(sizes) == [1, 2]


def test_large_requests():
    ((error,), _) = asked(BatchingSettings(max_batch_size=2), [1, 2, 3])
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert "larger than maximum batch size 2" in str(error)
    settings = BatchingSettings(max_batch_size=4, enable_large_batch_splitting=True, max_execution_batch_size=2)
    assert asked(settings, [1, 2, 3]) == ([[2, 4, 6]], [2, 1])


def test_a_full_queue_refuses():
    settings = BatchingSettings(max_batch_size=1, max_enqueued_batches=2, num_batch_threads=1)
    answers, sizes = asked(settings, *[[number] for number in range(8)])
    refused = [one for one in answers if isinstance(one, tf.errors.ResourceExhaustedError)]
    assert refused
    assert len(sizes) == 8 - len(refused)


def test_errors_reach_all_that_were_joined():
    class Failing(Doubling):
        def call(self, arrays):
            raise tf.errors.InvalidArgumentError(None, None, "no")

    answers, _ = asked(BatchingSettings(), [1], [2], signature=Failing())
    assert [str(one) for one in answers] == ["no", "no"]

    class Summing(Doubling):
        def call(self, arrays):
            return {"y": arrays["x"].sum()}

    answers, _ = asked(BatchingSettings(), [1], [2], signature=Summing())
    assert "cannot be joined" in str(answers[0])
