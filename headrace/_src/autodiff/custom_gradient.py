"""Functions that bring their own gradient: `custom_gradient`, `recompute_grad`, `grad_pass_through`."""

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

from headrace._src.autodiff.gradient_tape import GradientTape, handle_of
from headrace._src.core import nest
from headrace._src.core.context import Recorder, context
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.passing import IDENTITY_N


class VariableWatcher(Recorder):
    """A recorder that notes which trainable variables are read, and nothing else."""

    ids: frozenset[int] = frozenset()  # it follows no tensors

    def __init__(self):
        self.variables = {}

    def variable_used(self, variable):
        if variable.trainable:
            self.variables[id(variable.handle)] = variable

    def variable_read(self, variable, tensor):
        self.variable_used(variable)


def without_tapes():
    """A context in which nothing is recorded, but watchers still see which variables are read."""
    watchers = tuple(r for r in context.recorders if isinstance(r, VariableWatcher))
    return context.changed(recorders=watchers)


class _CustomOp:
    """Stands for the op of a `CustomNode`, for what reads `node.op`."""

    def __init__(self, name, grad):
        self.name = name
        self.grad = grad
        self.has_lists = False


class CustomNode:
    """An application of a Python function with a gradient function; what a tape records for it."""

    __slots__ = ("op", "output_specs", "wanted")

    def __init__(self, name, output_specs, grad):
        self.op = _CustomOp(name, lambda node, *dys: grad(*dys))
        self.wanted = None
        self.output_specs = output_specs  # (shape, dtype) of each


def record_custom(name, inputs, outputs, grad):
    """Tell the active tapes that `outputs` came from `inputs`, with the gradient function `grad(*dys)`.

    Args:
        name: of the function, for messages.
        inputs: tensors and variable handles.
        outputs: tensors that nothing else has recorded.
        grad: gradients of the outputs to a list with one gradient or None per input.
    """
    ids = [tensor._id for tensor in inputs]
    node = None
    for recorder in context.recorders:
        if not recorder.ids.isdisjoint(ids):
            if node is None:
                node = CustomNode(name, [(t.shape, t.dtype) for t in outputs], grad)
            recorder.record(node, inputs, ids, outputs)


@api("custom_gradient", dispatch=False)
def custom_gradient(f=None) -> Callable[..., Any]:
    """Decorator: the function returns its result and a function that computes the gradient.

    >>> @tf.custom_gradient
    ... def log1pexp(x):
    ...     e = tf.exp(x)
    ...     return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> x = tf.constant(100.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = log1pexp(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)

    Args:
        f: `f(*args)` returns `(result, grad_fn)`. `grad_fn(*upstream)` returns one gradient per tensor argument. When
            `f` reads variables, `grad_fn` takes `variables=` too, and returns `(gradients, variable_gradients)`.

    Returns:
        A function that returns only the result.
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        args = nest.map_structure(_as_tensor, args)
        watcher = VariableWatcher()
        with context.changed(recorders=(*context.recorders, watcher)):
            result, grad_fn = f(*args, **kwargs)
        flat_args = nest.flatten(args, expand_composites=True)
        inputs = [leaf for leaf in flat_args if _is_differentiated(leaf)]
        passed = {id(handle_of(leaf)) for leaf in inputs}
        variables = [v for key, v in watcher.variables.items() if key not in passed]
        _check_accepts(f, grad_fn, variables)
        with without_tapes():
            results = [to_tensor(leaf) for leaf in nest.flatten(result, expand_composites=True)]
            handles = [handle_of(x) for x in [*inputs, *variables]]
            # A graph has the values of variables there, as TensorFlow can differentiate it.
            passed_on = handles if context.graph is None else [to_tensor(x) for x in [*inputs, *variables]]
            outputs = IDENTITY_N(results + passed_on)[: len(results)]

        def grad(*dys):
            if variables:
                grads, variable_grads = grad_fn(*dys, variables=variables)
                variable_grads = nest.flatten(variable_grads)
                if len(variable_grads) != len(variables):
                    raise ValueError(
                        f"custom_gradient: {f.__name__} read {len(variables)} variables, but its gradient function "
                        f"returned {len(variable_grads)} variable gradients."
                    )
            else:
                grads, variable_grads = grad_fn(*dys), []
            flat = [grads] if not isinstance(grads, (list, tuple)) else nest.flatten(list(grads))
            if len(flat) != len(inputs):
                raise ValueError(
                    f"custom_gradient: {f.__name__} has {len(inputs)} tensor arguments, but its gradient function "
                    f"returned {len(flat)} gradients."
                )
            return flat + variable_grads

        for variable in variables:
            variable.value()  # tapes that watch what is read watch it from here on
        for leaf in inputs:
            if not isinstance(leaf, Tensor):
                for recorder in context.recorders:
                    recorder.variable_used(leaf)  # as above, also when `f` only hands it to its gradient function
        record_custom(f.__name__, handles, outputs, grad)
        if context.graph is not None and outputs:
            # A graph may be differentiated later, when no tape has seen this.
            outputs[0].op.custom_gradient = (len(outputs), f.__name__, grad)
        return nest.pack_sequence_as(result, outputs, expand_composites=True)

    return Bind(f, decorated)


class Bind:
    """A decorated function that is also a method when it stands in a class."""

    def __init__(self, f, decorated):
        self._decorated = decorated
        functools.update_wrapper(self, f)
        with contextlib.suppress(TypeError, ValueError):  # some built-in functions have none
            # Something with `__get__` is a built-in method to `inspect`, unless it has this attribute.
            self.__signature__ = inspect.signature(f)

    def __call__(self, *args, **kwargs):
        return self._decorated(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else functools.partial(self._decorated_method, instance)

    def _decorated_method(self, instance, *args, **kwargs):
        bound = functools.partial(self.__wrapped__, instance)
        functools.update_wrapper(bound, self.__wrapped__)
        return custom_gradient(bound)(*args, **kwargs)


def _as_tensor(value):
    if isinstance(value, Tensor) or hasattr(value, "handle") or hasattr(value, "_type_spec"):
        return value
    try:
        return to_tensor(value)
    except (TypeError, ValueError):
        return value


def _is_differentiated(leaf):
    return isinstance(leaf, Tensor) or hasattr(leaf, "handle")


def _check_accepts(f, grad_fn, variables):
    if not variables:
        return
    parameters = inspect.signature(grad_fn).parameters
    if "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    names = [v.name for v in variables]
    raise TypeError(
        f"custom_gradient: {f.__name__} reads the variables {names}, so its gradient function must accept a keyword "
        "argument `variables` and return (gradients, variable_gradients)."
    )


@api("recompute_grad", dispatch=False)
def recompute_grad(f) -> Callable[..., Any]:
    """A function like `f` that keeps no intermediate results: its gradient computes them again.

    Trades time for memory in deep networks.
    """

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        @custom_gradient
        def inner(*tensors):
            with without_tapes():
                result = f(*tensors, **kwargs)

            def grad(*dys, variables=None):
                variables = list(variables or ())
                with GradientTape(watch_accessed_variables=False) as tape:
                    tape.watch([t for t in nest.flatten(tensors) if _is_differentiated(t)])
                    for variable in variables:
                        tape.watch(variable)
                    again = f(*tensors, **kwargs)
                sources = [t for t in nest.flatten(tensors) if _is_differentiated(t)]
                grads = tape.gradient(again, sources + variables, output_gradients=list(dys))
                split = len(sources)
                return (grads[:split], grads[split:]) if variables else grads

            return result, grad

        return inner(*args)

    return decorated


@api("grad_pass_through", dispatch=False)
def grad_pass_through(f) -> Any:
    """A function like `f` whose gradient is that of the identity (straight-through estimation)."""

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        @custom_gradient
        def inner(*tensors):
            def grad(*dys, variables=None):
                return (dys, [None] * len(variables)) if variables is not None else dys

            return f(*tensors, **kwargs), grad

        return inner(*args)

    return decorated
