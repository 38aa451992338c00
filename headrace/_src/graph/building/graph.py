"""`Graph`: operations in the order in which they were made."""

import contextlib
import re
import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.core import dtypes, errors, types
from headrace._src.core.context import CurrentGraph, context
from headrace._src.core.handle_data import output_handle_data
from headrace._src.core.names import NameTable, current_name_scope, fresh_scope, name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.thread_state import carried
from headrace._src.graph.building.node_names import operand_name
from headrace._src.graph.building.operation import Operation, called_graphs, is_stateful
from headrace._src.graph.building.source_lines import users_line
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.op.api import api
from headrace._src.op.apply import output_types
from headrace._src.op.attached import open_class
from headrace._src.op.convert import eager_constant
from headrace._src.op.definition import Op, Spec
from headrace._src.op.observers import node_rewriters
from headrace._src.ops.arrays.filling import CONST
from headrace._src.program import device_scopes

if TYPE_CHECKING:
    from headrace._src.attached import BaseGraphMethods
    from headrace._src.compat.sessions.session import BaseSession
else:
    BaseGraphMethods = types.FOR_CHECKERS

# How many elements a value may have to be computed while the graph is built, for the sake of shapes.
_SMALL = 64


def _not_fed(dtype, shape):
    raise errors.invalid_argument(f"You must feed a value for placeholder tensor with dtype {dtype.name}.")


PLACEHOLDER = Op(
    "Placeholder",
    "*, dtype: type, shape: shape = None -> output: dtype",
    infer=lambda dtype, shape: TensorShape(shape),
    kernel=_not_fed,
    lower=None,  # an input of the program, never computed
    grad=None,
    stateful=True,
)


class _Sessions(threading.local):
    """The sessions that this thread has made the default, the innermost last."""

    def __init__(self):
        self.stack = []


sessions = carried(_Sessions())


@open_class
class BaseGraph(BaseGraphMethods, CurrentGraph):
    """What all graphs share: operations are added by `apply`, in order, while the graph is the current one."""

    # Where compat/variables/scopes.py keeps what `tf.compat.v1.get_variable` made.
    variable_store: object = None
    layer_counts: dict[tuple[str, str], int] | None = None
    # Of the body of an operation: what that is called, with its scopes. Tags of summaries in it begin so.
    body_scope: str = ""
    # What `ConcreteFunction.add_to_graph` has added, by what it is an implementation of: passes/implementations.py.
    implementations: dict[str, list] | None = None

    def __init__(self) -> None:
        self.nodes: list[Operation] = []
        self.tensors: list[SymbolicTensor] = []  # the outputs of all nodes, which hold them weakly
        self.names = NameTable()
        self.seed = None
        self.reference = self._make_reference()
        self._seeds_drawn = 0
        self._scope_names: set[str] = set()  # names of operations that have the name of a scope
        self._control_inputs: tuple = ()
        self._constants: dict[int, tuple] = {}  # id of an eager tensor to it and the node that stands for it
        self._captures: dict[int, tuple] = {}  # in functions: id of an outer tensor to it and the input for it
        self.used_variables: dict[int, object] = {}  # id of the handle to the variable, for those that are used
        # Traces of a `tf.function` that use tensors of this graph, and are of no use elsewhere: by function and types.
        self.local_functions: dict[object, dict] = {}

    def _make_reference(self):
        return weakref.ref(self)

    def next_op_seed(self) -> int:
        """The seed for a random op without one. TF: each graph counts them."""
        self._seeds_drawn += 1
        return self._seeds_drawn - 1

    # Adding operations.

    def add_node(self, op, tensors, attrs, types, name=None) -> Any:
        """Add an operation; returns its outputs as `apply` wants them.

        Args:
            op: the op.
            tensors: one tensor per input, or a list for an input that is a list.
            attrs: all attributes by name, in canonical form.
            types: the type attributes that the inputs determine.
            name: a wish for the operation's name.
        """
        flat, specs, known = [], [], True
        name = self._name_of(op, name)
        for argument, tensor in zip(op.signature.inputs, tensors):
            if type(tensor) is list:
                inner = [self.inside(item, (name, argument, i)) for i, item in enumerate(tensor)]
                flat.extend(inner)
                specs.append([_spec_of(x) for x in inner])
                known = known and all(x._known is not None for x in inner)
            else:
                x = self.inside(tensor, (name, argument))
                flat.append(x)
                specs.append(_spec_of(x))
                known = known and x._known is not None
        location = users_line()
        try:
            shapes = op.infer(*specs, **attrs)
        except (ValueError, LookupError, ArithmeticError, MemoryError, errors.InvalidArgumentError) as error:
            raise _build_error(op, specs, error) from None
        missing = [a for a in op.type_attributes if a not in types and a not in attrs]
        if missing:
            raise errors.GraphBuildError(f"{op.name}: an empty list has no dtype {missing[0]}. [Op:{op.name}]")
        outputs = self.create(op, tuple(flat), attrs, types, shapes, name + ":", location)
        if known and flat and not op.stateful and not _calls_python(op, attrs):
            _compute(op, specs, attrs, outputs)
        elif op.partial is not None:
            _note_elements(outputs[0], op.partial(*specs, **attrs))
        for tensor in outputs:
            if type(tensor) is SymbolicTensor and tensor.dtype is dtypes.variant:
                tensor._handle_data = output_handle_data(op.handle_data, specs, attrs, types)
                break  # what is taken out of a list comes after the list
        for rewrite in node_rewriters:
            outputs = rewrite(op, outputs)
        return outputs

    def create(self, op, inputs, attrs, types, shapes, name=None, location=("", 0, "")) -> Any:
        """Add an operation whose inputs are tensors of this graph and whose output shapes are known.

        Its name is made unique, unless it ends in a colon: such a name is unique already.
        """
        name = name[:-1] if name is not None and name.endswith(":") else self._name_of(op, name)
        device = context.mode.device if context.mode is not None else None
        node = Operation(self, op, inputs, attrs, types, name, location, device or "")
        node.index = len(self.nodes)
        if self._control_inputs:
            node.control_inputs = self._control_inputs
        self.nodes.append(node)
        if op.single_output:
            tensor = SymbolicTensor(node, 0, _shape(shapes), output_types(op.signature.outputs[0], attrs, types))
            node.set_outputs((tensor,))
            return (tensor,)
        flat, outputs = [], []
        for argument, shape in zip(op.signature.outputs, shapes if op.number_of_outputs > 1 else (shapes,)):
            dtype = output_types(argument, attrs, types)
            if argument.is_list:
                if isinstance(shape, tuple) and len(shape) == 1 and isinstance(shape[0], list):
                    shape = shape[0]  # the only output, a list
                kinds = dtype if argument.type_list else [dtype] * len(shape)
                pairs = enumerate(zip(shape, kinds), len(flat))
                items = [SymbolicTensor(node, i, _shape(s), d) for i, (s, d) in pairs]
                flat.extend(items)
                outputs.append(items)
            else:
                tensor = SymbolicTensor(node, len(flat), _shape(shape), dtype)
                flat.append(tensor)
                outputs.append(tensor)
        node.set_outputs(flat)
        return tuple(outputs)

    def _name_of(self, op, name):
        """A name for a new operation, given a wish or None."""
        if name is None:
            return self.names.unique_name(op.node_name)
        if not name.endswith("/"):
            return self.names.unique_name(name)
        # TF: the name of a scope, which an operation may have as it is.
        name = name[:-1] if name not in self._scope_names else self.names.unique_full_name(name[:-1])
        self._scope_names.add(name + "/")
        return name

    def inside(self, tensor, operand=None) -> SymbolicTensor:
        """The tensor of this graph that stands for `tensor`.

        Args:
            operand: what reads it, in case that it is new here: the name of an operation, one of its arguments, and the
                position in a list. TF: it is named after its reader.
        """
        if type(tensor) is SymbolicTensor and tensor.op._graph is self.reference:
            if tensor.op.record is CONST and operand is not None and tensor.op.is_operand:
                tensor.op.is_operand = False
                self.names.release(tensor.op.name)
                tensor.op.name = self._name_of(CONST, operand_name(*operand))
            return tensor
        name = None if operand is None else operand_name(*operand)
        inner = self.capture(tensor, name)
        number = getattr(tensor, "_id", None)
        if number is not None:
            inner._id = number  # tapes know both by one number: gradients may read the inner one
        return inner

    def capture(self, tensor, name=None) -> Any:
        """The tensor of this graph that stands for one from outside."""
        raise NotImplementedError

    def constant(self, tensor, name=None) -> SymbolicTensor:
        """A constant of this graph with the value of an eager tensor."""
        if type(tensor) is not EagerTensor:
            return self.inside(tensor)
        constant = self.constant_array(tensor._a, tensor.dtype, name)
        if name is None:
            constant.op.is_operand = True  # the operation that reads it first will name it
        return constant

    def constant_array(self, array, dtype, name=None) -> SymbolicTensor:
        """A constant of this graph."""
        attrs = {"value": EagerTensor(array, dtype), "dtype": dtype}
        (tensor,) = self.create(CONST, (), attrs, {}, TensorShape(array.shape), name, users_line())
        tensor._known = array
        return tensor

    def shared_constant(self, tensor, name=None) -> SymbolicTensor:
        """The constant for an eager tensor, the same one each time; `name` is a wish for a new one."""
        entry = self._constants.get(id(tensor))
        if entry is None:
            before, self._control_inputs = self._control_inputs, ()
            entry = self._constants[id(tensor)] = (tensor, self.constant_array(tensor._a, tensor.dtype, name))
            self._control_inputs = before
        return entry[1]

    def placeholder(self, shape, dtype, name=None) -> SymbolicTensor:
        """An input of this graph."""
        shape = TensorShape(shape)
        attrs = {"dtype": dtype, "shape": None if shape.rank is None else tuple(shape.as_list())}
        return self.create(PLACEHOLDER, (), attrs, {}, shape, name, users_line())[0]

    # Asking.

    @property
    def is_stateful(self) -> bool:
        """Whether running the graph does more than compute outputs from inputs."""
        return any(node.record is not PLACEHOLDER and is_stateful(node) for node in self.nodes)

    def get_operations(self) -> list:
        """All operations, in the order in which they were made."""
        return list(self.nodes)

    def get_operation_by_name(self, name) -> Operation:
        """The operation of that name.

        Raises:
            KeyError: there is none.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    def get_tensor_by_name(self, name) -> Tensor:
        """The tensor called "operation:index".

        Raises:
            KeyError: there is none. ValueError: `name` is not of the form "operation:index".
        """
        operation, colon, index = name.rpartition(":")
        if not colon or not index.isdecimal():
            raise ValueError(
                f"The name {name!r} looks like an Operation's, not a Tensor's: these end in ':0', ':1', ..."
            )
        try:
            node = self.get_operation_by_name(operation)
        except KeyError:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, {operation!r}, does not "
                "exist in the graph."
            ) from None
        outputs = node.outputs
        if int(index) >= len(outputs):
            raise KeyError(f"The name {name!r} refers to a Tensor which does not exist: {operation!r} has "
                           f"{len(outputs)} outputs.")
        return outputs[int(index)]

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True) -> Any:
        """The tensor or operation of this graph that `obj` is or names."""
        if isinstance(obj, str):
            if ":" in obj and allow_tensor:
                return self.get_tensor_by_name(obj)
            if ":" not in obj and allow_operation:
                return self.get_operation_by_name(obj)
            if ":" in obj:
                raise ValueError(f"The name {obj!r} is that of a Tensor, not of an Operation.")
            raise ValueError(f"The name {obj!r} is that of an Operation, not of a Tensor, which would be '{obj}:0'.")
        converter = getattr(obj, "_as_graph_element", None)
        if converter is not None:
            obj = converter()
        wanted = ([SymbolicTensor] if allow_tensor else []) + ([Operation] if allow_operation else [])
        if isinstance(obj, tuple(wanted)):
            if obj.graph is not self:
                raise ValueError(f"{obj!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation.")

    def unique_name(self, name, mark_as_used=True) -> str:
        """`name` under the open scope, made unique in this graph."""
        return self.names.unique_name(name, mark_as_used)

    @property
    def version(self) -> int:
        """A number that grows with every operation."""
        return len(self.nodes)

    def default_session(self) -> "BaseSession | None":
        """The session that `eval` and `run` use: that of the innermost `with session.as_default()`."""
        return sessions.stack[-1] if sessions.stack else None

    # Scopes.

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Any]:
        """Within this block, operations are added to this graph."""
        # TF: the open scopes belong to the graph, so entering it again leaves them open; and tapes go on.
        if context.graph is self:
            with fresh_scope(current_name_scope()):
                yield self
            return
        before = context.change(graph=self, recorders=(), device=None)
        try:
            with fresh_scope(""):
                yield self
        finally:
            context.mode = before

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs) -> Iterator[None]:
        """Operations made within this block run only after `control_inputs`; None forgets those of outer blocks."""
        before = self._control_inputs
        if control_inputs is None:
            self._control_inputs = ()
        else:
            found = list(before)
            for item in control_inputs:
                node = _operation_of(self.as_graph_element(item) if isinstance(item, str) else item)
                if node is not None and node._graph is self.reference and node not in found:
                    found.append(node)
            self._control_inputs = tuple(found)
        try:
            yield
        finally:
            self._control_inputs = before


def _operation_of(item):
    if isinstance(item, Operation):
        return item
    if isinstance(item, SymbolicTensor):
        return item.op
    converter = getattr(item, "_as_graph_element", None)
    if converter is not None:
        return _operation_of(converter())
    values = getattr(item, "values", None)  # IndexedSlices
    if isinstance(values, SymbolicTensor):
        return values.op
    return None  # an eager tensor: its value is there already


def _shape(shape):
    return shape if type(shape) is TensorShape else TensorShape(shape)


def _spec_of(tensor):
    spec = Spec(tensor._shape, tensor.dtype, tensor._known, tensor._partial)
    if tensor.dtype is dtypes.variant:
        spec.handle_data = tensor._handle_data
    return spec


def _note_elements(tensor, elements):
    """Remember the elements of a shape that are certain; when all are, the tensor is as good as a constant."""
    tensor._partial = elements
    if isinstance(elements, list) and elements and isinstance(elements[0], list):
        return
    if elements is not None and None not in (elements if isinstance(elements, list) else [elements]):
        tensor._known = np.array(elements, tensor.dtype._np)


def _calls_python(op, attrs):
    """Whether an operation calls Python code of the user's, itself or in a graph that it calls."""
    if op.quiet:
        return False
    if op.lower is None:
        return True
    return any(_calls_python(node.record, node.attrs) for graph in called_graphs(attrs) for node in graph.nodes)


def _compute(op, specs, attrs, outputs):
    """Compute small values that depend on constants only, for the sake of shapes; errors are left to the run."""
    tensors = outputs[0] if len(outputs) == 1 and type(outputs[0]) is list else outputs
    if any(type(t) is list or not _is_small(t) for t in tensors):
        return
    for spec in specs:
        if any(s.value.size > _SMALL or s.dtype._kind in "rv" for s in (spec if type(spec) is list else (spec,))):
            return
    arrays = [[s.value for s in spec] if type(spec) is list else spec.value for spec in specs]
    try:
        results = context.run_quietly(op.kernel, *arrays, **attrs)
    except Exception:
        return
    for tensor, result in zip(tensors, (results,) if op.single_output else results):
        array = result if isinstance(result, np.ndarray) else eager_constant(result, tensor.dtype)._a
        if array.dtype == tensor.dtype._np:
            tensor._known = array
            if tensor._shape.rank is None or not tensor._shape.is_fully_defined():
                tensor._shape = TensorShape(array.shape)


def _is_small(tensor):
    if tensor.dtype._kind in "rv":
        return False
    size = tensor._shape.num_elements()
    return size is None or size <= _SMALL


_LONGEST = 2000  # characters of a part of a message: graphs of others have shapes of any length


def _build_error(op, specs, error):
    shapes = ", ".join(
        f"{argument.name} {[str(s.shape) for s in spec] if type(spec) is list else spec.shape}"
        for argument, spec in zip(op.signature.inputs, specs)
    )
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    text, shapes = (x if len(x) <= _LONGEST else f"{x[:_LONGEST]} ..." for x in (text, shapes))
    if not text.startswith(op.name):
        text = f"{op.name}: {text}"
    return errors.GraphBuildError(None, None, f"{text.rstrip('. ')}. Got {shapes}. [Op:{op.name}]")


def is_dense_value(dtype: dtypes.DType) -> bool:
    """Whether tensors of this dtype have elements, rather than standing for a resource or an object."""
    return dtype._kind not in "rv"


class _GraphClass(type):
    """TF: the graph of a function is a `tf.Graph` too."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, BaseGraph) if cls is Graph else super().__instancecheck__(instance)


@api("Graph")
@open_class
class Graph(BaseGraph, metaclass=_GraphClass):
    """A graph of operations, built once and run by a `tf.compat.v1.Session`.

    >>> with tf.Graph().as_default() as graph:
    ...     x = tf.constant(1.0, name="x")
    >>> graph.get_tensor_by_name("x:0") is x
    True
    """

    def __init__(self) -> None:
        super().__init__()
        self._collections: dict[str, list] = {}
        self._finalized = False
        self._container = ""
        self._gradient_overrides: dict[str, str] = {}
        self._unfeedable: set[int] = set()
        self.restrictions = 0  # how often something was excluded from feeds or fetches
        self._unfetchable: set[int] = set()

    def _make_reference(self):
        # A tensor of a user's graph keeps the graph alive: people return a tensor and make a session of its graph.
        return lambda: self

    def capture(self, tensor, name=None) -> Tensor:
        if type(tensor) is EagerTensor:
            if is_dense_value(tensor.dtype) or tensor.dtype is dtypes.resource:
                return self.shared_constant(tensor, name)
            raise RuntimeError("Attempting to capture an EagerTensor without building a function.")
        raise ValueError(f"{tensor!r} must be from the same graph as the operations that use it.")

    def create(self, op, *args, **kwargs) -> Any:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        outputs = super().create(op, *args, **kwargs)
        override = self._gradient_overrides.get(op.name)
        if override is not None:
            self.nodes[-1].gradient_override = override
        return outputs

    building = BaseGraph.as_default

    def finalize(self) -> None:
        """Refuse further operations."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        """Allow further operations again. TF: who monitors a session lets go of its graph so."""
        self._finalized = False

    @property
    def finalized(self) -> bool:
        return self._finalized

    # Scopes.

    @contextlib.contextmanager
    def name_scope(self, name) -> Iterator[Any]:
        """A scope for the names of operations; None or "" leaves all scopes."""
        with name_scope(name or "") as scope:
            yield scope

    def get_name_scope(self) -> str:
        """The name of the open scope, without a slash at the end."""
        return current_name_scope()

    @contextlib.contextmanager
    def container(self, container_name) -> Iterator[Any]:
        """Variables made within this block are kept in that container of the session."""
        before, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = before

    @contextlib.contextmanager
    def colocate_with(self, op, ignore_existing=False) -> Iterator[None]:
        """Operations made within this block belong on the device of `op`. There is one device."""
        yield

    def device(self, device_name_or_function) -> contextlib.AbstractContextManager:
        """Operations made within this block belong on that device; a function is given each operation."""
        if callable(device_name_or_function):
            return contextlib.nullcontext()  # there is one device to choose from
        return device_scopes.device(device_name_or_function)

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map) -> Iterator[None]:
        """Operations made within this block are differentiated by functions that `tf.RegisterGradient` registered.

        Args:
            op_type_map: op type to the name under which a function is registered.
        """
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for pair in op_type_map.items():
            if not all(isinstance(item, str) for item in pair):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        before = self._gradient_overrides
        self._gradient_overrides = {**before, **op_type_map}
        try:
            yield
        finally:
            self._gradient_overrides = before

    def switch_to_thread_local(self) -> None:
        """Let each thread have scopes of its own, which is so in any case."""

    # What sessions may feed and fetch.

    def is_feedable(self, tensor) -> bool:
        return id(tensor) not in self._unfeedable

    def prevent_feeding(self, tensor) -> None:
        """Refuse feeds of a tensor."""
        self._unfeedable.add(id(tensor))
        self.restrictions += 1

    def is_fetchable(self, tensor_or_op) -> bool:
        return id(getattr(tensor_or_op, "op", tensor_or_op)) not in self._unfetchable

    def prevent_fetching(self, op) -> None:
        """Refuse fetches of an operation."""
        self._unfetchable.add(id(op))
        self.restrictions += 1

    # Collections: named lists that belong to the graph.

    def add_to_collection(self, name, value) -> None:
        """Append `value` to a collection."""
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value) -> None:
        """Append `value` to several collections."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name) -> list:
        """The collection itself."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name, scope=None) -> list:
        """A copy of a collection; with `scope`, of what has a name that begins with it."""
        items = list(self._collections.get(name, ()))
        if scope is None:
            return items
        pattern = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and pattern.match(item.name)]

    def get_all_collection_keys(self) -> list:
        """The names of the collections."""
        return [name for name in self._collections if isinstance(name, str)]

    @property
    def collections(self) -> list:
        """The names of the collections."""
        return list(self._collections)

    def clear_collection(self, name) -> None:
        """Forget a collection."""
        self._collections.pop(name, None)
