"""What a 1.x `Saver` saves: variables, slices of larger ones, tables and other objects, each under its key."""

from typing import Any

from headrace._src.core import dtypes, errors, types
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.core.trackable import Trackable
from headrace._src.graph.building import graph_variables
from headrace._src.graph.building.graph_variables import GraphVariable, RefVariable
from headrace._src.graph.building.symbolic import SymbolicTensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import shape
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.arrays.shaping import RESHAPE
from headrace._src.state import storage
from headrace._src.state.scatter import RESOURCE_GATHER
from headrace._src.state.storage import READ_VARIABLE
from headrace._src.state.variables import Variable

_VALUE = "VARIABLE_VALUE"  # what a variable calls its only value


class SaveSpec:
    """One tensor of a checkpoint.

    Args:
        tensor: the tensor, or a function without arguments that makes it.
        slice_spec: which part of a larger tensor it is, in the text form of checkpoints; empty for all of it.
        name: its key.
        dtype: needed where `tensor` is a function.
        device: where it is computed; that of the tensor by default.
    """

    def __init__(self, tensor, slice_spec, name, dtype=None, device=None):
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor) and not isinstance(tensor, types.Tensor):
            if dtype is None:
                raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype is needed.")
            self.dtype, self.device = dtypes.as_dtype(dtype), device or ""
        else:
            self.dtype = tensor.dtype.base_dtype
            self.device = tensor.device if device is None else device

    @property
    def tensor(self) -> Tensor:
        """The tensor; where it is a function that makes one, each time a new one."""
        made = callable(self._tensor) and not isinstance(self._tensor, types.Tensor)
        return self._tensor() if made else self._tensor


class SaveableObject:
    """Something that is saved as one or several tensors. Subclasses say how these are taken over again.

    Args:
        op: what is saved, for error messages and for its shape.
        specs: the tensors, as `SaveSpec` objects.
        name: its key.
    """

    def __init__(self, op, specs, name):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint may lack it."""
        return False

    @property
    def device(self) -> str:
        """Where its tensors are computed."""
        return self.specs[0].device or ""

    def restore(self, restored_tensors, restored_shapes) -> Any:
        """An operation that takes over tensors from a checkpoint.

        Args:
            restored_tensors: one for each spec.
            restored_shapes: the shapes that they should be given, or None to leave them as they are.
        """
        raise NotImplementedError(f"{type(self).__name__}.restore")


class _ReferenceSaveable(SaveableObject):
    """A variable without a handle: its attributes say which."""

    def __init__(self, tensor, slice_spec, name):
        super().__init__(tensor, [SaveSpec(tensor, slice_spec, name)], name)
        source = tensor.op if tensor.op.type == "VariableV2" else tensor.op.inputs[0].op
        self._attributes = {key: source.attrs[key] for key in ("shape", "dtype", "container", "shared_name")}

    def restore(self, restored_tensors, restored_shapes):
        (tensor,) = restored_tensors
        if restored_shapes is not None:
            tensor = RESHAPE(tensor, restored_shapes[0])
        # TF: without a new shape, a variable whose shape is not known takes any.
        exact = restored_shapes is None and self.op.shape.is_fully_defined()
        return graph_variables.ASSIGN(tensor, **self._attributes, validate_shape=exact).op


class _HandleSaveable(SaveableObject):
    """A variable with a handle.

    Args:
        handle: of the variable.
        shape: its shape, as far as it is known.
        spec: its value.
    """

    def __init__(self, handle, shape, spec, device):
        super().__init__(handle, [spec], spec.name)
        self.shape = shape
        self._device = device

    @property
    def device(self):
        return self._device

    def restore(self, restored_tensors, restored_shapes):
        (tensor,) = restored_tensors
        if restored_shapes is not None:
            tensor = RESHAPE(tensor, restored_shapes[0])
        if not self.shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Received incompatible tensor with shape {tensor.shape} when attempting to restore variable with "
                f"shape {self.shape} and name {self.name}."
            )
        # Unlike in TensorFlow, a variable of known shape takes no value of another one.
        return storage.ASSIGN(self.op, IDENTITY(tensor), validate_shape=self.shape.rank is not None)


def _of_read(tensor, slice_spec, name):
    """A variable of which there is an operation that reads it."""
    handle = tensor.op.inputs[0]
    return _HandleSaveable(handle, _shape_of(handle, tensor), SaveSpec(tensor, slice_spec, name), handle.op.device)


def _shape_of(handle, tensor):
    return TensorShape(handle.op.attrs["shape"]) if handle.op.type == "VarHandleOp" else tensor.shape


def _of_variable(variable, slice_spec, name):
    """A variable that is read anew: a slice, or one of eager execution."""
    spec = SaveSpec(lambda: _read(variable), slice_spec, name, variable.dtype.base_dtype, variable.device)
    return _HandleSaveable(variable.handle, variable.shape, spec, variable.device)


def _read(variable):
    if context.graph is None:
        return variable.read_value()
    with name_scope("Read"):
        storage.DISABLE_COPY_ON_READ(variable.handle)
        value = storage.READ_VARIABLE(variable.handle, dtype=variable.dtype)
    return IDENTITY(IDENTITY(value))


class _TrackableSaveable(SaveableObject):
    """An object that says itself which tensors it is saved as, such as a table."""

    def __init__(self, trackable, tensors, name):
        specs = [SaveSpec(tensor, "", f"{name}{local}") for local, tensor in tensors.items()]
        super().__init__(trackable, specs, name)
        self._locals = list(tensors)

    def restore(self, restored_tensors, restored_shapes):
        return self.op._restore_from_tensors(dict(zip(self._locals, restored_tensors)))


# From what the argument `var_list` may be to saveable objects.


def by_name(var_list) -> dict[str, Any]:
    """The keys under which the elements of a list are saved: their names.

    Raises:
        TypeError: it is no list, or an element cannot be saved.
        ValueError: two have the same name.
    """
    if not isinstance(var_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list. Got {var_list}")
    named: dict[str, Any] = {}
    for item in sorted(var_list, key=lambda x: getattr(x, "name", "") or ""):
        if isinstance(item, SaveableObject):
            named[item.name] = item
        elif _parts_of(item) is not None:
            _add_parts(named, list(_parts_of(item)))
        elif getattr(item, "_save_slice_info", None) is not None:
            _add_parts(named, [item])
        else:
            name = _key_of(item)
            if name in named and context.graph is None:
                raise ValueError(
                    f"Two different ResourceVariable objects with the same shared_name '{name}' were passed to the "
                    "Saver. This likely means that they were created in different Graphs or isolated contexts, and may "
                    "not be checkpointed together. Pass a dictionary that gives each a key of its own."
                )
            if name in named:
                raise ValueError(f"At least two variables have the same name: {name}")
            named[name] = item
    return named


def _parts_of(item):
    """The slices of a variable that was divided, or None."""
    return item if hasattr(item, "_get_partitions") else None


def _add_parts(named, parts):
    for part in parts:
        info = part._save_slice_info
        if info is None:
            raise TypeError(f"Slices must all be slices: {part}")
        group = named.setdefault(info.full_name, [])
        if not isinstance(group, list):
            raise ValueError(f"Mixing slices and non-slices with the same name: {info.full_name}")
        group.append(part)


def _key_of(item):
    if isinstance(item, GraphVariable):
        return item._handle.op.name
    if isinstance(item, Variable):
        return item._shared_name
    if isinstance(item, Trackable) and not isinstance(item, Tensor):
        return item.name
    tensor = _variable_tensor(item)
    if tensor is None:
        raise TypeError(f"Variable to save is not a Variable: {item}")
    return tensor.op.name if tensor.op.type == "VariableV2" else tensor.op.inputs[0].op.name


_READING = ("VariableV2", READ_VARIABLE.name, RESOURCE_GATHER.name)  # ops whose results are variables


def _variable_tensor(item):
    """The tensor that reads a variable, if the item is one."""
    if not isinstance(item, SymbolicTensor):
        return None
    return item if item.op.type in _READING else None


def saveable_objects(names_to_values) -> list[SaveableObject]:
    """The saveable objects for a dictionary of variables and the like, sorted by key.

    Args:
        names_to_values: key to a variable, a list of slices, a trackable object or a `SaveableObject`; or a list, whose
            elements have their names as keys.

    Raises:
        TypeError: a value cannot be saved.
        ValueError: one occurs twice.
    """
    if not isinstance(names_to_values, dict):
        names_to_values = by_name(names_to_values)
    found: list[SaveableObject] = []
    seen: set[int] = set()
    for name in sorted(names_to_values, key=str):
        for saveable in _saveables_of(names_to_values[name], name):
            if id(saveable.op) in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            seen.add(id(saveable.op))
            found.append(saveable)
    return found


def _saveables_of(value, name):
    if not isinstance(name, str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. "
            f"Name is not a string: {name}"
        )
    if isinstance(value, SaveableObject):
        return [value]
    parts = _parts_of(value)
    if parts is not None or isinstance(value, (list, tuple)):
        return [_part(part, name) for part in (value if parts is None else parts)]
    if isinstance(value, RefVariable):
        return [_ReferenceSaveable(value._handle, "", name)]
    if isinstance(value, GraphVariable):
        return [_of_read(value._snapshot, "", name) if _is_read(value._snapshot) else _of_variable(value, "", name)]
    if isinstance(value, Variable):
        return [_of_variable(value, "", name)]
    tensor = _variable_tensor(value)
    if tensor is not None:
        return [_ReferenceSaveable(tensor, "", name) if tensor.op.type == "VariableV2" else _of_read(tensor, "", name)]
    if isinstance(value, Trackable) and not isinstance(value, Tensor):
        return _of_trackable(value, name)
    raise TypeError(
        "names_to_saveables must be a dict mapping string names to Tensors/Variables. "
        f"Not a variable: {value}"
    )


def _is_read(tensor):
    return isinstance(tensor, SymbolicTensor) and tensor.op.type == "ReadVariableOp"


def _part(variable, name):
    if not isinstance(variable, Variable):
        raise ValueError(f"Slices must all be Variables: {variable}")
    info = getattr(variable, "_save_slice_info", None)
    if info is None:
        raise ValueError(f"Slices must all be slices: {variable}")
    if isinstance(variable, RefVariable):
        return _ReferenceSaveable(variable._snapshot, info.spec, name)
    return _of_variable(variable, info.spec, name)


def _of_trackable(trackable, name):
    found: list[SaveableObject] = []
    for local, maker in trackable._gather_saveables_for_checkpoint().items():
        full = name if local == _VALUE else f"{name}_{local}"
        made = maker(full) if callable(maker) and not isinstance(maker, types.Tensor) else maker
        found.extend(_saveables_of(made, full))
    if found:
        return found
    try:
        tensors = trackable._serialize_to_tensors()
    except NotImplementedError:
        raise TypeError(f"Variable to save is not a Variable: {trackable}") from None
    return [_TrackableSaveable(trackable, {key: to_tensor(x) for key, x in tensors.items()}, name)]


def shapes_of(saveable) -> list:
    """The shapes that the tensors of a saveable object should have, for `Saver(reshape=True)`."""
    if not isinstance(saveable, _HandleSaveable):
        return [saveable.op.shape.as_list() if saveable.op.shape.is_fully_defined() else shape(saveable.op)]
    if saveable.shape.is_fully_defined():
        return [saveable.shape.as_list()]
    return [storage.VARIABLE_SHAPE(saveable.op, out_type=dtypes.int32)]


def renamed(saveables, keys) -> dict[str, SaveableObject]:
    """The saveable objects, under the keys that they have in a checkpoint of objects.

    Args:
        saveables: the objects, which get new names.
        keys: the keys in that checkpoint, by the names of its variables.

    Raises:
        NotFoundError: a name is not there.
    """
    names = {spec.name for saveable in saveables for spec in saveable.specs}
    missing = sorted(names - set(keys))
    if missing:
        gone = ", ".join(sorted(set(keys) - names))
        raise errors.NotFoundError(
            None, None,
            f"Existing variables not in the checkpoint: {', '.join(missing)}\n\nVariables names when this checkpoint "
            f"was written which don't exist now: {gone}\n\n({len(names) - len(missing)} "
            "variable name(s) did match)\n\nCould not find some variables in the checkpoint (see names above). Saver "
            "was attempting to load an object-based checkpoint (saved using tf.train.Checkpoint or "
            "tf.keras.Model.save_weights) using variable names. If the checkpoint was written with eager execution "
            "enabled, it's possible that variable names have changed (for example missing a '_1' suffix). It's also "
            "possible that there are new variables which did not exist when the checkpoint was written. You can "
            "construct a Saver(var_list=...) with only the variables which previously existed, and if variable names "
            "have changed you may need to make this a dictionary with the old names as keys.",
        )  # fmt: skip
    for saveable in saveables:
        saveable.name = keys.get(saveable.name, saveable.name)
        for spec in saveable.specs:
            spec.name = keys[spec.name]
    return {saveable.name: saveable for saveable in saveables}
