"""`tf.py_function` and `tf.numpy_function`: Python code as an operation of a graph."""

import contextvars
import functools
import itertools
import secrets
import traceback
import types
import weakref
from typing import Any

import numpy as np

from headrace._src.autodiff.custom_gradient import record_custom
from headrace._src.autodiff.tape import Tape
from headrace._src.core import dtypes, errors, nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import Mode, context
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import is_users
from headrace._src.core.type_specs import TypeSpec, type_spec_from_value
from headrace._src.graph.control.calls import extend
from headrace._src.graph.derivatives.functions import dense, walk
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import UNKNOWN
from headrace._src.op.traits import CALLS_PYTHON

_numbers = itertools.count()
# A part of all tokens that nobody outside of this process knows: a file cannot name a function of it by guessing.
_PROCESS = secrets.token_hex(8)
# By token, for as long as an operation holds the token.
_calls: weakref.WeakValueDictionary = weakref.WeakValueDictionary()

# TF: what errors of the user's code become.
_CLASSES = (
    ((TypeError, ValueError), errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
)


class Token(str):
    """The name under which an operation knows its Python function; holding it keeps the function alive."""

    call: object

    def __new__(cls, call):
        token = super().__new__(cls, f"pyfunc_{next(_numbers)}_{_PROCESS}")
        token.call = call
        _calls[str(token)] = call
        return token


def call_of(token):
    """The function that a token names."""
    call = getattr(token, "call", None) or _calls.get(str(token))
    if call is None and not token.endswith(_PROCESS):
        raise errors.permission_denied(
            f"The graph calls a Python function by the token {str(token)!r}, which this process did not make: it came "
            "from a file. Python functions are not saved. Make the graph anew with the code of the function, or load a "
            "model without tf.py_function and tf.numpy_function."
        )
    if call is None:
        raise errors.unknown(f"EagerPyFunc: the Python function {token!r} is gone: it lives as long as its graph does.")
    return call


def raise_users_error(error):
    """Raise the error of TensorFlow's class for what the user's code raised, with the user's traceback."""
    kind = next((ours for theirs, ours in _CLASSES if isinstance(error, theirs)), errors.UnknownError)
    if isinstance(error, errors.OpError) and not isinstance(error, (TypeError, ValueError)):
        kind = errors.UnknownError
    raise kind(None, None, f"{type(error).__name__}: {error}{_place_of(error)}") from error


def _place_of(error):
    """Where the user's code raised an error, as a clause: the line of the user's that was innermost."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_users(frame.filename)]
    if not frames:
        return ""
    file, line, function, text = frames[-1]
    return f" (raised at {file}:{line} in {function}{f': {text}' if text else ''})"


def _is_followed(tensor):
    return tensor.dtype._kind in "fc"


class _Session:
    """What a call keeps for its gradient: the tape, and the tensors between which it leads."""

    __slots__ = ("inputs", "outputs", "tape")

    def __init__(self, tape, inputs, outputs):
        self.tape = tape
        self.inputs = inputs  # those that gradients are followed through
        self.outputs = outputs

    # Graphs hand sessions on in tensors, which have zeros and sums like gradients; nobody reads those.

    def zeros_like(self):
        return _Session(None, [], [])

    def __add__(self, other):
        return self


class _EagerCall:
    """A Python function of eager tensors."""

    def __init__(self, function, output_types):
        self.function = function
        self.output_types = output_types

    def run(self, tensors, keep):
        """Call the function with nothing recorded outside.

        Args:
            tensors: the inputs.
            keep: whether a gradient may be asked for.

        Returns:
            The outputs, and what the gradient needs or None.
        """
        tape = Tape() if keep else None
        inputs = [EagerTensor(x._a, x.dtype) for x in tensors]
        if keep:
            for x in filter(_is_followed, inputs):
                tape.watch(x)
        before, context.mode = context.mode, Mode(recorders=(tape,)) if keep else None
        try:
            outputs = self._converted(self.function(*inputs))
        except (Exception, StopIteration) as error:
            raise_users_error(error)
        finally:
            context.mode = before
        session = _Session(tape, [x for x in inputs if _is_followed(x)], outputs) if keep else None
        return [EagerTensor(y._a, y.dtype) for y in outputs], session

    def _converted(self, result):
        if not self.output_types and result is None:
            return []
        values = list(result) if isinstance(result, (list, tuple)) else [] if result is None else [result]
        if len(values) < len(self.output_types):
            raise _WrongCount(len(values), len(self.output_types))
        # TF: what is returned beyond that is dropped.
        return [to_tensor(value, dtype) for value, dtype in zip(values, self.output_types)]


class _WrongCount(ValueError):
    def __init__(self, got, expected):
        super().__init__(f"py_function: func returns {got} values, but expects to see {expected} values.")


class _GradientCall:
    """The gradient of a Python call: walks the tape of the session that comes as first input."""

    def __init__(self, output_types):
        self.output_types = output_types

    def run(self, tensors, keep):
        session = tensors[0]._a[()] if isinstance(tensors[0], EagerTensor) else tensors[0]
        targets = [y for y in session.outputs if _is_followed(y)]
        dys = [EagerTensor(x._a, x.dtype) for x in tensors[1 + len(session.inputs) :]]
        if keep:
            for dy in dys:
                session.tape.watch(dy)
        before, context.mode = context.mode, Mode(recorders=(session.tape,)) if keep else None
        try:
            grads = walk(session.tape, targets, dys, session.inputs)
            grads = [to_tensor(np.zeros(x.shape.as_list(), x.dtype._np)) if g is None else dense(g)
                     for g, x in zip(grads, session.inputs)]
        finally:
            context.mode = before
        deeper = _Session(session.tape, [*session.inputs, *dys], grads) if keep else None
        return [EagerTensor(g._a, g.dtype) for g in grads], deeper


class _NumpyCall:
    """A Python function of NumPy arrays."""

    def __init__(self, function, output_types):
        self.function = function
        self.output_types = output_types

    def run(self, tensors, keep):
        # Copies: the function may write into them.
        arrays = [x._a.copy() if x._a.ndim else x._a[()] for x in tensors]
        before, context.mode = context.mode, None
        try:
            result = self.function(*arrays)
        except (Exception, StopIteration) as error:
            raise_users_error(error)
        finally:
            context.mode = before
        values = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
        if len(values) != len(self.output_types):
            raise errors.invalid_argument(
                f"PyFunc: func returns {len(values)} values, but expects to see {len(self.output_types)} values."
            )
        return [self._converted(i, value) for i, value in enumerate(values)], None

    def _converted(self, i, value):
        expected = self.output_types[i]
        if isinstance(value, Tensor):
            tensor = value
        else:
            array = np.asarray(value)
            tensor = to_tensor(array) if array.dtype.kind in "OSU" else to_tensor(np.array(array))
        if tensor.dtype is not expected:
            raise errors.invalid_argument(
                f"PyFunc: value {i} returned by func is {tensor.dtype.name}, but expects {expected.name}."
            )
        return tensor


# The ops.


def _run(input, token, Tout, is_async=False):
    call = call_of(token)
    keep = len(Tout) > len(call.output_types)
    if context.python_caller is not None and not keep:
        return context.python_caller(call, input)
    return arrays_of_call(call, input, keep)


def arrays_of_call(call, input, keep=False) -> list:
    """The results of a Python function as arrays.

    Args:
        call: what a token names.
        input: arrays.
        keep: whether a gradient may be asked for; then what it needs comes after the results.
    """
    tensors = [EagerTensor(x, _dtype_of(x)) for x in input]
    site, context.random_site = context.random_site, None  # what the user's code calls is not called from the graph
    try:
        # The user's code runs with NumPy's warnings as they are by default, not as they are for kernels.
        outputs, session = contextvars.Context().run(call.run, tensors, keep)
    finally:
        context.random_site = site
    arrays = [y._a for y in outputs]
    if keep:
        box = np.empty((), object)
        box[()] = session
        arrays.append(box)
    return arrays


def _dtype_of(array):
    if array.dtype == object:
        return dtypes.string if not array.size or isinstance(array.flat[0], bytes) else dtypes.variant
    return dtypes.as_dtype(array.dtype)


def _infer(input, token, Tout, is_async=False):
    return ([TensorShape([]) if dtype is dtypes.variant else UNKNOWN for dtype in Tout],)


def _grad(node, *dys):
    """Python code that walks the tape of the call, which comes as one more output of it."""
    operation = node.output[0].op
    count = len(call_of(operation.attrs["token"]).output_types)
    if len(operation.outputs) == count:
        session = types.SimpleNamespace(shape=TensorShape([]), dtype=dtypes.variant, _handle_data=None)
        operation = extend(operation, operation.attrs, [*operation.outputs, session])
    positions = [i for i, x in enumerate(operation.inputs) if _is_followed(x)]
    followed = [operation.inputs[i] for i in positions]
    given = [dense(dy) for dy, y in zip(dys[0], node.output[:count]) if _is_followed(y)]
    token = Token(_GradientCall([x.dtype for x in followed]))
    grads: list = [None] * len(operation.inputs)
    if followed:
        results = EAGER_PY_FUNC(
            [operation.outputs[count], *followed, *given], token=token, Tout=[x.dtype for x in followed]
        )
        for i, x, grad in zip(positions, followed, results):
            grad.set_shape(x.shape)
            grads[i] = grad
    return (grads,)


EAGER_PY_FUNC = Op(
    "EagerPyFunc",
    "input: list(Tin), *, token: string, Tout: list(type), is_async: bool = False -> output: list(Tout)",
    traits=CALLS_PYTHON,
    infer=_infer,
    kernel=_run,
    lower=None,  # Python code runs on the host
    grad=_grad,
    saves=("output",),
    stateful=True,
    quiet=False,
)

PY_FUNC = Op(
    "PyFunc",
    "input: list(Tin), *, token: string, Tout: list(type) -> output: list(Tout)",
    traits=CALLS_PYTHON,
    infer=_infer,
    kernel=_run,
    lower=None,  # Python code runs on the host
    grad=None,
    stateful=True,
    quiet=False,
)

PY_FUNC_STATELESS = Op(
    "PyFuncStateless",
    "input: list(Tin), *, token: string, Tout: list(type) -> output: list(Tout)",
    traits=CALLS_PYTHON,
    infer=_infer,
    kernel=_run,
    lower=None,  # Python code runs on the host
    grad=None,
    quiet=False,
)




# The public functions.


def call_recorded(call, tensors):
    """Call eagerly, and tell the tapes."""
    recorders = context.recorders
    ids = [x._id for x in tensors]
    keep = any(not recorder.ids.isdisjoint(ids) for recorder in recorders)
    outputs, session = call.run(tensors, keep)
    if not keep:
        return outputs
    tensors = [x for x in tensors if isinstance(x, EagerTensor)]
    sources = [x for x in tensors if _is_followed(x)]
    targets = [y for y in outputs if _is_followed(y)]

    def grad(*dys):
        gradient = _SessionCall(session, [x.dtype for x in sources])
        if context.graph is not None:  # a graph is made of what a tape recorded eagerly
            given = [*sources, *(dense(dy) for dy in dys)]
            return EAGER_PY_FUNC(given, token=Token(gradient), Tout=gradient.output_types)
        return call_recorded(gradient, [*sources, *(dense(dy) for dy in dys)])

    if targets:
        record_custom("EagerPyFunc", sources, targets, grad)
    return outputs


class _SessionCall(_GradientCall):
    """The gradient of a call that ran eagerly, given its session."""

    def __init__(self, session, output_types):
        super().__init__(output_types)
        self._session = session

    def run(self, tensors, keep):
        return super().run([self._session, *tensors], keep)


def _check(name, func, Tout):
    if not callable(func):
        raise ValueError(f"{name}: Expected func to be callable. Received func={func!r} of type {type(func)}.")
    if Tout is None:
        raise TypeError(
            f"{name}: Missing required argument: 'Tout'. As a decorator, set it by name: `@tf.{name}(Tout=tf.float32)`."
        )


def _output_dtypes(specs):
    flat = []
    for spec in specs:
        if isinstance(spec, TypeSpec):
            flat.extend(part.dtype for part in nest.flatten(spec, expand_composites=True))
        else:
            flat.append(dtypes.as_dtype(spec))
    return flat


@api("py_function", dispatch=False)
def py_function(func=None, inp=None, Tout=None, name=None) -> Any:
    """Call a Python function that computes with eager tensors; in a graph, each time the graph runs.

    Gradients flow through what the function does with its arguments.

    Args:
        func: the function; without it, a decorator is returned.
        inp: the arguments: tensors, or ragged and other composite tensors.
        Tout: the dtype or spec of what it returns, or a list of them; an empty list if it returns nothing.
        name: a name for the operation.

    Returns:
        A tensor, or a list of them if `Tout` is a list.

    >>> @tf.function
    ... def double(x):
    ...     return tf.py_function(lambda x: 2 * x.numpy(), [x], tf.float32)
    >>> double(tf.constant(2.0)).numpy()
    np.float32(4.0)

    Raises:
        InvalidArgumentError: the function raised TypeError or ValueError, or returned something else than was said.
        UnknownError: it raised another error.
    """
    if func is None:
        return functools.partial(_decorate, py_function, Tout=Tout, name=name)
    _check("py_function", func, Tout)
    specs = list(Tout) if isinstance(Tout, (list, tuple)) else [Tout]
    output_types = _output_dtypes(specs)
    arguments = [x if isinstance(x, (Tensor, CompositeTensor)) else to_tensor(x) for x in (() if inp is None else inp)]
    flat = [to_tensor(x) for x in nest.flatten(arguments, expand_composites=True)]
    call = _EagerCall(_with_composites(func, arguments, specs), output_types)
    if context.graph is None:
        results = call_recorded(call, flat)
    else:
        results = EAGER_PY_FUNC(flat, token=Token(call), Tout=output_types, name=name)
        if not output_types:
            return results
    return _packed_results(results, specs, Tout)


def _with_composites(func, arguments, specs):
    """The function of flat tensors that calls `func` with composite arguments, and takes composite results apart."""
    given = [type_spec_from_value(x) if isinstance(x, CompositeTensor) else None for x in arguments]
    composite = [isinstance(spec, TypeSpec) and not isinstance(spec, TensorSpec) for spec in specs]
    return _CompositeFunction(func, given, specs, composite) if any(given) or any(composite) else func


class _CompositeFunction:
    """A function of flat tensors that calls one of composite tensors; a class, so that it can be pickled."""

    def __init__(self, func, given, specs, composite):
        self._func = func
        self._given = given
        self._specs = specs
        self._composite = composite

    def __repr__(self):
        return repr(self._func)

    def __call__(self, *flat):
        rest = list(flat)
        values = []
        for spec in self._given:
            if spec is None:
                values.append(rest.pop(0))
                continue
            count = len(nest.flatten(spec, expand_composites=True))
            values.append(nest.pack_sequence_as(spec, rest[:count], expand_composites=True))
            del rest[:count]
        result = self._func(*values)
        if not any(self._composite):
            return result
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        flat_results = []
        for value, spec, is_composite in zip(results, self._specs, self._composite):
            if not is_composite:
                flat_results.append(value)
                continue
            if not spec.is_compatible_with(value):
                raise ValueError(f"py_function: func returned {value!r}, which does not fit the spec {spec!r}.")
            flat_results.extend(nest.flatten(value, expand_composites=True))
        return flat_results


def _packed_results(results, specs, Tout):
    at, values = 0, []
    for spec in specs:
        if isinstance(spec, TypeSpec) and not isinstance(spec, TensorSpec):
            count = len(nest.flatten(spec, expand_composites=True))
            values.append(nest.pack_sequence_as(spec, results[at : at + count], expand_composites=True))
            at += count
        else:
            values.append(results[at])
            at += 1
    return values if isinstance(Tout, (list, tuple)) else values[0]


def _decorate(function, func, **arguments):
    if arguments.get("Tout") is None:
        _check(function.__name__, func, None)

    @functools.wraps(func)
    def decorated(*args):
        return function(func, args, **arguments)

    return decorated


@api("numpy_function", dispatch=False)
def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None) -> Any:
    """Call a Python function of NumPy arrays; in a graph, each time the graph runs.

    Args:
        func: the function; without it, a decorator is returned. Gradients do not flow through it.
        inp: the arguments, tensors.
        Tout: the dtype of what it returns, or a list of dtypes; an empty list if it returns nothing.
        stateful: False if equal arguments give equal results and nothing else happens.
        name: a name for the operation.

    >>> tf.numpy_function(lambda x: x[::-1], [tf.constant([1, 2, 3])], tf.int32).numpy().tolist()
    [3, 2, 1]

    Raises:
        InvalidArgumentError: in a graph, when the function raises TypeError or ValueError, or returns something else
            than was said. Eagerly the function's own errors come out.
    """
    if func is None:
        return functools.partial(_decorate, numpy_function, Tout=Tout, stateful=stateful, name=name)
    arguments = list(inp) if inp is not None else []
    for x in arguments:
        if isinstance(x, CompositeTensor):
            raise TypeError(f"numpy_function: inp must be tensors, got {type(x).__name__}. Use tf.py_function.")
    if context.graph is None:
        return _numpy_call_eagerly(func, arguments)
    _check("numpy_function", func, Tout)
    output_types = [dtypes.as_dtype(x) for x in (Tout if isinstance(Tout, (list, tuple)) else [Tout])]
    op = PY_FUNC if stateful else PY_FUNC_STATELESS
    token = Token(_NumpyCall(func, output_types))
    results = op([to_tensor(x) for x in arguments], token=token, Tout=output_types, name=name)
    return results if isinstance(Tout, (list, tuple)) else results[0]


def _numpy_call_eagerly(func, arguments):
    """TF: eagerly the function is just called, with the arrays that NumPy makes, whatever Tout says."""
    arrays = [np.array(x._a) if isinstance(x, EagerTensor) else np.array(x) for x in arguments]
    with context.changed(recorders=()):
        results = [None if x is None else to_tensor(x) for x in nest.flatten(func(*arrays))]
    return results[0] if len(results) == 1 else results


@api("compat.v1.py_func", dispatch=False)
def py_func(func, inp, Tout, stateful=True, name=None) -> Any:
    """The name of `tf.numpy_function` in 1.x."""
    return numpy_function(func, inp, Tout, stateful, name)
