"""Functions of a SavedModel: they become graphs when they are first called, and choose among traces by arguments."""

from __future__ import annotations

import functools
import inspect
import pprint
import weakref
from typing import Any

from headrace._src.core import errors, nest
from headrace._src.core.context import context
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.tracebacks import hide_frames
from headrace._src.core.type_specs import TypeSpec
from headrace._src.graph.messages.function_import import KnownArgument
from headrace._src.saved_model.argument_matching import Mismatch, matched_tensors
from headrace._src.saved_model.saved_library import CapturedTensor, SavedLibrary
from headrace._src.saved_model.structured_values import FunctionSpec
from headrace._src.tracing.arguments import fast_key
from headrace._src.tracing.concrete_function import ConcreteFunction
from headrace._src.tracing.function import Function
from headrace._src.tracing.trace_types import Typing
from headrace._src.tracing.variable_specs import VariableSpec

_PREFIX = "__inference_"


class LoadedConcreteFunction(ConcreteFunction):
    """One trace of a saved function, with the tensors that it is bound to.

    Its graph is made when it is first needed: most functions of a model are never called.
    """

    def __init__(self, name: str, signature: tuple, outputs: Any, library: SavedLibrary) -> None:
        """
        Args:
            name: of the function in the library of the SavedModel.
            signature: (positional arguments, keyword arguments): specs, and values that are part of the graph.
            outputs: the structure of what it returns, of specs.
            library: has its graph.
        """
        self._saved_name = self.name = name
        self._python_name = python_name(name)
        self._signature = signature
        self._saved_outputs = outputs
        self._library = library
        self.captured: list = []
        self._variables: tuple = ()
        self._variable_at: dict = {}  # by number of what is captured
        self._of_replicas: dict = {}  # by the number of a replica of a strategy, this function for it
        self._arg_keywords: list[str] | None = None  # of one that is called by itself: names of flat arguments
        self._num_positional_args = 0
        self._function = None
        self.spec: FunctionSpec | None = None

    def bind(self, nodes) -> None:
        """Say which objects of the model it captures. Only their tensors are kept: objects may keep this function."""
        self.captured = [node if isinstance(node, CapturedTensor) else captured_tensor(node) for node in nodes]
        self._variables = tuple(node for node in nodes if _is_variable(node))
        self._variable_at = {i: node for i, node in enumerate(nodes) if _is_variable(node)}

    def call_flat(self, tensors) -> Any:
        place = context.place
        # Under a strategy, the second and further replicas have copies of the variables.
        of_replica = self if place is None or not place.index else self._with_copies_here(place.index)
        return super(LoadedConcreteFunction, of_replica).call_flat(tensors)

    def _with_copies_here(self, index):
        """The same function, with the copies of variables that the replica of that number has."""
        known = self._of_replicas.get(index)
        if known is None:
            known = LoadedConcreteFunction(self._saved_name, self._signature, self._saved_outputs, self._library)
            known.captured = [self._variable_at[i].handle if i in self._variable_at else tensor
                              for i, tensor in enumerate(self.captured)]  # fmt: skip
            known._variables, known.spec = self._variables, self.spec
            self._of_replicas[index] = known
        return known

    # What the base class keeps in attributes.

    @functools.cached_property
    def graph(self):
        graph = bound_graph(self._library, self._saved_name, self._flat_specs, self._captured, self._saved_outputs)
        graph.used_variables.update((id(variable.handle), variable) for variable in self._variables)
        return graph

    @property
    def _captured(self):
        if any(isinstance(tensor, CapturedTensor) for tensor in self.captured):
            raise ValueError(f"{self._python_name} is the gradient of an operation, and cannot be called by itself.")
        return self.captured

    @functools.cached_property
    def _plain(self):
        return isinstance(self.graph.structured_outputs, Tensor)

    @functools.cached_property
    def is_simple(self):
        leaves = nest.flatten(self._signature)
        dense = all(isinstance(leaf, TensorSpec) or not isinstance(leaf, TypeSpec | VariableSpec) for leaf in leaves)
        return dense and all(isinstance(x, EagerTensor) for x in self._captured)

    @functools.cached_property
    def _captured_arrays(self):
        return [x._a for x in self._captured] if self.is_simple else None

    @functools.cached_property
    def _parameters(self):
        return tuple(parameter for parameter, _ in self._described)

    @functools.cached_property
    def _types(self):
        return tuple(Typing().type_of(value) for _, value in self._described)

    @functools.cached_property
    def _described(self):
        """Pairs of a parameter and what the function takes for it."""
        positional, keyword = self._signature
        known = signature_of(self.spec).parameters.values() if self.spec is not None else ()
        names = [parameter.name for parameter in known if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        pairs = []
        for i, value in enumerate(positional):
            name = names[i] if i < len(names) else f"arg{i}"
            pairs.append((inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD), value))
        for name in sorted(keyword):
            pairs.append((inspect.Parameter(_identifier(name), inspect.Parameter.KEYWORD_ONLY), keyword[name]))
        return pairs

    @property
    def _flat_specs(self):
        """What it takes, tensor by tensor."""
        specs = []
        for leaf in nest.flatten(self._signature):
            if isinstance(leaf, VariableSpec):
                specs += leaf.flatten()
            elif isinstance(leaf, TensorSpec):
                specs.append(leaf)
            elif isinstance(leaf, TypeSpec):
                specs += nest.flatten(leaf, expand_composites=True)
        return specs

    @property
    def function_def(self):
        """The message that it was made of."""
        return self._library.definition(self._saved_name)

    @property
    def structured_input_signature(self) -> Any:
        return self._signature

    @property
    def structured_outputs(self) -> Any:
        return self._saved_outputs

    @property
    def variables(self) -> tuple:
        return self._variables

    @property
    def trainable_variables(self) -> tuple:
        return tuple(variable for variable in self._variables if variable.trainable)

    # Calling.

    def called_by_keywords(self, keywords, positional) -> None:
        """Let the function be called with flat arguments of these names, the first few of them also by position."""
        self._arg_keywords = list(keywords)
        self._num_positional_args = positional

    def tensors_for(self, args, kwargs, convert) -> list:
        """The tensors of arguments that are complete and in their places.

        Raises:
            Mismatch: they do not fit.
        """
        positional, keyword = self._signature
        if len(args) != len(positional):
            raise Mismatch(f"expected {len(positional)} positional arguments, got {len(args)}")
        tensors = []
        for (parameter, expected), value in zip(self._described, args):
            tensors += matched_tensors(expected, value, convert, parameter.name)
        if set(kwargs) != set(keyword):
            raise Mismatch(f"expected the keyword arguments {sorted(keyword)}, got {sorted(kwargs)}")
        for name in sorted(keyword):
            tensors += matched_tensors(keyword[name], kwargs[name], convert, name)
        return tensors

    def _flat_arguments(self, args, kwargs):
        try:
            args, kwargs = self._placed(args, kwargs)
            return checked_values(self.tensors_for(args, kwargs, convert=True), self._python_name)
        except Mismatch as error:
            flat = self._by_keyword(args, kwargs)
            if flat is not None:
                return flat
            self._refuse_dtypes(args, kwargs)
            raise TypeError(f"{self._python_name}: {error}. {self._text_of_signature()}") from None

    def _placed(self, args, kwargs):
        """Arguments by position and by keyword, as the signature has them; Python values may be left out."""
        args, kwargs = list(args), dict(kwargs)
        positional, keyword = self._signature
        if self._arg_keywords is not None and not positional and len(args) <= self._num_positional_args:
            # TF: a signature takes tensors by keyword; the first few also by position, in the order of their names.
            for name, value in zip(self._arg_keywords, args):
                if name in kwargs:
                    raise Mismatch(f"got two values for the argument {name!r}")
                kwargs[name] = value
            args = []
        for i, (parameter, expected) in enumerate(self._described[: len(positional)]):
            if i < len(args):
                continue
            if parameter.name in kwargs:
                args.append(kwargs.pop(parameter.name))
            elif _has_tensors(expected):
                raise Mismatch(f"missing a required argument: {parameter.name!r}")
            else:
                args.append(expected)
        for name, expected in keyword.items():
            if name not in kwargs:
                if _has_tensors(expected):
                    raise Mismatch(f"missing a required argument: {name!r}")
                kwargs[name] = expected
        return tuple(args), kwargs

    def _by_keyword(self, args, kwargs):
        """The tensors of a call with flat arguments, for functions that are saved with names of these."""
        names = self._arg_keywords
        if names is None or len(args) > self._num_positional_args or len(names) != len(self._flat_specs):
            return None
        values = {**dict(zip(names, args)), **kwargs}
        if set(values) != set(names):
            return None
        try:
            return [
                tensor
                for name, spec in zip(names, self._flat_specs)
                for tensor in matched_tensors(spec, values[name], True, name)
            ]
        except Mismatch:
            return None

    def _refuse_dtypes(self, args, kwargs):
        """TF: a tensor of another dtype is not a TypeError, as other arguments that do not fit are."""
        values = nest.flatten((args, kwargs))
        for number, (spec, value) in enumerate(zip(self._flat_specs, values)):
            if isinstance(value, Tensor) and value.dtype is not spec.dtype:
                raise errors.invalid_argument(
                    f"cannot compute {self.name} as input #{number}(zero-based) was expected to be a "
                    f"{spec.dtype.name} tensor but is a {value.dtype.name} tensor [Op:{self.name}]"
                )

    def _short_signature(self):
        parts = [f"{parameter.name}: {kind!r}" for parameter, kind in self._described]
        return f"({', '.join(parts)}) -> {self._saved_outputs!r}"


def python_name(name: str) -> str:
    """The name of the Python function in that of a trace: "f" for "__inference_f_12"."""
    return name.removeprefix(_PREFIX).rstrip("0123456789").removesuffix("_") or name


def checked_values(tensors: list, name: str) -> list:
    """The arguments of a call. A spec, which may stand for one where a trace is asked for, has no value.

    Raises:
        TypeError: one of them is a spec.
    """
    for tensor in tensors:
        if isinstance(tensor, TypeSpec | VariableSpec):
            raise TypeError(f"{name}: expected a value of {tensor}, got this spec itself. Pass a tensor.")
    return tensors


def _identifier(name):
    return name if name.isidentifier() else "".join(c if c.isalnum() else "_" for c in f"arg_{name}")


def _is_variable(node):
    return hasattr(node, "handle") and hasattr(node, "assign")


def _has_tensors(expected):
    return any(isinstance(leaf, TypeSpec | VariableSpec) for leaf in nest.flatten(expected))


def captured_tensor(node: Any) -> Tensor:
    """The tensor by which functions know an object of the model."""
    for attribute in ("handle", "resource_handle", "asset_path"):
        tensor = getattr(node, attribute, None)
        if isinstance(tensor, Tensor):
            return tensor
    if isinstance(node, Tensor):
        return node
    raise errors.invalid_argument(f"A function of the SavedModel is bound to a {type(node).__name__}, no tensor.")


def bound_graph(library: SavedLibrary, name: str, specs: list, captured: list, outputs: Any) -> Any:
    """The graph of a function whose last arguments are bound to tensors."""
    known = [KnownArgument(spec.dtype, spec.shape) for spec in specs]
    known += [KnownArgument(x.dtype, x.shape, x._a if isinstance(x, EagerTensor) else None) for x in captured]
    graph = library.made(name, known)
    _bind(graph, len(specs), captured)
    graph.structured_outputs = _packed(name, outputs, graph.outputs)
    attributes = library.definition(name).attr
    if "_XlaMustCompile" in attributes and attributes["_XlaMustCompile"].b:
        graph.jit_compile = True
    return graph


def _bind(graph, count, captured):
    """Make the inputs after the first `count` stand for tensors from outside."""
    for number, (tensor, inner) in enumerate(zip(captured, graph.inputs[count:], strict=True)):
        key: Any = id(tensor)
        if key in graph._captures:
            key = ("bound again", number)
        graph._captures[key] = (tensor, inner)


def _packed(name, structure, tensors):
    leaves = nest.flatten(structure, expand_composites=True)
    if sum(leaf is not None for leaf in leaves) != len(tensors):
        raise errors.invalid_argument(
            f"Function {name!r} returns {len(tensors)} tensors, but the SavedModel says that it returns {structure!r}."
        )
    rest = iter(tensors)
    flat = [None if leaf is None else next(rest) for leaf in leaves]
    return nest.pack_sequence_as(structure, flat, expand_composites=True)


class RestoredFunction(Function):
    """A function of a SavedModel: the trace is run that fits the arguments; there is no Python code to trace anew."""

    def __init__(self, spec: FunctionSpec, concrete_functions: list[LoadedConcreteFunction], name: str) -> None:
        """
        Args:
            spec: what arguments it takes.
            concrete_functions: its traces.
            name: what it is called where it has none.
        """
        self.concrete_functions = concrete_functions
        for concrete in concrete_functions:
            concrete.spec = spec
        name = concrete_functions[0]._python_name if concrete_functions else name

        this = weakref.ref(self)

        def restored_function_body(*args, **kwargs):
            return this()(*args, **kwargs)

        restored_function_body.__signature__ = signature_of(spec)  # type: ignore[attr-defined]
        restored_function_body.__name__ = name
        super().__init__(restored_function_body, name, autograph=False, jit_compile=spec.jit_compile)
        self._spec = spec
        self._quick: dict = {}  # by `fast_key`, for calls whose arguments are used as they are

    @property
    def function_spec(self) -> FunctionSpec:
        return self._spec

    @property
    def input_signature(self):
        return self.function_spec.input_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            key = None
            if context.mode is None and not kwargs:
                key = fast_key(args)
                concrete = self._quick.get(key) if key is not None else None
                if concrete is not None:
                    return concrete.call_arrays([x._a for x in args if type(x) is EagerTensor])
            concrete, tensors = self._chosen(args, kwargs)
            if key is not None and concrete.is_simple:
                passed = [x for x in args if type(x) is EagerTensor]
                if len(passed) == len(tensors) and all(a is b for a, b in zip(passed, tensors)):
                    if len(self._quick) > 1000:
                        self._quick.clear()
                    self._quick[key] = concrete
            return concrete.call_flat(checked_values(tensors, self._name))
        except BaseException as error:
            hide_frames(error)
            raise

    def _chosen(self, args, kwargs):
        """The trace for some arguments, and their tensors."""
        args, kwargs = self._canonical(args, kwargs)
        for convert in (False, True):
            for concrete in self.concrete_functions:
                try:
                    return concrete, concrete.tensors_for(args, kwargs, convert)
                except Mismatch:
                    continue
        if self.function_spec.input_signature is not None:
            raise self._not_bound(self._mismatch(args, kwargs), args, kwargs)
        raise ValueError(self._no_match(args, kwargs))

    def _mismatch(self, args, kwargs):
        for concrete in self.concrete_functions:
            try:
                concrete.tensors_for(args, kwargs, convert=True)
            except Mismatch as error:
                return error
        return "it has no traces"

    def _not_bound(self, reason, args, kwargs):
        names = ", ".join(map(str, self._parameters))
        return TypeError(
            f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and kwargs: {kwargs} for "
            f"signature: ({names})."
        )

    def _canonical(self, args, kwargs):
        try:
            bound = inspect.Signature(self._parameters).bind(*args, **kwargs)
        except TypeError as error:
            raise self._not_bound(error, args, kwargs) from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def _no_match(self, args, kwargs):
        if not self.concrete_functions:
            return (
                f"Found zero restored functions for caller function {self._name!r}: when the model was saved, this "
                "tf.function had never been called and had no input_signature, so that the SavedModel holds no "
                "computation of it. Before saving, call it once, give it an input_signature, or call its "
                "get_concrete_function with the types that it shall take."
            )
        options = []
        for number, concrete in enumerate(self.concrete_functions, 1):
            positional, keyword = concrete.structured_input_signature
            try:
                concrete.tensors_for(args, kwargs, convert=True)
                reason = ""
            except Mismatch as error:
                reason = f"\n  It does not fit: {error}"
            text = f"{_positional_text(positional)}\n  Keyword arguments: {keyword}{reason}"
            options.append(f"Option {number}:\n  {text}")
        listed = "\n\n".join(options)
        return (
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n  "
            f"{_positional_text(args)}\n  Keyword arguments: {kwargs}\n\n Expected these arguments to match one of the "
            f"following {len(self.concrete_functions)} option(s):\n\n{listed}"
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace that runs for arguments of these types; a spec may stand for a tensor."""
        if not args and not kwargs and len(self.concrete_functions) == 1:
            return self.concrete_functions[0]
        return self._chosen(args, kwargs)[0]

    def _list_all_concrete_functions(self):
        return self.concrete_functions

    def _list_all_concrete_functions_for_serialization(self):
        return self.concrete_functions

    def __get__(self, instance, owner=None):
        return self  # bound to its tensors already


def _positional_text(values):
    lines = "\n    * ".join(pprint.pformat(value) for value in values)
    return f"Positional arguments ({len(values)} total):\n    * {lines}"


def signature_of(spec: FunctionSpec) -> inspect.Signature:
    """The parameters of a saved function, without the object that a method belonged to.

    Raises:
        ValueError: no Python function has such parameters.
    """
    arguments = spec.fullargspec
    names, defaults = list(arguments.args), list(arguments.defaults or ())
    if len(defaults) > len(names):
        raise ValueError(f"a function has {len(defaults)} default values for {len(names)} arguments")
    missing: list = [inspect.Parameter.empty] * (len(names) - len(defaults))
    pairs = list(zip(names, missing + defaults))
    if names and (spec.is_method or names[0] == "self"):
        del pairs[0]
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=d) for n, d in pairs]
    if arguments.varargs:
        parameters.append(inspect.Parameter(arguments.varargs, inspect.Parameter.VAR_POSITIONAL))
    given = arguments.kwonlydefaults or {}
    for name in arguments.kwonlyargs or ():
        default = given.get(name, inspect.Parameter.empty)
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
    if arguments.varkw:
        parameters.append(inspect.Parameter(arguments.varkw, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)
