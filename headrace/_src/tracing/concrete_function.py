"""`ConcreteFunction`: a graph with the signature of the Python function that it was traced from."""

import inspect
import itertools
import weakref
from typing import TYPE_CHECKING, Any

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import hide_frames
from headrace._src.core.tracing_protocol import CastContext, PlaceholderContext, TraceType
from headrace._src.core.trackable import Trackable
from headrace._src.graph.building.func_graph import register_executables
from headrace._src.graph.compiling.compilation import executable_of
from headrace._src.graph.control.calls import call_graph
from headrace._src.graph.control.conditional import pack_outputs
from headrace._src.graph.passes.implementations import add_implementation
from headrace._src.op.convert import to_tensor
from headrace._src.tracing.arguments import FAILED
from headrace._src.tracing.function_types import FunctionType, Parameter
from headrace._src.tracing.trace_types import Identity, Literal, Typing
from headrace._src.tracing.variable_specs import VariableSpec

if TYPE_CHECKING:
    from headrace._src.tracing.atomic_function import AtomicFunction

_atomic_functions = LazyModule("headrace._src.tracing.atomic_function")  # few programs ask for one
_numbers = itertools.count(1)
register_executables(executable_of)  # what is called often is compiled


class ConcreteFunction(Trackable):
    """A traced function for arguments of certain types.

    Call it like the Python function it came from; arguments that were Python values when it was traced may be left out.
    Or with nothing but the tensors of the arguments, in order or by the names of the graph's inputs.
    """

    _is_saved_function = True

    def __init__(self, graph, parameters, types, name, function=None) -> None:
        """
        Args:
            graph: the FuncGraph; its inputs are the tensors of the arguments, then the captures.
            parameters: inspect.Parameter for each argument, in order.
            types: the trace type of each argument.
            name: of the Python function.
            function: the `Function` that it is a trace of, if any.
        """
        self.graph = graph
        self._parameters = parameters
        self._types = types
        self._python_name = name
        self.name = f"__inference_{name}_{next(_numbers)}"
        self._captured = graph.external_captures
        self._plain = isinstance(graph.structured_outputs, Tensor)
        self._function = None if function is None else weakref.ref(function)
        graph.jit_compile = getattr(function, "jit_compile", None)
        graph.implements = getattr(function, "implements", None)
        # Whether a call can go straight to arrays: the arguments are tensors and values, all captures are eager.
        self.has_eager_captures = all(isinstance(x, EagerTensor) for x in self._captured)
        self.is_simple = self.has_eager_captures and all(type(kind) in (TensorSpec, Literal) for kind in types)
        self._captured_arrays = [x._a for x in self._captured] if self.has_eager_captures else None

    def add_to_graph(self, g=None, overwrite=False) -> None:
        """Let a graph have the function, beside those that its operations call.

        It then runs in the place of another implementation of the same: see `experimental_attributes` of `tf.function`.

        Args:
            g: the graph; by default the current one.
            overwrite: accepted.
        """
        add_implementation(self.graph, context.graph if g is None else g)

    def add_gradient_functions_to_graph(self, g=None) -> None:
        """The same for the function's gradient, which is made when somebody asks for it.

        Args:
            g: the graph; by default the current one.
        """

    # Calling.

    def __call__(self, *args, **kwargs) -> Any:
        try:
            return self.call_flat(self._tensors(args, kwargs))
        except BaseException as error:
            hide_frames(error)
            raise

    def _tensors(self, args, kwargs):
        try:
            return self._flat_arguments(args, kwargs)
        except TypeError as error:
            tensors = self._only_tensors(args, kwargs)
            if tensors is None:
                raise error from None
            return tensors

    def call_flat(self, tensors) -> Any:
        """Call with the tensors of the arguments in order."""
        results = call_graph(self.graph, [*tensors, *self._captured])
        if self._plain:
            return results[0]
        return pack_outputs(self.graph.structured_outputs, results)

    def call_arrays(self, arrays) -> Any:
        """The shortest way of a call in plain eager execution, for functions that have `has_eager_captures`."""
        graph = self.graph
        results = context.run_quietly(graph.executable().run, arrays + self._captured_arrays)
        if self._plain:
            return EagerTensor(results[0], graph.outputs[0].dtype)
        tensors = [EagerTensor(array, tensor.dtype) for array, tensor in zip(results, graph.outputs)]
        return pack_outputs(graph.structured_outputs, tensors)

    def _flat_arguments(self, args, kwargs):
        args, kwargs = list(args), dict(kwargs)
        tensors = []
        for parameter, kind in zip(self._parameters, self._types):
            name = parameter.name
            if parameter.kind is parameter.VAR_POSITIONAL:
                value = tuple(args)
                args = []
            elif parameter.kind is parameter.VAR_KEYWORD:
                value = kwargs
                kwargs = {}
            elif name in kwargs:
                value = kwargs.pop(name)
            elif args and parameter.kind is not parameter.KEYWORD_ONLY:
                value = args.pop(0)
            elif isinstance(kind, Literal) or not kind.flatten():
                continue  # part of the graph
            else:
                raise TypeError(
                    f"{FAILED}: {self._python_name}: missing a required argument: {name!r}. {self._text_of_signature()}"
                )
            try:
                value = kind.cast(value, CastContext())
            except (AssertionError, TypeError, ValueError) as error:
                if isinstance(kind, TensorSpec):
                    value = self._checked(value, kind, name)
                else:
                    raise TypeError(
                        f"{FAILED}: {self._python_name}: argument {name!r}: {error}. {self._text_of_signature()}"
                    ) from None
            tensors.extend(kind.to_tensors(value) if not isinstance(kind, TensorSpec) else [value])
        if args or kwargs:
            raise TypeError(
                f"{FAILED}: {self._python_name}: too many arguments: {[*args, *kwargs]}. {self._text_of_signature()}"
            )
        return tensors

    def _only_tensors(self, args, kwargs):
        """The arguments as tensors alone, without structures and Python values; None when that is not what they are."""
        inputs = self.graph.inputs[: len(self.graph.inputs) - len(self._captured)]
        names = [tensor.op.name for tensor in inputs]
        if len(args) > len(inputs) or kwargs.keys() != set(names[len(args) :]):
            return None
        tensors = []
        for value, place in zip([*args, *(kwargs[name] for name in names[len(args) :])], inputs):
            if place.dtype is dtypes.resource:
                value = getattr(value, "handle", value)
            elif not isinstance(value, Tensor) and hasattr(value, "handle"):
                value = to_tensor(value)
            if not isinstance(value, Tensor):
                return None
            tensors.append(self._checked(value, TensorSpec(place.shape, place.dtype), place.op.name))
        return tensors

    def _checked(self, value, spec, name):
        tensor = to_tensor(value, None, spec.dtype)
        if tensor.dtype is not spec.dtype:
            raise errors.invalid_argument(
                f"cannot compute {self.name} as argument {name!r} was expected to be a {spec.dtype.name} tensor but is "
                f"a {tensor.dtype.name} tensor [Op:{self.name}]"
            )
        if not spec.shape.is_compatible_with(tensor.shape):
            raise errors.invalid_argument(
                f"{self._python_name}: argument {name!r} must have shape {spec.shape}, got {tensor.shape}. "
                f"[Op:{self.name}]"
            )
        return tensor

    # What it is.

    @property
    def inputs(self) -> list:
        """The inputs of the graph: arguments, then captures."""
        return self.graph.inputs

    @property
    def outputs(self) -> list:
        """The outputs of the graph."""
        return self.graph.outputs

    @property
    def captured_inputs(self) -> list:
        """The tensors from outside that are passed after the arguments."""
        return self._captured

    # TF: packages that write a function's graph without some of what it captures take that out here, and restore it.
    @property
    def _captured_inputs(self):
        return self._captured

    @_captured_inputs.setter
    def _captured_inputs(self, tensors):
        self._captured[:] = tensors

    @property
    def variables(self) -> tuple:
        """The variables that the function uses."""
        return tuple(self.graph.used_variables.values())

    @property
    def trainable_variables(self) -> tuple:
        """Those of the variables that are trained."""
        return self.graph.trainable_variables

    @property
    def structured_input_signature(self) -> Any:
        """(positional, keyword) arguments: specs for tensors, values for what is part of the graph."""
        positional, keyword = [], {}
        for parameter, kind in zip(self._parameters, self._types):
            if parameter.kind is parameter.KEYWORD_ONLY:
                keyword[parameter.name] = _described(kind, parameter.name)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                positional.extend(_described(kind, parameter.name))
            elif parameter.kind is parameter.VAR_KEYWORD:
                described = [_described(child, key) for key, child in zip(kind.keys, kind.children)]
                keyword.update(kind.packed(described))
            else:
                positional.append(_described(kind, parameter.name))
        return tuple(positional), keyword

    @property
    def structured_outputs(self) -> Any:
        """What the function returns, as symbolic tensors."""
        return self.graph.structured_outputs

    @property
    def output_shapes(self) -> Any:
        """The shapes of the outputs; of a ragged or sparse one, a list of those of its parts."""
        return self._of_outputs("shape", TensorShape(None))

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the outputs; of a ragged or sparse one, a list of those of its parts."""
        return self._of_outputs("dtype", None)

    def _of_outputs(self, attribute, of_none):
        def of(x):
            if x is None:
                return of_none
            parts = nest.flatten(x, expand_composites=True)
            values = [getattr(part, attribute) for part in parts]
            return values[0] if len(parts) == 1 and parts[0] is x else values

        return nest.map_structure(of, self.graph.structured_outputs)

    @property
    def function_type(self) -> FunctionType:
        """The signature with types as annotations, that of the result too."""
        parameters = [Parameter(p.name, p.kind, annotation=t) for p, t in zip(self._parameters, self._types)]
        captures = {str(id(outer)): TensorSpec(inner.shape, inner.dtype) for outer, inner in self.graph.captures}
        return FunctionType(parameters, captures, nest_type(self.graph.structured_outputs))

    @property
    def inference_fn(self) -> "AtomicFunction":
        """The graph with flat arguments and results."""
        return _atomic_functions.AtomicFunction(self.name, self.graph, self.function_type)

    @property
    def function_def(self) -> Any:
        """The graph as a message `FunctionDef`."""
        return self.inference_fn.definition

    def _text_of_signature(self):
        return f"Its signature: {self._short_signature()}"

    def _single_parameters(self):
        """(name, kind, type) of each argument, those of `*args` and `**kwargs` one by one."""
        single = []
        for parameter, kind in zip(self._parameters, self._types):
            if parameter.kind is parameter.VAR_POSITIONAL:
                names = [f"{parameter.name}_{i}" for i in range(len(kind.children))]
                single += [(name, parameter.POSITIONAL_ONLY, child) for name, child in zip(names, kind.children)]
            elif parameter.kind is parameter.VAR_KEYWORD:
                single += [(key, parameter.KEYWORD_ONLY, child) for key, child in zip(kind.keys, kind.children)]
            else:
                single.append((parameter.name, parameter.kind, kind))
        return single

    def _short_signature(self):
        parts, before = [], None
        for name, place, kind in self._single_parameters():
            if before is inspect.Parameter.POSITIONAL_ONLY is not place:
                parts.append("/")
            if place is inspect.Parameter.KEYWORD_ONLY is not before:
                parts.append("*")
            parts.append(f"{name}: {kind!r}")
            before = place
        if before is inspect.Parameter.POSITIONAL_ONLY:
            parts.append("/")
        return f"({', '.join(parts)}) -> {type_text(self.graph.structured_outputs)}"

    def pretty_printed_signature(self, verbose=True) -> str:
        """The signature, one argument per line."""
        if not verbose:
            return self._short_signature()
        lines = ["Input Parameters:"]
        lines += [f"  {name} ({place.name}): {kind!r}" for name, place, kind in self._single_parameters()]
        lines += ["Output Type:", f"  {type_text(self.graph.structured_outputs)}", "Captures:"]
        for outer, inner in self.graph.captures:
            lines.append(f"  {id(outer)}: TensorSpec(shape={inner.shape}, dtype={inner.dtype!r}, name=None)")
        if lines[-1] == "Captures:":
            lines.append("  None")
        return "\n".join(lines)

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self):
        return f"<ConcreteFunction {self._short_signature()} at 0x{id(self):X}>"


def _described(kind, name):
    """A type as `structured_input_signature` shows it."""
    if isinstance(kind, TensorSpec):
        return TensorSpec(kind.shape, kind.dtype, kind.name or name)
    if isinstance(kind, Literal):
        return kind.value
    children = getattr(kind, "children", None)
    if children is not None:
        names = kind.keys if kind.keys is not None else range(len(children))
        return kind.packed([_described(child, f"{name}_{key}") for key, child in zip(names, children)])
    if isinstance(kind, VariableSpec) or kind.flatten() or (isinstance(kind, Identity) and kind.is_gone):
        return kind
    return kind.placeholder_value(PlaceholderContext())


def type_text(structure) -> str:
    """The types of a structure of tensors as text."""
    return repr(nest_type(structure))


def nest_type(structure) -> TraceType:
    """The trace type of what a function returns."""
    return Typing().type_of(structure)
