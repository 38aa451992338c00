"""`tf.function`: the decorator, and the cache of traced functions."""

import functools
import inspect
import logging
import threading
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar, overload

from headrace._src.autograph.calls import convert_as_asked, with_status
from headrace._src.autograph.status import ENABLED
from headrace._src.core import nest
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule
from headrace._src.core.tensor import EagerTensor
from headrace._src.core.tracebacks import entrance, hide_frames
from headrace._src.core.tracing_protocol import CastContext, TraceType
from headrace._src.core.trackable import SaveType, Trackable
from headrace._src.core.types import FOR_CHECKERS
from headrace._src.graph.building.source_lines import users_line
from headrace._src.graph.passes.implementations import implementation
from headrace._src.op.api import api
from headrace._src.op.options import truth
from headrace._src.tracing.arguments import FAILED, SINGLE_TENSORS, bind, fast_key, parameters_of, tensors_of
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function_types import FunctionType, type_of_parameters
from headrace._src.tracing.trace_types import Literal, Typing
from headrace._src.tracing.traces import trace

if TYPE_CHECKING:
    from typing import Generic

    from headrace._src.tracing.explanation import Explanation
else:
    Generic = FOR_CHECKERS

explanation = LazyModule("headrace._src.tracing.explanation")  # few programs ask for one
logger = logging.getLogger("headrace")

P = ParamSpec("P")  # the arguments of a function
Rest = ParamSpec("Rest")  # the arguments of a method, without `self`
R = TypeVar("R")  # the result


class FunctionSpec(NamedTuple):
    """What a `tf.function` was made from."""

    fullargspec: inspect.FullArgSpec
    input_signature: tuple | None
    jit_compile: bool | None

    @property
    def arg_names(self) -> list[str]:
        """The names of the arguments that may be given by position."""
        return self.fullargspec.args

    @property
    def default_values(self) -> tuple | None:
        """The values of the last of them, where they are left out."""
        return self.fullargspec.defaults

    @property
    def flat_input_signature(self) -> tuple:
        """The specs of the input signature, without structure."""
        return tuple(nest.flatten(self.input_signature or (), expand_composites=True))


class _Switch:
    eagerly = False
    inlining: list = []  # functions that say whether calls in graphs are traced right there, see `inline_while`


def inline_while(is_so):
    """While `is_so()` is true, calls of tf.functions in graphs are traced there, each anew, and nothing is kept."""
    _Switch.inlining.append(is_so)


@api("config.run_functions_eagerly", "config.experimental_run_functions_eagerly", dispatch=False)
def run_functions_eagerly(run_eagerly) -> None:
    """Whether calls of tf.functions run the Python code each time instead of a graph, as one wants when debugging."""
    _Switch.eagerly = bool(run_eagerly)


@api("config.functions_run_eagerly", "config.experimental_functions_run_eagerly", dispatch=False)
def functions_run_eagerly() -> bool:
    """What `run_functions_eagerly` was last told."""
    return _Switch.eagerly


class Function(Trackable, Generic[P, R]):
    """A Python function that runs as a graph, traced once for each combination of argument types."""

    _is_saved_function = True

    def __init__(self, python_function, name, *, input_signature=None, autograph=True, jit_compile=None,
                 reduce_retracing=False, attributes=None) -> None:
        self._python_function = python_function
        self._name = name
        self._autograph = autograph
        self._jit_compile = jit_compile
        self._reduce_retracing = reduce_retracing
        self._attributes = attributes
        self.implements = implementation(attributes)
        self._lock = threading.RLock()
        self._parameters = parameters_of(python_function)
        self._input_signature = None if input_signature is None else self._signature_types(input_signature)
        self._traces: dict = {}  # tuple of trace types to ConcreteFunction
        self._traces_in_places: dict = {}  # of a strategy, whose replicas use copies of variables: the same for each
        self._fast: dict = {}  # key of a simple call to ConcreteFunction
        self._last_object: tuple | None = None  # an iterator that was the only argument, and its ConcreteFunction
        self._being_traced: set = set()
        self._trace_count = 0
        self._call_history: list = []
        self.trace_log: list = []  # for `explain`: argument types and the line of the call, for each time it was traced
        self._may_create = True  # until the first call has ended
        self._methods = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function, updated=())
        for attribute, value in getattr(python_function, "__dict__", {}).items():
            if not attribute.startswith("_"):  # TF: those of a callable object are the function's, too
                self.__dict__.setdefault(attribute, value)

    # Calling.

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if context.mode is None and not kwargs and not _Switch.eagerly:
                key = fast_key(args)
                if key is not None:
                    concrete = self._fast.get(key)
                    if concrete is not None:
                        return concrete.call_arrays([x._a for x in args if type(x) is EagerTensor])
                elif len(args) == 1 and (last := self._last_object) is not None and last[0]() is args[0]:
                    return last[1].call_arrays([args[0]._only_tensor._a])
            else:
                key = None
            return self._call(args, kwargs, key)
        except BaseException as error:
            hide_frames(error)
            raise

    def _call(self, args, kwargs, key):
        if _Switch.eagerly:
            return self._python_function(*args, **kwargs)
        if context.graph is not None and any(is_so() for is_so in _Switch.inlining):
            return self._prepared()(*args, **kwargs)
        values, kinds = self._bind(args, kwargs)
        traces = self._trace_count
        with self._lock:
            concrete = self._concrete_for(kinds)
        if key is not None and concrete.is_simple and context.mode is None:
            if len(self._fast) > 1000:
                self._fast.clear()
            self._fast[key] = concrete
        tensors = tensors_of(kinds, values)
        if key is None and len(tensors) == 1 and self._trace_count == traces:
            self._keep_object(args, kwargs, tensors[0], concrete)
        return concrete.call_flat(tensors)

    def _keep_object(self, args, kwargs, tensor, concrete):
        """Find the trace of the next call at once when it has the same iterator again, as each step of an epoch has."""
        if kwargs or len(args) != 1 or type(args[0]) not in SINGLE_TENSORS or context.mode is not None:
            return
        if args[0]._only_tensor is tensor and concrete.has_eager_captures:
            self._last_object = weakref.ref(args[0]), concrete

    def _bind(self, args, kwargs):
        """The values of all arguments and their types."""
        values = bind(self._parameters, args, kwargs, self._name)
        if self._input_signature is not None:
            return self._cast(values), self._input_signature
        typing = Typing()
        return values, tuple(typing.type_of(value) for value in values)

    def _cast(self, values):
        cast = []
        for parameter, kind, value in zip(self._parameters, self._input_signature, values):
            try:
                cast.append(kind.cast(value, CastContext(allow_specs=True)))
            except (AssertionError, TypeError, ValueError) as error:
                raise TypeError(
                    f"{FAILED}: {self._name}: argument {parameter.name!r} does not fit the input_signature: {error}. "
                    f"Expected {kind!r}, got {value!r}."
                ) from None
        return cast

    # Tracing.

    def _concrete_for(self, kinds):
        concrete = self._lookup(kinds)
        if concrete is not None:
            self._note_call(None, None)
            return concrete
        traced = kinds
        if self._reduce_retracing and self._input_signature is None:
            traced = self._generalised(kinds)
            concrete = self._lookup(traced)
            if concrete is not None:
                return concrete
        self._explain_retrace(kinds)
        first = self._may_create
        concrete, maker = self._trace(traced, first)
        if first:
            self._may_create = False
            if maker.variables:
                if maker.needs_run:
                    # Some variables get their first values from the arguments: this graph sets them, once.
                    return concrete
                concrete, _ = self._trace(traced, False)
        self._remember(traced, concrete)
        return concrete

    def _lookup(self, kinds):
        concrete = self._cache().get(kinds)
        if concrete is not None:
            return concrete
        best = None
        for known, candidate in self._cache().items():
            if all(a.is_subtype_of(b) for a, b in zip(kinds, known)) and len(kinds) == len(known):
                if best is None or all(a.is_subtype_of(b) for a, b in zip(known, best[0])):
                    best = known, candidate
        return None if best is None else best[1]

    def _cache(self):
        """The traces that can be used here: all, but for those that use tensors of another graph."""
        graph = context.graph
        local = None if graph is None else graph.local_functions.get(self)
        traces = self._traces_here()
        if local is not None:
            place = _place_key()
            traces = traces | {kinds: concrete for (key, kinds), concrete in local.items() if key == place}
        return traces

    def _traces_here(self):
        """The traces of this place of a strategy."""
        key = _place_key()
        return self._traces if key is None else self._traces_in_places.setdefault(key, {})

    def _remember(self, kinds, concrete):
        graph = context.graph
        if graph is not None and any(not isinstance(x, EagerTensor) for x in concrete.captured_inputs):
            # It uses tensors of the graph in which it was called, and is of no use elsewhere.
            graph.local_functions.setdefault(self, {})[_place_key(), kinds] = concrete
        else:
            self._traces_here()[kinds] = concrete

    def _generalised(self, kinds):
        """The types with what varied between calls made unknown."""
        for known in self._traces_here():
            if len(known) != len(kinds):
                continue
            common = [a.most_specific_common_supertype([b]) for a, b in zip(kinds, known)]
            if all(kind is not None for kind in common):
                return tuple(common)
        return kinds

    def _trace(self, kinds, may_create):
        if kinds in self._being_traced:
            raise RecursionError(
                f"tf.function {self._name} calls itself with arguments of the same types while it is traced, which "
                "would never end. Put the recursion into Python values that change, or use tf.while_loop."
            )
        self._being_traced.add(kinds)
        try:
            self._trace_count += 1
            return trace(self._prepared(), self._parameters, kinds, self._name, may_create, self)
        finally:
            self._being_traced.discard(kinds)

    def _decorate(self, decorator) -> None:
        """Put a decorator around the Python function; only before it is first traced.

        Raises:
            ValueError: it has been traced.
        """
        if self._trace_count:
            raise ValueError(f"{self._name} has been traced already: it can no longer be decorated.")
        self._python_function = decorator(self._python_function)

    def _prepared(self):
        """The Python function as it is traced: with its control flow turned into operations."""
        if not self._autograph:
            return self._python_function
        return _converted(self._python_function)

    def _note_call(self, old, new):
        history = self._call_history
        history.append((old, new))
        if len(history) > 20:
            del history[:10]

    def _explain_retrace(self, kinds):
        """Warn when calls keep being traced, and say which argument is the cause."""
        old = next(reversed(self._traces), None) if self._traces else None
        self._note_call(old, kinds)
        self.trace_log.append((kinds, users_line()))
        del self.trace_log[:-100]
        recent = self._call_history[-6:]
        retraces = [entry for entry in recent if entry[1] is not None and entry[0] is not None]
        if len(retraces) < 5:
            return
        causes = self._differences(old, kinds)
        file, line, function = users_line()
        logger.warning(
            "%d out of the last %d calls to tf.function %s triggered tf.function retracing, which is slow. %s Called "
            "at %s:%d in %s. Pass tensors instead of Python values, give the arguments an input_signature, or use "
            "reduce_retracing=True.",
            len(retraces), len(recent), self._name, causes, file, line, function,
        )  # fmt: skip

    def _differences(self, old, new):
        parts = [
            f"Argument {parameter.name!r} was {a!r} and is now {b!r}."
            for parameter, a, b in zip(self._parameters, old, new)
            if a != b
        ]
        return " ".join(parts)

    # What it is.

    @property
    def python_function(self):
        """The Python function that was decorated."""
        return self._python_function

    @property
    def name(self) -> str:
        return self._name

    @property
    def input_signature(self):
        """The `input_signature` that was given, as a tuple of specs and structures of specs; None without one."""
        if self._input_signature is None:
            return None
        specs: list = []
        for kind, parameter in zip(self._input_signature, self._parameters):
            if parameter.kind is parameter.VAR_POSITIONAL:
                specs.extend(map(_structure_of, kind.children))
            elif parameter.kind is not parameter.VAR_KEYWORD and not isinstance(kind, Literal):
                specs.append(_structure_of(kind))
        return tuple(specs)

    @property
    def autograph(self):
        return self._autograph

    @property
    def jit_compile(self) -> bool | None:
        return self._jit_compile

    @property
    def reduce_retracing(self):
        return self._reduce_retracing

    @property
    def function_spec(self) -> "FunctionSpec":
        """The parameters of the Python function, and how it was decorated."""
        return FunctionSpec(inspect.getfullargspec(self._python_function), self.input_signature, self._jit_compile)

    @property
    def function_type(self) -> FunctionType:
        """The parameters, with types where there is an `input_signature`."""
        return type_of_parameters(self._parameters, self._input_signature)

    @property
    def _concrete_variable_creation_fn(self) -> ConcreteFunction:
        """TF: the first trace. The graph of a training step that Keras shows is this one's."""
        for concrete in self._traces.values():
            return concrete
        raise AttributeError(f"{self._name} has not been traced yet.")

    def experimental_get_tracing_count(self) -> int:
        """How often the function has been traced."""
        return self._trace_count

    @entrance
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The traced function for arguments of these types; a spec may stand for a tensor."""
        if self._input_signature is not None and not args and not kwargs:
            kinds = self._input_signature
        else:
            _, kinds = self._bind(args, kwargs)
        with self._lock:
            concrete = self._cache().get(kinds)
            if concrete is None:
                concrete = self._concrete_for(kinds)
        return concrete

    @entrance
    def explain(self, *args, **kwargs) -> "Explanation":
        """What a call with these arguments runs, in words: print the result.

        It has the operations with shapes and the lines that made them, which of them are compiled, what they cost, and
        why the function was traced. A spec may stand for a tensor; the costs are then not known.

        >>> print(tf.function(lambda x: x * 2.0 + 1.0).explain(tf.TensorSpec([3])).operations)
        2
        """
        values, kinds = self._bind(args, kwargs)
        with self._lock:
            concrete = self._concrete_for(kinds)
        known = not any(isinstance(leaf, TraceType) for leaf in nest.flatten(values))
        return explanation.Explanation(self, concrete, tensors_of(kinds, values) if known else None)

    @property
    def parameter_names(self) -> tuple:
        """The names of the arguments."""
        return tuple(parameter.name for parameter in self._parameters)

    def pretty_printed_concrete_signatures(self, verbose=True) -> str:
        """The signatures of all traces."""
        return "\n\n".join(c.pretty_printed_signature(verbose) for c in self._traces.values())

    def _signature_types(self, input_signature):
        typing = Typing()
        if isinstance(input_signature, dict):
            specs = dict(input_signature)
        else:
            if not isinstance(input_signature, (list, tuple)):
                raise TypeError(f"function: input_signature must be a tuple or a list, got {type(input_signature)}.")
            names = [p.name for p in self._parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            if names[:1] == ["self"]:
                del names[0]  # TF: by its name; binding the method drops it
            star = next((p.name for p in self._parameters if p.kind is p.VAR_POSITIONAL), None)
            if len(input_signature) > len(names) and star is None:
                raise TypeError(
                    f"input_signature has {len(input_signature)} entries, but {self._name} takes {len(names)} "
                    "arguments."
                )
            specs = dict(zip(names, input_signature))
            if star is not None:
                specs[star] = tuple(input_signature[len(names) :])
        kinds = []
        for parameter in self._parameters:
            if parameter.name in specs:
                value = specs[parameter.name]
            elif parameter.kind is parameter.VAR_POSITIONAL:
                value = ()
            elif parameter.kind is parameter.VAR_KEYWORD:
                value = {}
            elif parameter.default is not parameter.empty:
                value = parameter.default
            elif parameter.name == "self":
                value = None
            else:
                raise TypeError(f"input_signature says nothing about the argument {parameter.name!r} of {self._name}.")
            for leaf in nest.flatten(value) if parameter.name in specs else ():
                if not isinstance(leaf, TraceType):
                    raise TypeError(f"input_signature must be a possibly nested sequence of TensorSpec objects, "
                                    f"got {leaf!r}.")
            kinds.append(typing.type_of(value))
        return tuple(kinds)

    # As part of a SavedModel.

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        """All traces, in the order in which they were made; a function that takes no choice is traced now."""
        if not self._traces_for_all() and (self._input_signature is not None or not self._parameters):
            self.get_concrete_function()
        return list(self._traces_for_all().values())

    def _traces_for_all(self):
        """All traces but those of single replicas."""
        found = dict(self._traces)
        for (_, is_replica, index, _), traces in self._traces_in_places.items():
            if not is_replica and index is None:
                found = traces | found
        return found

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, cache=None, **kwargs):
        """For a SavedModel, the traces; a checkpoint has none of them."""
        if save_type == SaveType.CHECKPOINT:
            return {}
        traces = self._list_all_concrete_functions()
        return {f"trace_{i}": concrete for i, concrete in enumerate(traces)}

    # As a method.

    @overload
    def __get__(self, instance: None, owner: Any = None) -> "Function[P, R]": ...

    @overload
    def __get__(
        self: "Function[Concatenate[Any, Rest], R]", instance: object, owner: Any = None
    ) -> "Function[Rest, R]": ...

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        try:
            bound = self._methods.get(instance)
            if bound is None:
                bound = self._methods[instance] = self._bound_to(instance)
            return bound
        except TypeError:  # an instance that cannot be hashed or referred to weakly
            store = instance.__dict__.setdefault("_headrace_functions", {})
            if id(self) not in store:
                store[id(self)] = self._bound_to(instance)
            return store[id(self)]

    def _bound_to(self, instance):
        signature = self._input_signature
        bound = Function.__new__(Function)
        method = _WeakMethod(self._python_function, instance)
        Function.__init__(
            bound, method, self._name, autograph=self._autograph, jit_compile=self._jit_compile,
            reduce_retracing=self._reduce_retracing, attributes=self._attributes,
        )  # fmt: skip
        if signature is not None:
            bound._input_signature = signature[1:] if len(signature) > len(bound._parameters) else signature
        return bound

    def __repr__(self):
        return f"<tf.function {self._name} at {id(self):#x}>"

    def __reduce__(self):
        options = {
            "input_signature": self.input_signature, "autograph": self._autograph, "jit_compile": self._jit_compile,
            "reduce_retracing": self._reduce_retracing, "attributes": self._attributes,
        }  # fmt: skip
        return _restore, (self._python_function, self._name, options)


def _place_key():
    """What tells places of a strategy apart; None where no strategy is in force."""
    mode = context.mode
    return None if mode is None or mode.place is None else mode.place.trace_key


def _structure_of(kind):
    """The structure of specs that the type of an argument stands for."""
    children = getattr(kind, "children", None)
    return kind if children is None else kind.packed([_structure_of(child) for child in children])


def _restore(python_function, name, options):
    return Function(python_function, name, **options)


class _WeakMethod:
    """A function bound to an instance that it does not keep alive."""

    def __init__(self, function, instance):
        self._instance = weakref.ref(instance) if _takes_weak_references(instance) else lambda: instance
        self._function = function
        functools.update_wrapper(self, function, updated=())
        self.__signature__ = inspect.Signature(list(inspect.signature(function).parameters.values())[1:])

    @property
    def bound(self):
        """The method itself."""
        instance = self._instance()
        if instance is None:
            raise ReferenceError(f"The object whose method {self.__name__} is called is gone.")
        return types.MethodType(self._function, instance)

    def __call__(self, *args, **kwargs):
        return self.bound(*args, **kwargs)


def _takes_weak_references(instance):
    try:
        weakref.ref(instance)
    except TypeError:
        return False
    return True


def _converted(python_function):
    """The function with its control flow turned into operations."""
    if isinstance(python_function, _WeakMethod):
        python_function = python_function.bound
    return with_status(convert_as_asked(python_function), ENABLED)


@overload
def function(
    func: Callable[P, R], input_signature: Any = None, autograph: bool = True, jit_compile: bool | None = None,
    reduce_retracing: bool = False, **others: Any,
) -> "Function[P, R]": ...


@overload
def function(
    func: None = None, input_signature: Any = None, autograph: bool = True, jit_compile: bool | None = None,
    reduce_retracing: bool = False, **others: Any,
) -> "Callable[[Callable[P, R]], Function[P, R]]": ...


@api("function", dispatch=False)
def function(
    func=None,
    input_signature=None,
    autograph=True,
    jit_compile=None,
    reduce_retracing=False,
    experimental_implements=None,
    experimental_autograph_options=None,
    experimental_attributes=None,
    experimental_relax_shapes=None,
    experimental_compile=None,
    experimental_follow_type_hints=None,
) -> Any:
    """Make a Python function run as a graph.

    The function is traced when it is called with arguments of new types (dtype and shape for tensors, the value for
    Python values); later calls with the same types run the graph.

    Args:
        func: the function; without it, a decorator is returned.
        input_signature: specs of the arguments: then there is one trace, whatever is passed must fit.
        autograph: whether Python control flow that depends on tensors becomes part of the graph.
        jit_compile: True compiles at once and refuses what cannot be compiled; None and False compile in the
            background.
        reduce_retracing: generalise shapes that differ between calls, instead of tracing each.
        experimental_attributes: what is noted of the function: "api_implements", of what it is an implementation, and
            "api_preferred_device", where that is the best one.
        experimental_implements, experimental_autograph_options, experimental_follow_type_hints: accepted; they change
            nothing here.

    >>> @tf.function
    ... def double(x):
    ...     return x + x
    >>> double(tf.constant(2)).numpy()
    np.int32(4)
    """
    if experimental_relax_shapes is not None:
        reduce_retracing = truth("experimental_relax_shapes", experimental_relax_shapes)
    if experimental_compile is not None:
        jit_compile = experimental_compile

    def decorate(inner):
        if not callable(inner):
            raise TypeError(f"tf.function: the decorated object must be callable, got {inner!r}.")
        while isinstance(inner, Function):
            inner = inner.python_function
        name = getattr(inner, "__name__", None) or type(getattr(inner, "func", inner)).__name__
        return Function(
            inner, name.replace("<lambda>", "lambda"), input_signature=input_signature, autograph=autograph,
            jit_compile=jit_compile, reduce_retracing=reduce_retracing, attributes=experimental_attributes,
        )  # fmt: skip

    return decorate if func is None else decorate(func)
