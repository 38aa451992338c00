"""Rules of vectorization for random numbers: each element has its own."""

import functools

from headrace._src.core import dtypes
from headrace._src.graph.control.python_functions import numpy_function
from headrace._src.graph.vectorizing.rules import NoRule, rule, unstacked, value_of
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.rearranging import TRANSPOSE
from headrace._src.ops.arrays.shaping import RESHAPE, SHAPE
from headrace._src.ops.random import calls as random_calls

_PHILOX = (1, 3)  # the numbers of the algorithm


@rule("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
def _random(batch, node, shape):
    return batch.apply(node, [to_tensor(batch.with_size(unstacked(shape, "shape")), shape.tensor.dtype)])


@rule("RandomUniformInt")
def _random_integers(batch, node, shape, low, high):
    full = to_tensor(batch.with_size(unstacked(shape, "shape")), shape.tensor.dtype)
    return batch.apply(node, [full, unstacked(low, "bound"), unstacked(high, "bound")])


@rule("RandomGamma", "RandomPoissonV2")
def _random_with_parameter(batch, node, shape, parameter):
    dims = unstacked(shape, "shape")
    if not parameter.stacked:
        return batch.apply(node, [to_tensor(batch.with_size(dims), dims.dtype), parameter])
    (drawn,) = batch.apply(node, [dims, parameter])
    before, rank = dims.shape[0], drawn.shape.rank
    if before is None or rank is None:
        raise NoRule("the rank of its output is unknown")
    return TRANSPOSE(drawn, [before, *range(before), *range(before + 1, rank)])


@rule("Multinomial")
def _categorical(batch, node, logits, count):
    tensor = batch.stack(logits)
    dims = SHAPE(tensor)
    folded = RESHAPE(tensor, batch.join([-1], dims[2:]))
    (drawn,) = batch.apply(node, [folded, unstacked(count, "number of samples")])
    return RESHAPE(drawn, batch.join(dims[:2], SHAPE(drawn)[1:]))


# Stateless ones, whose seeds differ between elements: a function of arrays draws for all of them.


def _on_the_host(batch):
    if not batch.on_host:
        raise NoRule("its seed differs between elements")


@rule("StatelessRandomGetKeyCounter")
def _key_and_counter(batch, node, seed):
    _on_the_host(batch)
    return numpy_function(random_calls.keys_and_counters, [seed.tensor], [dtypes.uint64, dtypes.uint64], False)


_KEYED = {
    "StatelessRandomUniformV2": "uniform",
    "StatelessRandomUniformIntV2": "uniform_int",
    "StatelessRandomUniformFullIntV2": "uniform_full_int",
    "StatelessRandomNormalV2": "normal",
    "StatelessTruncatedNormalV2": "truncated_normal",
}


@rule(*_KEYED)
def _with_keys(batch, node, shape, key, counter, alg, *bounds):
    _on_the_host(batch)
    known = [value_of(unstacked(x, "shape, algorithm or bound")) for x in (shape, alg, *bounds)]
    if any(x is None for x in known) or int(known[1]) not in _PHILOX:
        raise NoRule("its shape or a bound is not known, or it is of another algorithm")
    dims, _, *limits = known
    if dims.ndim != 1 or (dims < 0).any() or (limits and not limits[0] < limits[1]):
        raise NoRule("its shape or its bounds are wrong")
    (output,) = node.outputs
    draw = functools.partial(_draw, _KEYED[node.record.name], tuple(dims.tolist()), output.dtype._np, limits)
    return numpy_function(draw, [batch.stack(key), batch.stack(counter)], output.dtype, False)


def _draw(sampler, shape, dtype, bounds, keys, counters):
    return random_calls.draw_with_keys(sampler, keys, counters, shape, dtype, *bounds)
