"""Variables of 1.x graphs: handles whose values each session keeps, and operations that initialise and assign them."""

import itertools
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors, types
from headrace._src.core.context import context
from headrace._src.core.lazy import LazyModule
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import RestoredSpec
from headrace._src.graph.building.graph import Graph
from headrace._src.graph.control.conditional import cond
from headrace._src.op.attached import method_of
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.ops.arrays.filling import ONES_LIKE
from headrace._src.ops.arrays.gathering import GATHER_ND, GATHER_V2
from headrace._src.ops.arrays.indexed_slices import IndexedSlices
from headrace._src.ops.arrays.measuring import SHAPE
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.arrays.scattering import (
    TENSOR_SCATTER_ADD,
    TENSOR_SCATTER_MAX,
    TENSOR_SCATTER_MIN,
    TENSOR_SCATTER_SUB,
    TENSOR_SCATTER_UPDATE,
)
from headrace._src.ops.arrays.selecting import SELECT_V2
from headrace._src.ops.arrays.shaping import EXPAND_DIMS
from headrace._src.ops.arrays.slicing import TENSOR_STRIDED_SLICE_UPDATE
from headrace._src.ops.math.unsorted_segments import UNSORTED_SEGMENT_PROD, UNSORTED_SEGMENT_SUM
from headrace._src.state import storage
from headrace._src.state.reference_ops import COUNT_UP_TO
from headrace._src.state.scatter import STRIDED_SLICE_ASSIGN
from headrace._src.state.variable_copies import VariableAggregation, VariableSynchronization
from headrace._src.state.variables import Variable, static_shape

_messages = LazyModule("headrace._src.graph.messages.variable_messages")
_unique = itertools.count()
# TF: the collections that variables are added to.
GLOBAL_VARIABLES = "variables"
TRAINABLE_VARIABLES = "trainable_variables"
# What the ops `ResourceScatter...` and `ResourceScatterNd...` do, as ops on the values.
_SCATTERING = {
    "Update": TENSOR_SCATTER_UPDATE, "Add": TENSOR_SCATTER_ADD, "Sub": TENSOR_SCATTER_SUB, "Max": TENSOR_SCATTER_MAX,
    "Min": TENSOR_SCATTER_MIN,
}  # fmt: skip


class GraphVariable(Variable):
    """A variable that sessions keep, each its own value. It must be initialised by running `initializer`.

    The arguments are those of `tf.Variable`, and `collections`, to which the variable is added.
    """

    _in_graph_mode = True
    _read_names = "ReadVariableOp"

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        import_scope=None,
        constraint=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
        experimental_enable_variable_lifting=True,
        collections=None,
    ):
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified except when you are not "
                             "providing a `variable_def`. You provided neither.")
        self._set_use(trainable, constraint, synchronization, aggregation)
        collections = [GLOBAL_VARIABLES] if collections is None else collections
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(f"collections argument to Variable constructor must be a list, tuple, or set. "
                             f"Got {collections} of type {type(collections)}")
        graph = context.graph
        self._graph = graph
        self._container = graph._container
        with graph.control_dependencies(None), name_scope("Variable" if name is None else name) as scope:
            self._name = scope.rstrip("/")
            self._unique_id = f"{self._name}_{next(_unique)}"
            value = self._first_value(initial_value, None if dtype is None else dtypes.as_dtype(dtype))
            self._dtype = value.dtype
            static = static_shape(value, shape, validate_shape)
            if validate_shape and shape is None and not static.is_fully_defined():
                raise ValueError(f"`initial_value` must have a shape specified: {value!r}. Pass validate_shape=False "
                                 "or the argument shape for a variable whose shape may change.")
            value = self._initial_value = _without_other_variables(graph, value)
            self._storage = storage.Storage(None, self._dtype, static, self._name)  # tells shape and dtype only
            self._make_operations(scope, value)
        if trainable is not False and self._trainable and TRAINABLE_VARIABLES not in collections:
            collections = [*collections, TRAINABLE_VARIABLES]
        graph.add_to_collections(list(collections), self)

    def _first_value(self, initial_value, dtype):
        with name_scope("Initializer"):
            return _initial_tensor(initial_value, dtype)

    def _make_operations(self, scope, value):
        """The handle, the initializer, and what is fetched for the variable."""
        dims = None if self.shape.rank is None else tuple(self.shape.as_list())
        self._handle = storage.VAR_HANDLE(
            container=self._container, shared_name=self._name, debug_name=self._name, dtype=self._dtype, shape=dims,
            name=scope,
        )  # fmt: skip
        box = np.empty((), object)
        box[()] = self._storage
        self._handle._known = box  # tells the shape of what is read
        with name_scope("IsInitialized"):
            self._is_initialized = storage.IS_INITIALIZED(self._handle)
        self._initializer = storage.ASSIGN(self._handle, value, name="Assign")
        with name_scope("Read"):
            self._snapshot = storage.READ_VARIABLE(self._handle, dtype=self._dtype)

    # What it is.

    @property
    def graph(self):
        """The graph that the variable belongs to."""
        return self._graph

    @property
    def op(self):
        """The operation that makes the handle."""
        return self._handle.op

    @property
    def device(self) -> str:
        return self._handle.op.device

    @property
    def initializer(self):
        """The operation that gives the variable its first value."""
        return self._initializer

    @property
    def initial_value(self):
        """The tensor that the initializer assigns."""
        return self._initial_value

    def initialized_value(self):
        """The value if there is one, otherwise the initial value."""
        return cond(self.is_initialized(), self.read_value, lambda: self._initial_value)

    def is_initialized(self, name=None):
        if context.graph is self._graph and self._is_initialized is not None:
            return self._is_initialized
        return storage.IS_INITIALIZED(self._handle, name=name)

    def _as_graph_element(self):
        return self._snapshot

    def set_shape(self, shape):
        super().set_shape(shape)
        self._snapshot.set_shape(shape)

    def to_proto(self, export_scope=None):
        """This variable as a `VariableDef` message; None if it is not in the scope."""
        return _messages.variable_to_proto(self, export_scope)

    @staticmethod
    def from_proto(variable_def, import_scope=None) -> Any:
        """The variable of the current graph whose operations a `VariableDef` message names."""
        return _messages.variable_from_proto(variable_def, import_scope)

    # Reading and running.

    def _symbolic_value(self, mode):
        if mode.graph is None:
            raise self._no_value("value()")
        return super()._symbolic_value(mode)

    def value(self):
        mode = context.mode
        if mode is None or mode.graph is None:
            raise self._no_value("value()")
        return self._symbolic_value(mode)

    def read_value(self):
        with name_scope("Read"):
            return self.value()

    def numpy(self):
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def __array__(self, dtype=None, copy=None):
        raise NotImplementedError(f"numpy() is only available when eager execution is enabled; {self!r} is of a graph.")

    def _no_value(self, what):
        return RuntimeError(f"{what}: {self!r} belongs to a graph; its value is to be had from a session.")

    def eval(self, session=None):
        """The value in a session, by default the default one."""
        return self._as_graph_element().eval(session=session)

    def load(self, value, session=None):
        """Replace the value in a session, without adding operations."""
        session = session or self._graph.default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be established: use `with "
                "sess.as_default()` or pass an explicit session."
            )
        session.run(self._initializer, {self._initializer.inputs[-1]: value})

    # Assigning: the operations only take effect when they are run.

    def assign(self, value, use_locking=False, name=None, read_value=True):
        tensor = self._convert(value)
        if not self.shape.is_compatible_with(tensor.shape):
            label = f" name='{name}'" if name else ""
            raise ValueError(
                f"Cannot assign to variable{label} {self.name} due to variable shape {self.shape} and value shape "
                f"{tensor.shape} are incompatible"
            )
        return self._assigned(storage.ASSIGN(self._handle, tensor, name=name), read_value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._assigned(storage.ASSIGN_ADD(self._handle, self._convert(delta), name=name), read_value)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._assigned(storage.ASSIGN_SUB(self._handle, self._convert(delta), name=name), read_value)

    def _assigned(self, operation, read_value=True):
        """What an assignment returns: in a function this variable, in the graph one that is read after it."""
        if context.graph.building_function:
            return self if read_value else operation
        return AssignedVariable(self, operation) if read_value else operation

    def _scatter(self, op, sparse_delta, name):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta!r}")
        indices, values = sparse_delta.indices, self._convert(sparse_delta.values)
        return self._assigned(op(self._handle, indices, values, name=name))

    def _scatter_nd(self, op, indices, updates, name):
        return self._assigned(op(self._handle, indices, self._convert(updates), name=name))

    def _assign_slice(self, begin, end, strides, masks, value, name=None):
        value = self._convert(value)
        return self._assigned(STRIDED_SLICE_ASSIGN(self._handle, begin, end, strides, value, name=name, **masks))

    # Python's protocols.

    def __hash__(self):
        return id(self)  # TF: as tensors of 1.x graphs

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __bool__(self):
        return bool(self._snapshot)

    def __repr__(self):
        shape = "<unknown>" if self.shape.rank is None else self.shape
        return f"<tf.Variable '{self.name}' shape={shape} dtype={self.dtype.name}>"

    __str__ = __repr__

    def __reduce__(self):
        raise TypeError(f"{self!r} cannot be pickled: it belongs to a graph.")

    def __copy__(self):
        raise NotImplementedError("__copy__() is only available when eager execution is enabled.")

    def __deepcopy__(self, memo):
        raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")


@method_of(Graph, "make_variable")
def _make_variable(self, **keywords) -> "GraphVariable":
    return GraphVariable(**keywords)


def _initial_tensor(initial_value, dtype):
    if callable(initial_value) and not isinstance(initial_value, types.Tensor):
        initial_value = initial_value()
    if isinstance(initial_value, Tensor):
        return _in_graph(to_tensor(initial_value, dtype))
    return _in_graph(to_tensor(initial_value, dtype, name="initial_value"))


def _in_graph(tensor):
    return context.graph.inside(tensor)


def _without_other_variables(graph, tensor):
    """The initial value, computed from the initial values of variables that have no value yet.

    TF: so the order in which variables are initialised does not matter. What reads a variable in a way that cannot
    be followed is left as it is.
    """
    variables = {id(v.handle): v for key in (GLOBAL_VARIABLES, "local_variables") for v in graph.get_collection(key)
                 if isinstance(v, GraphVariable)}  # fmt: skip
    above = {id(tensor.op): tensor.op}
    pending = [tensor.op]
    while pending:
        for x in pending.pop().inputs:
            if id(x.op) not in above:
                above[id(x.op)] = x.op
                pending.append(x.op)
    copied: dict[int, object] = {}
    for node in [node for node in graph.nodes if id(node) in above]:
        read = _variable_read(node, variables)
        if read is not None:
            copied[id(node.outputs[0])] = read.initialized_value()
        elif any(id(x) in copied for x in node.inputs):
            if not node.record.single_output or node.record.stateful:
                return tensor
            inputs = tuple(copied.get(id(x), x) for x in node.inputs)
            name = node.name.rpartition("/")[2]
            (copied[id(node.outputs[0])],) = graph.create(
                node.record, inputs, node.attrs, node.types, node.outputs[0].shape, name, node.location
            )
    return copied.get(id(tensor), tensor)


def _variable_read(node, variables):
    """The variable whose value an operation reads; None for other operations."""
    if node.type == "ReadVariableOp":
        return variables.get(id(node.inputs[0]))
    if node.type == "VariableV2":
        return next((v for v in variables.values() if v.op.type == "VariableV2"
                     and v.op.attrs["shared_name"] == node.attrs["shared_name"]), None)  # fmt: skip
    return None


class AssignedVariable(GraphVariable):
    """What an assignment in a 1.x graph returns: the variable, to be read after the assignment has run."""

    def __init__(self, variable, operation):
        self.__dict__.update(variable.__dict__)
        self._operation = operation
        with context.graph.control_dependencies([operation]):
            self._snapshot = variable.value()

    @property
    def op(self):
        """The assignment."""
        return self._operation

    def value(self):
        with context.graph.control_dependencies([self._operation]):
            return super().value()


# TF: 1.x variables without handles. Each reading operation names the variable, so it reads when it is its turn.


def initialized(kept):
    """A variable's storage, which must have a value."""
    if not kept.is_initialized:
        raise errors.FailedPreconditionError(None, None, f"Attempting to use uninitialized value {kept.name}")
    return kept


def _read_reference(shape, dtype, container, shared_name):
    return initialized(storage.session_storage(container, shared_name, dtype, shape)).read()


VARIABLE = Op(
    "VariableV2",
    "*, shape: shape, dtype: type, container: string = '', shared_name: string = '' -> ref: dtype",
    infer=lambda shape, dtype, container, shared_name: TensorShape(shape),
    kernel=_read_reference,
    lower=None,  # state on the host
    grad=None,
    stateful=True,
)


def shown_variable(tensor):
    """The attributes that name the 1.x variable without a handle whose value a tensor is; None for other tensors."""
    source = tensor.op
    if source.type == "Identity" and source.inputs[0].op.record is VARIABLE:
        source = source.inputs[0].op
    return source.attrs if source.record is VARIABLE else None


def _assign(resource, value, validate_shape):
    kept = resource[()]
    if not kept.shape.is_compatible_with(value.shape):
        if validate_shape:
            raise errors.invalid_argument(
                f"Assign requires shapes of both tensors to match. lhs shape= {kept.shape} rhs shape= {value.shape}"
            )
        kept.shape = TensorShape(value.shape)
    kept.set(value)


def _updating(change):
    return lambda resource, value: initialized(resource[()]).update(change, value)


def _reference_op(name, change):
    """An op that changes the variable that its attributes name, and returns the new value."""

    def kernel(value, shape, container, shared_name, dtype, validate_shape, use_locking):
        kept = storage.session_storage(container, shared_name, dtype, shape)
        arguments = (validate_shape,) if change is _assign else ()
        change(storage.boxed(kept), value, *arguments)
        return kept.read()

    return Op(
        name,
        "value: T, *, shape: shape, container: string = '', shared_name: string = '', dtype: type, "
        "validate_shape: bool = True, use_locking: bool = True -> output_ref: T",
        infer=lambda value, **attrs: value.shape,
        kernel=kernel,
        lower=None,  # state on the host
        grad=None,
        stateful=True,
    )


_add, _subtract = _updating(np.add), _updating(np.subtract)
ASSIGN = _reference_op("Assign", _assign)
ASSIGN_ADD = _reference_op("AssignAdd", _add)
ASSIGN_SUB = _reference_op("AssignSub", _subtract)
# What they do to a variable that is given by its handle; `Assign` also wants to know `validate_shape`.
CHANGES_BY_HANDLE = {ASSIGN: _assign, ASSIGN_ADD: _add, ASSIGN_SUB: _subtract}
IS_VARIABLE_INITIALIZED = Op(
    "IsVariableInitialized",
    "*, shape: shape, dtype: type, container: string = '', shared_name: string = '' -> is_initialized: bool",
    infer=lambda **attrs: TensorShape([]),
    kernel=lambda shape, dtype, container, shared_name: np.bool_(
        storage.session_storage(container, shared_name, dtype, shape).is_initialized
    ),
    lower=None,  # asks about state
    grad=None,
    stateful=True,
)


class RefVariable(GraphVariable):
    """A variable as 1.x had them: the tensor "name:0" is its value, and assignments return the new value."""

    reads: list

    def _first_value(self, initial_value, dtype):
        if callable(initial_value) and not isinstance(initial_value, types.Tensor):
            return super()._first_value(initial_value, dtype)
        return _initial_tensor(initial_value, dtype)

    def _make_operations(self, scope, value):
        shape = self.shape
        self._attributes = {
            "shape": None if shape.rank is None else tuple(shape.as_list()),
            "dtype": self._dtype, "container": self._container, "shared_name": self._name,
        }  # fmt: skip
        self._handle = VARIABLE(**self._attributes, name=scope)
        self._initializer = ASSIGN(value, **self._attributes, validate_shape=shape.rank is not None, name="Assign").op
        self._snapshot = IDENTITY(self._handle, name="read")
        self.reads = []

    @property
    def dtype(self):
        return self._dtype._as_ref

    def _symbolic_value(self, mode):
        context.mode = mode.replace(graph=self._graph, recorders=())
        try:
            with name_scope(self._name + "/"):
                tensor = VARIABLE(**self._attributes, name="read")
        finally:
            context.mode = mode
        self.reads.append(tensor)
        if mode.graph is not self._graph:
            tensor = mode.graph.inside(tensor)  # TF: functions get the value, as there is no handle to pass
        for recorder in mode.recorders:
            recorder.variable_read(self, tensor)
        return tensor

    def _restored_specs(self):
        return {"VARIABLE_VALUE": RestoredSpec(self._dtype, self.shape)}

    def _restore_from_tensors(self, restored_tensors):
        return self.assign(restored_tensors["VARIABLE_VALUE"]).op

    def _as_graph_element(self):
        return self._handle

    def is_initialized(self, name=None):
        return IS_VARIABLE_INITIALIZED(**self._attributes, name=name)

    def initialized_value(self):
        # Read inside of the branch, since there may be nothing to read.
        return cond(self.is_initialized(), lambda: VARIABLE(**self._attributes), lambda: self._initial_value)

    def assign(self, value, use_locking=False, name=None, read_value=True):
        tensor = self._convert(value)
        if not self.shape.is_compatible_with(tensor.shape):
            raise ValueError(f"Dimensions of {self!r} and the assigned value must be equal, but are {self.shape} and "
                             f"{tensor.shape}.")
        assigned = ASSIGN(tensor, **self._attributes, validate_shape=self.shape.rank is not None, name=name)
        return assigned if read_value else assigned.op

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        assigned = ASSIGN_ADD(self._convert(delta), **self._attributes, name=name)
        return assigned if read_value else assigned.op

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        assigned = ASSIGN_SUB(self._convert(delta), **self._attributes, name=name)
        return assigned if read_value else assigned.op

    # Row updates read the value, change it and assign it: there is no handle to pass to the ops of other variables.

    def _changed(self, function, name):
        return self.assign(function(self.value()), name=name)

    def _scatter(self, op, sparse_delta, name):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta!r}")
        indices = EXPAND_DIMS(to_tensor(sparse_delta.indices), -1)
        kind = op.name.removeprefix("ResourceScatter")
        if kind in ("Mul", "Div"):
            return self._changed(lambda old: _rowwise(kind, old, sparse_delta, self._convert), name)
        return self._scatter_nd_named(kind, indices, sparse_delta.values, name)

    def _scatter_nd(self, op, indices, updates, name):
        return self._scatter_nd_named(op.name.removeprefix("ResourceScatterNd"), indices, updates, name)

    def _scatter_nd_named(self, kind, indices, updates, name):
        op = _SCATTERING[kind]
        return self._changed(lambda old: op(old, to_tensor(indices), self._convert(updates)), name)

    def _assign_slice(self, begin, end, strides, masks, value, name=None):
        value = self._convert(value)
        return self._changed(lambda old: TENSOR_STRIDED_SLICE_UPDATE(old, begin, end, strides, value, **masks), name)

    def sparse_read(self, indices, name=None):
        return GATHER_V2(self.value(), to_tensor(indices), 0, name=name)

    def gather_nd(self, indices, name=None):
        return GATHER_ND(self.value(), to_tensor(indices), name=name)

    def count_up_to(self, limit):
        handle = storage.VARIABLE_REFERENCE(**self._attributes)
        handle.op.stands_for = self._handle  # in graphs that are written, where a reference is passed
        return COUNT_UP_TO(handle, limit=int(limit), T=self._dtype)


def _rowwise(kind, old, delta, convert):
    """The tensor with some rows multiplied or divided; rows that are named twice are changed twice."""
    rows, values = to_tensor(delta.indices), convert(delta.values)
    factors = UNSORTED_SEGMENT_PROD(values, rows, SHAPE(old, out_type=dtypes.int32)[0])
    touched = UNSORTED_SEGMENT_SUM(ONES_LIKE(values), rows, SHAPE(old, out_type=dtypes.int32)[0])
    factors = SELECT_V2(touched > 0, factors, ONES_LIKE(old))
    return old * factors if kind == "Mul" else old / factors
