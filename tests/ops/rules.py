"""Checking the rules of every op that a row runs: lowering against kernel, inference against results."""

import contextlib

import jax
import numpy as np
from comparison import assert_close

from headrace._src.core.shapes import TensorShape
from headrace._src.op.definition import REGISTRY, Spec
from headrace._src.op.loading import load_everything

load_everything()  # an op that came later would not be watched


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
    """What `lower` gets as `ctx`. Checks are collected: they must hold, since the kernel raised nothing."""

    windows_are_joined = False

    def __init__(self):
        self.checks, self.messages = [], []

    def check(self, ok, error, message):
        self.checks.append(ok)
        self.messages.append(message)

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
    names = [argument.name for argument in op.signature.inputs]
    traced = [array for name, array in zip(names, arrays, strict=True) if name not in op.static]
    ctx = LoweringContext()

    def program(*values):
        values = iter(values)
        inputs = [array if name in op.static else next(values) for name, array in zip(names, arrays, strict=True)]
        return op.lower(ctx, *inputs, **attrs), ctx.checks

    # Compiled as one program, as the compiled tier will: a lowering must be traceable.
    with jax.enable_x64(True):
        lowered, checks = jax.jit(program)(*traced)
        got, want = flat(lowered), flat(results)
    for ok, message in zip(checks, ctx.messages, strict=True):
        assert np.all(np.asarray(ok)), f"{op.name}: the lowering's check fails: {message}"
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
        if erase == "dims" and attrs.get("incompatible_shape_error") is False:
            continue  # TF: lengths that are not known are taken to be equal, and the result is a scalar if they are not
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
