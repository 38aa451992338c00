"""`tf.GradientTape`: the public face of a tape."""

import contextlib
import enum
import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from headrace._src.autodiff.tape import Tape, next_id, ones_of
from headrace._src.core import dtypes, errors, nest, types
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import hide_frames
from headrace._src.op.api import api
from headrace._src.op.attached import open_class
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.constants import ones, zeros
from headrace._src.ops.arrays.measuring import SHAPE

if TYPE_CHECKING:
    from headrace._src.state.variables import Variable

logger = logging.getLogger("headrace")


@api("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient of a source that the target does not depend on is: None or zeros."""

    NONE = "none"
    ZERO = "zero"


def handle_of(source):
    """What tapes know a source by: a variable's handle, or the tensor itself."""
    if isinstance(source, Tensor):
        return source
    handle = getattr(source, "handle", None)
    if handle is None:
        # A Keras variable holds the variable.
        inner = getattr(source, "_value", None) or getattr(source, "value", None)
        inner = inner() if callable(inner) else inner
        handle = getattr(inner, "handle", None)
    if handle is None:
        raise ValueError(f"Passed in object {source!r} of type {type(source).__name__!r}, not a Tensor or Variable.")
    return handle


def shape_of(tensor):
    """The shape as a tuple of ints, or as an int32 tensor where it is not fully known."""
    if tensor.shape.is_fully_defined():
        return tuple(tensor.shape.as_list())
    return SHAPE(tensor, out_type=dtypes.int32)


class VariableTape(Tape):
    """A tape that also notices which variables are read."""

    __slots__ = ("variables", "watches_variables")

    def __init__(self, watches_variables):
        Tape.__init__(self)  # sooner than super()
        self.watches_variables = watches_variables
        self.variables = {}  # number of the handle to variable

    def variable_read(self, variable, tensor):
        """Note that `tensor` is the value of `variable` now; watch the variable if that is wanted."""
        number = variable._handle._id
        if number not in self.ids:
            if not (self.watches_variables and variable._trainable):
                return
            number = self.watch_variable(variable)
        values = self.reads.get(number)
        if values is None:
            values = self.reads[number] = []
        number = tensor._id
        if number is None:
            number = tensor._id = next_id()
        self.ids.add(number)
        values.append(number)

    def variable_used(self, variable):
        """Watch a variable that a function uses, if that is wanted."""
        if self.watches_variables and variable.trainable and variable.handle._id not in self.ids:
            self.watch_variable(variable)

    def watch_variable(self, variable):
        """Follow a variable whatever is read from it; returns the number of its handle."""
        handle = variable.handle
        number = handle._id
        if number is None:
            number = handle._id = next_id()
        self.ids.add(number)
        self.roots.add(number)
        self.variables[number] = variable
        return number


@api("GradientTape", "autodiff.GradientTape", quick=("__init__", "__enter__", "__exit__", "watch", "gradient"))
@open_class
class GradientTape:
    """Records operations for automatic differentiation.

    Args:
        persistent: allow several calls of `gradient`; otherwise the first one frees the tape.
        watch_accessed_variables: follow every trainable variable that is read.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x).numpy()
    np.float32(6.0)
    """

    def __init__(self, persistent=False, watch_accessed_variables=True) -> None:
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._tape = None
        self._recording = False
        self._watched: dict = {}  # the variables of a tape that was freed

    def __enter__(self) -> "GradientTape":
        self._push()
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if self._recording:
            self._pop()

    def _push(self):
        if self._recording:
            raise ValueError("Tape is still recording, this can happen if you try to re-enter an already-active tape.")
        if self._tape is None:  # otherwise it goes on where it stopped
            self._tape = VariableTape(self._watch_accessed_variables)
        context.add_recorder(self._tape)
        self._recording = True

    def _pop(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        context.remove_recorder(self._tape)
        self._recording = False

    def watch(self, tensor) -> None:
        """Follow a tensor, or a structure of tensors and variables.

        Raises:
            ValueError: for what is neither a tensor nor a variable.
            RuntimeError: before the tape is entered, or after `gradient` has freed it.
        """
        leaves = []
        for leaf in nest.flatten(tensor):
            leaves.extend(gradient_components(leaf) if isinstance(leaf, CompositeTensor) else [leaf])
        for leaf in leaves:
            if not isinstance(leaf, Tensor) and hasattr(leaf, "handle"):
                self._entered().watch_variable(leaf)
                continue
            handle = handle_of(leaf)
            if handle.dtype not in dtypes.DIFFERENTIABLE:
                logger.warning("The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                               handle.dtype)
                continue
            self._entered().watch(handle)

    def _entered(self):
        if self._tape is None:
            raise RuntimeError(
                "GradientTape.watch: there is no recording to add this to: the tape was not entered yet, or `gradient` "
                "has freed it. Watch inside of the `with` block, before what is to be differentiated."
            )
        return self._tape

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Within this block nothing is recorded on this tape.

        Raises:
            ValueError: outside of the tape's own block.
            RuntimeError: before it, or after `gradient` has freed the tape.
        """
        if self._tape is None:  # TF: another class than for a tape that has stopped
            raise RuntimeError("GradientTape.stop_recording: this tape has nothing to record to: it was not entered "
                               "yet, or `gradient` has freed it.")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forget everything recorded so far, and go on.

        Raises:
            ValueError: outside of the tape's own block.
        """
        self._pop()
        self._tape = None
        self._push()

    def watched_variables(self) -> "tuple[Variable, ...]":
        """The variables that this tape follows, in the order of their first use; also after `gradient`."""
        if self._tape is not None:
            self._watched = self._tape.variables
        # A copy of a distributed variable stands for all of it.
        found = [getattr(v, "_distributed_container", lambda v=v: v)() for v in self._watched.values()]
        return tuple({id(variable): variable for variable in found}.values())

    def _take_tape(self):
        """The tape for computing gradients; freed afterwards unless it is persistent."""
        if self._tape is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians). "
                "Use tf.GradientTape(persistent=True)."
            )
        tape = self._tape
        if self._recording:
            if self._persistent:
                logger.debug("Calling gradient on a persistent tape inside its context records the gradient too.")
            else:
                self._pop()
        if not self._persistent:
            self._watched = tape.variables
            self._tape = None
        return tape

    # Checkers do not see the None of a source that the target does not depend on: hardly a program asks for it.
    @overload
    def gradient(
        self, target: Any, sources: types.Tensor, output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Tensor: ...

    @overload
    def gradient(
        self, target: Any, sources: tuple[types.Tensor, ...], output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> tuple[Tensor, ...]: ...

    @overload
    def gradient(
        self, target: Any, sources: Sequence[types.Tensor], output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> list[Tensor]: ...

    @overload
    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any: ...

    def gradient(
        self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE
    ) -> Any:
        """The gradient of `target` with respect to `sources`.

        Args:
            target: a tensor or a structure of tensors, whose gradients add up.
            sources: a tensor, variable, or a structure of them.
            output_gradients: gradients of the targets; ones when left out.
            unconnected_gradients: None or zeros for sources that the target does not depend on.

        Returns:
            The structure of `sources`, with gradients.

        Raises:
            RuntimeError: on the second call on a tape that is not persistent.
            TypeError: for a target or source that is neither a tensor nor a variable.
        """
        try:
            if type(target) is EagerTensor and output_gradients is None and unconnected_gradients is _NONE:
                # The short way for one target, and a source or a flat list of them.
                several = type(sources) is list
                ids = [_plain_id(source) for source in sources] if several else [_plain_id(sources)]
                if False not in ids and (target._id is not None or None not in ids):
                    own_grads = _gradients_of(self._take_tape(), target, ids)
                    return own_grads if several else own_grads[0]
            unconnected = as_unconnected(unconnected_gradients)
            if target is None:
                raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or "
                                "CompositeTensors to be differentiated, but received None.")
            tape = self._take_tape()
            targets = []
            for leaf in nest.flatten(target):
                if isinstance(leaf, CompositeTensor):
                    targets.extend(gradient_components(leaf))
                else:
                    targets.append(as_target(leaf))
            weights = None
            if output_gradients is not None:
                weights = []
                for leaf in nest.flatten(output_gradients):
                    weights.extend(gradient_components(leaf) if isinstance(leaf, CompositeTensor) else [leaf])
            flat = nest.flatten(sources)
            components = [
                gradient_components(leaf) if isinstance(leaf, CompositeTensor) else [leaf] for leaf in flat
            ]
            handles = [[source_handle(part) for part in parts] for parts in components]
            grads = gradients_by_handle(tape, targets, weights, [handle for parts in handles for handle in parts])
            results, at = [], 0
            for leaf, parts in zip(flat, components):
                own_grads = grads[at : at + len(parts)]
                at += len(parts)
                if unconnected is UnconnectedGradients.ZERO:
                    own_grads = [_zeros_for(part) if grad is None else grad for part, grad in zip(parts, own_grads)]
                results.append(_rebuilt(leaf, own_grads))
            return nest.pack_sequence_as(sources, results)
        except BaseException as error:
            hide_frames(error)
            raise

    # `jacobian` and `batch_jacobian` trace graphs, so graph/derivatives/jacobians.py attaches them.
    if TYPE_CHECKING:

        @overload
        def jacobian(
            self, target: Any, sources: types.Tensor, unconnected_gradients: Any = UnconnectedGradients.NONE,
            parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
        ) -> Tensor: ...

        @overload
        def jacobian(
            self, target: Any, sources: tuple[types.Tensor, ...],
            unconnected_gradients: Any = UnconnectedGradients.NONE,
            parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
        ) -> tuple[Tensor, ...]: ...

        @overload
        def jacobian(
            self, target: Any, sources: Sequence[types.Tensor], unconnected_gradients: Any = UnconnectedGradients.NONE,
            parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
        ) -> list[Tensor]: ...

        @overload
        def jacobian(
            self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
            parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
        ) -> Any: ...

        def jacobian(
            self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
            parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
        ) -> Any: ...

        def batch_jacobian(
            self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
            parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
        ) -> Tensor: ...


_NONE = UnconnectedGradients.NONE
# What can be converted to a tensor, but depends on nothing.
_PLAIN = (int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic, type(None))


def _plain_id(source):
    """The number of a tensor or variable, which may be None; False for anything else, such as structures."""
    kind = type(source)
    if kind is EagerTensor:
        return source._id
    if not getattr(kind, "reads_as_tensor", False):
        # A Keras variable holds the variable.
        if not getattr(kind, "_should_act_as_resource_variable", False):
            return False
        source = getattr(source, "_value", None)
        if not getattr(type(source), "reads_as_tensor", False):
            return False
    return source.handle._id


def as_target(leaf):
    """A target of gradients: a variable stays one, what stands for a tensor becomes one."""
    if not isinstance(leaf, Tensor) and hasattr(leaf, "handle"):
        return leaf
    if isinstance(leaf, _PLAIN):
        raise TypeError(f"A target of gradients must be a tensor or a variable, got {leaf!r} of type "
                        f"{type(leaf).__name__!r}, which was computed from nothing.")
    return to_tensor(leaf)


def source_handle(source):
    """What tapes know a source of gradients by; a TypeError says what cannot be one."""
    if isinstance(source, _PLAIN):
        raise TypeError(f"A source of gradients must be a tensor or a variable, got {source!r} of type "
                        f"{type(source).__name__!r}.")
    return handle_of(source)


def _gradients_of(tape, target, ids):
    """One gradient or None per number in `ids`, of one target."""
    number = target._id
    if (number not in tape.ids and number not in ids) or target.dtype not in dtypes.DIFFERENTIABLE:
        return [None] * len(ids)
    grads = tape.backward({number: ones_of(target)}, ids, is_named=True)
    return [grads[number] for number in ids]


def as_unconnected(value):
    """What the user asks for, as an `UnconnectedGradients`."""
    if value is UnconnectedGradients.NONE:
        return value
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}") from None


def gradient_components(composite):
    """The tensors of a composite that are differentiated: those that the class names, or the floating ones."""
    protocol = getattr(type(composite), "_gradient_components", None)
    if protocol is not None:
        return list(protocol(composite))
    parts = nest.flatten(composite, expand_composites=True)
    return [part for part in parts if part.dtype in dtypes.DIFFERENTIABLE]


def _rebuilt(source, grads):
    """The gradient of one source: as the composite that the source is, from those of its parts."""
    if not isinstance(source, CompositeTensor):
        return grads[0]
    if all(grad is None for grad in grads):
        return None
    protocol = getattr(type(source), "_with_gradient_components", None)
    if protocol is not None:
        return protocol(source, grads)
    parts, replaced = nest.flatten(source, expand_composites=True), iter(grads)
    merged = [next(replaced) if part.dtype in dtypes.DIFFERENTIABLE else part for part in parts]
    return nest.pack_sequence_as(source, merged, expand_composites=True)


def gradients_by_handle(tape, targets, weights, handles):
    """One gradient or None per handle."""
    start = {}
    if weights is not None and len(weights) != len(targets):
        raise ValueError(f"gradient: {len(targets)} targets, but {len(weights)} output_gradients.")
    for i, target in enumerate(targets):
        tensor = handle_of(target)
        if tensor._id not in tape.ids:
            # TF: what was never recorded still has a gradient with respect to itself.
            if not any(tensor is handle for handle in handles):
                continue
            if tensor._id is None:
                tensor._id = next_id()
        if target.dtype not in dtypes.DIFFERENTIABLE:
            continue
        weight = None if weights is None else weights[i]
        if weight is None:
            weight = ones_of(tensor) if tensor is target else ones(shape_of(target), target.dtype)
        else:
            weight = to_tensor(weight, None if isinstance(weight, Tensor) else target.dtype)
            if weight.dtype is not target.dtype:
                raise errors.invalid_argument(
                    f"gradient: output_gradients must have the target's dtype {target.dtype.name}, got "
                    f"{weight.dtype.name}."
                )
            if not target.shape.is_compatible_with(weight.shape):
                raise errors.invalid_argument(
                    f"gradient: output_gradients must have the target's shape {target.shape}, got {weight.shape}."
                )
        if tensor._id in start:
            weight = start[tensor._id] + weight
        start[tensor._id] = weight
    ids = [handle._id for handle in handles]
    grads = tape.backward(start, ids, is_named=True)
    return [grads[number] for number in ids]


def _zeros_for(source):
    return zeros(source.shape, source.dtype)
