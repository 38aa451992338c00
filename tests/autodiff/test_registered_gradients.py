"""Gradients op by op: there, None or an error, as TensorFlow registers them."""

import json
import pathlib

import pytest

import headrace as tf
from headrace._src.autodiff.registered import GRADIENTS
from headrace._src.op.definition import unregistered
from headrace._src.op.registry import all_ops

RECORDED = json.loads((pathlib.Path(__file__).parent.parent / "golden" / "registered_gradients.json").read_text())

# What docs/decisions/0007-eager-differences.md says about these.
MORE = {
    "nothing": """
        Conv Conv2DBackpropFilterV2 Conv2DBackpropInputV2 Copy CopyHost DeepCopy FFTND GuaranteeConst IFFTND IRFFT3D
        IRFFTND LRNGrad ListDiff Lu MatrixExponential MatrixLogarithm MaxPoolGradGradV2 MaxPoolGradGradWithArgmax
        MaxPoolGradWithArgmax ParallelConcat PartitionedCall RFFT3D RFFTND RaggedFillEmptyRowsGrad ResizeBicubicGrad
        ResizeNearestNeighborGrad ScaleAndTranslateGrad SegmentMaxV2 SegmentMinV2 SegmentProdV2 SegmentSumV2 Snapshot
        SoftsignGrad SparseFillEmptyRowsGrad SparseSegmentMeanGrad SparseSegmentMeanGradV2 SparseSegmentSqrtNGrad
        SparseSegmentSqrtNGradV2 SparseSegmentSumGrad SparseSegmentSumGradV2 SparseSliceGrad StackPushV2
        StatefulPartitionedCall Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2
    """.split(),
    "none": """
        FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient
        ResizeBilinearGrad SparseAddGrad TensorArrayGradV3 TensorArrayGradWithShape
    """.split(),
}
LESS = {"CSRSparseMatrixToSparseTensor", "SparseMatrixSparseMatMul", "SparseTensorToCSRSparseMatrix"}


def _kind(op):
    if op.grad is None:
        return "none"
    return "nothing" if op.grad is unregistered else "gradient"


@pytest.mark.parametrize("kind", ["gradient", "none", "nothing"])
def test_registered_as_in_tensorflow(kind):
    names = set(RECORDED[kind])
    differing = {op.name: _kind(op) for op in all_ops() if op.name in names and _kind(op) != kind}
    expected = dict.fromkeys(LESS, "none") if kind == "gradient" else dict.fromkeys(MORE[kind], "gradient")
    assert differing == expected


# Functions of a vector of four floats: what TensorFlow 2.21 gives as the gradient of its sum.
FUNCTIONS = {
    "stateless_shuffle": (lambda x: tf.random.experimental.stateless_shuffle(x, seed=[1, 2]), LookupError),
    "truncatemod": (lambda x: tf.truncatemod(x, 3.0), LookupError),
    "bitcast": (lambda x: tf.bitcast(tf.bitcast(tf.reshape(x, [2, 2]), tf.complex64), tf.float32), LookupError),
    "bincount": (lambda x: tf.math.bincount([0, 1, 1, 2], weights=x), LookupError),
    "sparse_reduce_max": (lambda x: tf.sparse.reduce_max(tf.SparseTensor([[0], [1], [2], [3]], x, [4])), LookupError),
    "adjust_hue": (lambda x: tf.image.adjust_hue(tf.reshape(tf.concat([x, x, x], 0), [2, 2, 3]), 0.1), LookupError),
    "poisson_of_rates": (lambda x: tf.raw_ops.RandomPoissonV2(shape=[2], rate=x, dtype=tf.float32), LookupError),
    "only_one_of_two_paths": (lambda x: x + tf.truncatemod(x, 3.0), LookupError),
    "not_on_the_path": (lambda x: x + tf.stop_gradient(tf.truncatemod(x, 3.0)), [1.0, 1.0, 1.0, 1.0]),
    "sign": (tf.sign, [0.0, 0.0, 0.0, 0.0]),
    "zeros_like": (tf.zeros_like, None),
    "round": (tf.round, None),
    "one_hot": (lambda x: tf.one_hot([0, 1], 2, on_value=x[0]), None),
    "bucketize": (lambda x: tf.cast(tf.raw_ops.Bucketize(input=x, boundaries=[1.0, 2.0]), tf.float32), None),
}
VALUES = [1.5, -2.0, 3.5, 4.0]


def _eagerly(function):
    x = tf.constant(VALUES)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(function(x))
    return tape.gradient(y, x)


def _through_a_function(function):
    return _eagerly(tf.function(function))


def _by_a_tape_in_a_function(function):
    gradients = []

    @tf.function
    def of():
        gradients.append(_eagerly(function))
        return gradients.pop() if gradients[0] is not None else None

    return of()


def _by_tf_gradients(function):
    gradients = []

    @tf.function
    def of(x):
        gradients.extend(tf.gradients(tf.reduce_sum(function(x)), [x]))
        return gradients[0]

    result = of(tf.constant(VALUES))
    return None if gradients[0] is None else result


@pytest.mark.parametrize("way", [_eagerly, _through_a_function, _by_a_tape_in_a_function, _by_tf_gradients])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_asking_for_a_gradient(name, way):
    function, expected = FUNCTIONS[name]
    if expected is LookupError:
        with pytest.raises(LookupError, match=r"no gradient is defined.*tf\.stop_gradient"):
            way(function)
        return
    gradient = way(function)
    assert gradient is None if expected is None else gradient.numpy().tolist() == expected


def test_a_gradient_can_be_registered_where_there_is_none():
    @tf.RegisterGradient("TruncateMod")
    def grad(op, dy):
        return dy * 2.0, None

    try:
        assert _by_tf_gradients(FUNCTIONS["truncatemod"][0]).numpy().tolist() == [2.0] * 4
    finally:
        GRADIENTS.pop("TruncateMod")
