"""Checking the rules of every op that a row runs: lowering against kernel, inference against results."""

import contextlib

import jax
import numpy as np
from comparison import assert_close

from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import REGISTRY, Spec


@contextlib.contextmanager
def applications():
    """Within this block, collects (op, arrays, attrs, results) of every kernel that runs."""
    seen = []
    before = {}

    def watching(op, kernel):
        def run(*arrays, **attrs):
            results = kernel(*arrays, **attrs)
            seen.append((op, arrays, attrs, results))
            return results

        return run

    for op in REGISTRY.values():
        before[op.name] = op.replace_kernel(watching(op, op.kernel))
    try:
        yield seen
    finally:
        for name, kernel in before.items():
            REGISTRY[name].replace_kernel(kernel)


class LoweringContext:
    """What `lower` gets as `ctx`: checks must hold, since the kernel raised nothing."""

    def check(self, ok, error, message):
        assert bool(np.all(np.asarray(ok))), f"the lowering's check fails: {message}"

    def random_stream(self, seed, seed2, blocks):
        """The key and counter of a stateful random op, whose rows set the seed first."""
        halves = np.array([seed, 0, seed2]).view(np.uint64)
        return jax.numpy.asarray(halves[:1]), jax.numpy.asarray(halves[1:])


def flat(value):
    """Arrays of inputs or results, lists spread out."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [] if value is None else [np.asarray(value)]


def is_numeric(arrays):
    return all(array.dtype != object for array in flat(arrays))


def check_lowering(op, arrays, attrs, results, rtol=None, atol=None):
    """The lowering gives what the kernel gave."""
    if op.lower is None or not is_numeric(arrays) or not is_numeric(results):
        return
    with jax.enable_x64(True):
        inputs = []
        for argument, array in zip(op.signature.inputs, arrays, strict=True):
            if argument.name in op.static:
                inputs.append(array)
            elif isinstance(array, list):
                inputs.append([jax.numpy.asarray(item) for item in array])
            else:
                inputs.append(jax.numpy.asarray(array))
        lowered = op.lower(LoweringContext(), *inputs, **attrs)
        got, want = flat(lowered), flat(results)
    assert len(got) == len(want), f"{op.name}: the lowering has {len(got)} outputs, the kernel {len(want)}"
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        assert_close(g, w, rtol, atol, slack=4, what=f"{op.name} lowering, output {i}, attrs {attrs}")


def _spec(array, erase=None, known=True):
    from headrace._src.core import dtypes

    dtype = dtypes.FROM_NUMPY.get(array.dtype, dtypes.string)
    if erase == "rank":
        return Spec(TensorShape(None), dtype)
    shape = [None if erase == "dims" else n for n in array.shape]
    return Spec(TensorShape(shape), dtype, array if known else None)


def check_inference(op, arrays, attrs, results):
    """`infer` agrees with the results: with all known, with dimensions erased, and with ranks erased."""
    shapes = [array.shape for array in flat(results)]
    for erase, known in ((None, True), (None, False), ("dims", False), ("rank", False)):
        specs = [
            [_spec(np.asarray(item), erase, known) for item in array]
            if isinstance(array, list)
            else _spec(np.asarray(array), erase, known)
            for array in arrays
        ]
        inferred = op.infer(*specs, **attrs)
        if op.single_output:
            inferred = [inferred]
        spread = []
        for argument, shape in zip(op.signature.outputs, inferred or (), strict=True):
            if argument.is_list:
                spread.extend(shape)
            else:
                spread.append(shape)
        assert len(spread) == len(shapes), f"{op.name}: infer gives {len(spread)} shapes, not {len(shapes)}"
        for shape, real in zip(spread, shapes, strict=True):
            assert TensorShape(shape).is_compatible_with(real), (
                f"{op.name}: inferred {shape} (erased: {erase}, values known: {known}), really {real}"
            )
