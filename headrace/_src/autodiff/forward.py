"""`tf.autodiff.ForwardAccumulator`: Jacobian-vector products, computed along with the function."""

from typing import Any

from headrace._src.autodiff.gradient_tape import UnconnectedGradients, gradient_components, handle_of
from headrace._src.autodiff.tape import Tape, next_id, node_gradients, zeros_of
from headrace._src.core import dtypes, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import Recorder, context
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.constants import zeros


class _Tangents(Recorder):
    """The recorder: pushes tangents through every op that is applied to a tensor which has one."""

    def __init__(self):
        self.by_id = {}
        self.ids = self.by_id.keys()

    def variable_read(self, variable, tensor):
        """Variables are followed when they are primals."""
        tangent = self.by_id.get(variable.handle._id)
        if tangent is not None:
            if tensor._id is None:
                tensor._id = next_id()
            self.by_id[tensor._id] = tangent

    def record_one(self, node, ids, output):
        self.record(node, None, ids, (output,))

    def record(self, node, inputs, ids, outputs):
        followed = [tensor for tensor in outputs if tensor.dtype in dtypes.DIFFERENTIABLE]
        if not followed:
            return
        # Tapes go on recording (the products can be differentiated), and accumulators around this one.
        recorders, inside = [], False
        for recorder in context.recorders:
            if recorder is self:
                inside = True
            elif not (inside and isinstance(recorder, _Tangents)):
                recorders.append(recorder)
        with context.changed(recorders=tuple(recorders)):
            products = _push(node, ids, outputs, self.by_id)
        for tensor, product in zip(outputs, products):
            if product is not None:
                if tensor._id is None:
                    tensor._id = next_id()
                self.by_id[tensor._id] = product


def _push(node, ids, outputs, tangents):
    """The tangent of each output.

    The gradient rule is linear in the output gradients; differentiating it with respect to them, with the input
    tangents as weights, gives the product in the forward direction. So no op needs a second rule.
    """
    tape = Tape()
    weights = []
    for tensor in outputs:
        if tensor.dtype in dtypes.DIFFERENTIABLE and tensor.dtype._kind != "r":
            known = tensor.dtype._kind != "v" and tensor.shape.is_fully_defined()
            weight = zeros_of((tensor.shape if known else tensor, tensor.dtype))
            tape.watch(weight)
            weights.append(weight)
        else:
            weights.append(None)
    with context.changed(recorders=(*context.recorders, tape)):
        node.wanted = None
        grads = node_gradients(node, list(weights))
        pairs = [
            (to_tensor(grad), tangents[number])
            for number, grad in zip(ids, grads)
            if grad is not None and number in tangents
        ]
    start = {}
    for grad, tangent in pairs:
        if grad._id is not None and grad._id in tape.ids:
            start[grad._id] = tangent if grad._id not in start else start[grad._id] + tangent
    wanted = [weight._id for weight in weights if weight is not None]
    products = tape.backward(start, wanted)
    return [None if weight is None else products.get(weight._id) for weight in weights]


@api("autodiff.ForwardAccumulator")
class ForwardAccumulator:
    """Computes Jacobian-vector products in forward mode.

    Args:
        primals: a tensor, variable or structure of them.
        tangents: the directions, with the same structure.

    >>> x = tf.constant(3.0)
    >>> with tf.autodiff.ForwardAccumulator(primals=x, tangents=tf.constant(2.0)) as acc:
    ...     y = x * x
    >>> acc.jvp(y).numpy()
    np.float32(12.0)

    Raises:
        ValueError: when structures, shapes or dtypes do not agree, or a primal is given twice.
    """

    def __init__(self, primals, tangents) -> None:
        self._tangents = _Tangents()
        self._recording = False
        nest.assert_same_structure(primals, tangents)
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents)):
            if isinstance(primal, CompositeTensor):
                for part, direction in zip(gradient_components(primal), gradient_components(tangent)):
                    self._watch(part, direction)
            else:
                self._watch(primal, tangent)

    def _watch(self, primal, tangent):
        if primal.dtype not in dtypes.DIFFERENTIABLE:
            raise ValueError(f"ForwardAccumulator: primals must be floating or complex, got {primal.dtype.name}.")
        tangent = to_tensor(tangent, primal.dtype)
        if not primal.shape.is_compatible_with(tangent.shape):
            raise ValueError(
                f"ForwardAccumulator: tangent of shape {tangent.shape} for a primal of shape {primal.shape}."
            )
        handle = handle_of(primal)
        if handle._id is None:
            handle._id = next_id()
        if handle._id in self._tangents.by_id:
            raise ValueError(f"ForwardAccumulator: the primal {primal!r} is given twice; add its tangents up.")
        self._tangents.by_id[handle._id] = tangent

    def __enter__(self) -> "ForwardAccumulator":
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        context.add_recorder(self._tangents)
        self._recording = True
        return self

    def __exit__(self, kind, error, traceback) -> None:
        context.remove_recorder(self._tangents)
        self._recording = False

    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE) -> Any:
        """The product of the Jacobian of `primals` (results computed in the block) and the tangents.

        Returns:
            The structure of `primals`; None (or zeros) for what does not depend on the watched primals.
        """
        unconnected = UnconnectedGradients(unconnected_gradients)

        def product(primal):
            if isinstance(primal, CompositeTensor):
                parts = nest.flatten(primal, expand_composites=True)
                tangents = [product(p) if p.dtype in dtypes.DIFFERENTIABLE else p for p in parts]
                return nest.pack_sequence_as(primal, tangents, expand_composites=True)
            tangent = self._tangents.by_id.get(handle_of(primal)._id)
            if tangent is None and unconnected is UnconnectedGradients.ZERO:
                return zeros(primal.shape, primal.dtype)
            return tangent

        return nest.map_structure(product, primals)
