"""`tf.experimental.ExtensionType`: the user's own composite tensors, declared like dataclasses."""

import inspect
import sys
import typing
from typing import Any

from headrace._src.core import dtypes, nest
from headrace._src.core.batchable_specs import BatchableTypeSpec, TypeSpecBatchEncoder
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec, TypeSpec, type_spec_from_value
from headrace._src.core.tensor import Tensor
from headrace._src.core.types import Tensor as TensorBase
from headrace._src.op.api import api
from headrace._src.ops.extension_types.fields import (
    NO_DEFAULT,
    Field,
    ImmutableDict,
    check_annotation,
    convert_field,
    is_unresolved,
    resolved_annotation,
)
from headrace._src.ops.math.comparison import equal, logical_not
from headrace._src.ops.math.reductions import reduce_all

_RESERVED = {"self", "Spec"}
_ABSTRACT = "_tf_extension_type_do_not_transform_this_class"  # marks the base classes


class ExtensionTypeMetaclass(type):
    """Reads the annotations, writes the constructor, and makes the class's `Spec`."""

    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        if namespace.get(_ABSTRACT):
            return
        # A class in a function may be named by its own annotations, and so may the others there.
        scope = sys._getframe(1).f_locals
        cls._fields = _fields_of(cls, {**scope, name: cls})
        cls._has_references = any(is_unresolved(field.kind) for field in cls._fields)
        if "__init__" not in namespace or getattr(namespace["__init__"], "_generated", False):
            _write_constructor(cls)
        else:
            _wrap_constructor(cls)
        if "Spec" not in namespace:
            _make_spec(cls)
        else:
            cls.Spec = _complete_spec(cls, namespace["Spec"])


def _fields_of(cls, scope):
    """The fields that a class declares and inherits; annotations in quotes may name classes of `scope`."""
    fields = []
    for base in reversed(cls.__mro__):
        if not isinstance(base, ExtensionTypeMetaclass) or base.__dict__.get(_ABSTRACT):
            continue
        for name, written in inspect.get_annotations(base).items():
            kind = resolved_annotation(written, base, scope)
            if name.startswith("__") or kind is typing.ClassVar or typing.get_origin(kind) is typing.ClassVar:
                continue
            if name in _RESERVED or name.startswith("_tf_extension_type"):
                raise ValueError(f"The field name {name!r} is reserved.")
            check_annotation(kind, f"In field {name!r}")
            default = base.__dict__.get(name, NO_DEFAULT)
            if inspect.isfunction(default) or isinstance(default, (property, classmethod, staticmethod)):
                raise ValueError(f"The field {name!r} cannot also be a method.")
            if default is None and kind is TensorShape:
                default = TensorShape(None)
            elif default is not NO_DEFAULT and not isinstance(default, TypeSpec):
                default = _convert_default(default, kind, name)
            fields = [field for field in fields if field.name != name]
            fields.append(Field(name, kind, default))
    return tuple(fields)


def _resolve_references(cls):
    """Look again for classes that annotations name and that were not there when `cls` was defined."""
    if not cls._has_references:
        return
    cls._fields = tuple(
        Field(name, resolved_annotation(kind, cls, {}), default) for name, kind, default in cls._fields
    )
    cls._has_references = any(is_unresolved(field.kind) for field in cls._fields)


def _convert_default(default, kind, name):
    try:
        return convert_field(default, kind, f"default value for {name}")
    except TypeError as error:
        if is_unresolved(kind):
            return default  # each value is converted when it is used
        raise TypeError(str(error)) from None


def _signature(fields):
    parameters, seen_default = [], False
    for field in fields:
        if field.default is NO_DEFAULT and seen_default:
            raise ValueError(f"Field without default {field.name!r} follows a field with a default.")
        seen_default = seen_default or field.default is not NO_DEFAULT
        parameters.append(
            inspect.Parameter(
                field.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=field.default, annotation=field.kind
            )
        )
    return inspect.Signature(parameters)


def _write_constructor(cls):
    signature = _signature(cls._fields)

    def __init__(self, *args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)
        _finish(self)

    __init__._generated = True
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = signature.replace(parameters=[receiver, *signature.parameters.values()])
    cls.__init__ = __init__
    cls.__signature__ = signature.replace(return_annotation=cls)


def _wrap_constructor(cls):
    written = cls.__init__

    def __init__(self, *args, **kwargs) -> None:
        self.__dict__["_building"] = True
        written(self, *args, **kwargs)
        self.__dict__.pop("_building", None)
        _finish(self)

    __init__.__signature__ = inspect.signature(written)
    __init__.__doc__ = written.__doc__
    cls.__init__ = __init__


def _finish(value):
    _resolve_references(type(value))
    fields = type(value)._fields
    missing = [field.name for field in fields if field.name not in value.__dict__]
    for field in fields:
        if field.name in missing and field.default is not NO_DEFAULT:
            value.__dict__[field.name] = field.default
            missing.remove(field.name)
    if missing:
        raise ValueError(f"Missing required fields: {set(missing)}")
    names = {field.name for field in fields}
    extra = [name for name in value.__dict__ if name not in names]
    if extra:
        raise ValueError(f"Got unexpected fields: {set(extra)}")
    for field in fields:
        value.__dict__[field.name] = convert_field(value.__dict__[field.name], field.kind, field.name)
    value.__validate__()


@api("experimental.ExtensionType")
class ExtensionType(CompositeTensor, metaclass=ExtensionTypeMetaclass):
    """Base of user-defined types that are made of tensors.

    Declare fields like those of a dataclass; the constructor, `Spec`, equality and `repr` follow.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> m = Masked([1.0, 2.0], [True, False])
    >>> m.mask.numpy()
    array([ True, False])

    Define `__validate__` to check the fields.
    """

    _tf_extension_type_do_not_transform_this_class = True
    _fields: tuple = ()
    _has_references = False  # whether a field's type names a class that does not exist yet

    def __init__(self, *args, **kwargs) -> None:
        if type(self) is ExtensionType:
            raise AssertionError("Cannot create an instance of ExtensionType because it is an abstract base class.")

    def __validate__(self):
        """Overridden to check the fields after construction."""

    def __setattr__(self, name, value):
        if self.__dict__.get("_building") and name in {field.name for field in type(self)._fields}:
            self.__dict__[name] = value
            return
        raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")

    def __delattr__(self, name):
        raise AttributeError(f"Cannot delete attribute `{name}` outside the custom constructor of ExtensionType.")

    @property
    def _type_spec(self):
        return self.Spec.from_value(self)

    def _gradient_components(self):
        parts = nest.flatten(self, expand_composites=True)
        return [part for part in parts if part.dtype in dtypes.DIFFERENTIABLE]

    def __eq__(self, other) -> bool:
        if type(self) is not type(other):
            return False
        if self._type_spec != other._type_spec:
            return False
        mine = nest.flatten(self, expand_composites=True)
        theirs = nest.flatten(other, expand_composites=True)
        results = [reduce_all(equal(a, b)) for a, b in zip(mine, theirs)]
        return reduce_all(results) if results else True

    def __ne__(self, other) -> Tensor:
        same = self.__eq__(other)
        return logical_not(same) if isinstance(same, Tensor) else not same

    __hash__ = None

    def __repr__(self):
        fields = ", ".join(f"{field.name}={self.__dict__[field.name]!r}" for field in type(self)._fields)
        return f"{type(self).__qualname__}({fields})"

    def __reduce__(self):
        return _rebuild, (type(self), {field.name: self.__dict__[field.name] for field in type(self)._fields})


def _rebuild(cls, fields):
    value = object.__new__(cls)
    value.__dict__.update(fields)
    return value


@api("experimental.extension_type.as_dict", dispatch=False)
def as_dict(value) -> dict[str, Any]:
    """The fields of an extension type as a dictionary."""
    return {field.name: getattr(value, field.name) for field in type(value)._fields}


def _spec_of(value):
    """The spec that stands for a field's value inside a `Spec`."""
    if isinstance(value, TensorBase):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, CompositeTensor):
        return type_spec_from_value(value)
    if isinstance(value, tuple):
        return tuple(_spec_of(item) for item in value)
    if isinstance(value, ImmutableDict):
        return ImmutableDict((key, _spec_of(item)) for key, item in value.items())
    return value


@api("experimental.ExtensionTypeSpec")
class ExtensionTypeSpec(TypeSpec):
    """Base of the `Spec` classes of extension types: the same fields, with specs in place of tensors."""

    _owner: type

    def __init__(self, *args, **kwargs) -> None:
        signature = _signature(self._owner._fields)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)
        self._finish_spec()

    def _finish_spec(self):
        _resolve_references(self._owner)
        names = [field.name for field in self._owner._fields]
        missing = [name for name in names if name not in self.__dict__]
        if missing:
            raise ValueError(f"Missing required fields: {set(missing)}")
        for field in self._owner._fields:
            value = self.__dict__[field.name]
            self.__dict__[field.name] = convert_field(_spec_of(value), field.kind, field.name, for_spec=True)

    @classmethod
    def from_value(cls, value) -> Any:
        """The spec of that value."""
        spec = object.__new__(cls)
        for field in cls._owner._fields:
            spec.__dict__[field.name] = _spec_of(value.__dict__[field.name])
        return spec

    @property
    def value_type(self) -> type:
        return self._owner

    def __setattr__(self, name, value):
        if name in {field.name for field in self._owner._fields} and name not in self.__dict__:
            self.__dict__[name] = value
            return
        raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionTypeSpec.")

    def _serialize(self):
        return tuple((field.name, self.__dict__[field.name]) for field in self._owner._fields)

    @classmethod
    def _deserialize(cls, serialization):
        spec = object.__new__(cls)
        spec.__dict__.update((name, frozen(value)) for name, value in serialization)
        return spec

    @property
    def _component_specs(self):
        return tuple(tensor_parts(self.__dict__[field.name]) for field in self._owner._fields
                     if has_tensors(self.__dict__[field.name]))

    def _to_components(self, value):
        return tuple(
            select_parts(getattr(value, field.name), self.__dict__[field.name])
            for field in self._owner._fields
            if has_tensors(self.__dict__[field.name])
        )

    def _from_components(self, components):
        components = iter(components)
        fields = {}
        for field in self._owner._fields:
            spec = self.__dict__[field.name]
            fields[field.name] = merge_parts(spec, next(components)) if has_tensors(spec) else spec
        return _rebuild(self._owner, fields)

    def __repr__(self):
        fields = ", ".join(f"{name}={_plain(value)!r}" for name, value in self._serialize())
        return f"{type(self).__qualname__}({fields})"


def _plain(value):
    return dict(value) if isinstance(value, ImmutableDict) else value


def frozen(value):
    """A field's value with mappings that cannot change: a file has dictionaries and lists in their place."""
    if isinstance(value, dict | ImmutableDict):
        return ImmutableDict((key, frozen(item)) for key, item in value.items())
    return tuple(map(frozen, value)) if type(value) in (tuple, list) else value


def has_tensors(spec):
    if isinstance(spec, tuple):
        return any(has_tensors(item) for item in spec)
    if isinstance(spec, ImmutableDict):
        return any(has_tensors(item) for item in spec.values())
    return isinstance(spec, TypeSpec)


def tensor_parts(spec):
    if isinstance(spec, tuple):
        return tuple(tensor_parts(item) for item in spec if has_tensors(item))
    if isinstance(spec, ImmutableDict):
        return {key: tensor_parts(item) for key, item in spec.items() if has_tensors(item)}
    return spec


def select_parts(value, spec):
    if isinstance(spec, tuple):
        return tuple(select_parts(item, part) for item, part in zip(value, spec) if has_tensors(part))
    if isinstance(spec, ImmutableDict):
        return {key: select_parts(value[key], part) for key, part in spec.items() if has_tensors(part)}
    return value


def merge_parts(spec, component):
    if isinstance(spec, tuple):
        parts = iter(component)
        return tuple(merge_parts(part, next(parts)) if has_tensors(part) else part for part in spec)
    if isinstance(spec, ImmutableDict):
        return ImmutableDict(
            (key, merge_parts(part, component[key]) if has_tensors(part) else part) for key, part in spec.items()
        )
    return component


def _make_spec(cls):
    base = BatchableExtensionTypeSpec if issubclass(cls, BatchableExtensionType) else ExtensionTypeSpec
    body = {"_owner": cls, "__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.Spec"}
    cls.Spec = type("Spec", (base,), body)


def _complete_spec(cls, written):
    base = BatchableExtensionTypeSpec if issubclass(cls, BatchableExtensionType) else ExtensionTypeSpec
    body = {k: v for k, v in vars(written).items() if k not in ("__dict__", "__weakref__")}
    custom = body.pop("__init__", None)
    body |= {"_owner": cls, "__qualname__": f"{cls.__qualname__}.Spec"}
    if custom is not None:

        def __init__(self, *args, **kwargs):
            custom(self, *args, **kwargs)
            self._finish_spec()

        body["__init__"] = __init__
    return type("Spec", (base,), body)


@api("experimental.ExtensionTypeBatchEncoder")
class ExtensionTypeBatchEncoder(TypeSpecBatchEncoder):
    """How values of a `BatchableExtensionType` are stacked and taken apart: field by field."""

    def batch(self, spec, batch_size) -> Any:
        def one(part):
            if isinstance(part, TensorSpec):
                return TensorSpec(TensorShape([batch_size]).concatenate(part.shape), part.dtype)
            if isinstance(part, TensorShape):
                return TensorShape([batch_size]).concatenate(part)
            return part._batch(batch_size)

        return _with_parts(spec, one)

    def unbatch(self, spec) -> Any:
        def one(part):
            if isinstance(part, TensorSpec):
                if part.shape.rank == 0:
                    raise ValueError("A scalar field cannot be unbatched.")
                return TensorSpec(part.shape[1:] if part.shape.rank is not None else None, part.dtype)
            if isinstance(part, TensorShape):
                return part[1:]
            return part._unbatch()

        return _with_parts(spec, one)

    def encode(self, spec, value, minimum_rank=0) -> Any:
        return spec._to_components(value)

    def decode(self, spec, encoded_value) -> Any:
        return spec._from_components(encoded_value)

    def encoding_specs(self, spec) -> Any:
        return spec._component_specs


def _with_parts(spec, function):
    """The spec with `function` applied to every spec and shape among its fields."""

    def change(value):
        if isinstance(value, (TypeSpec, TensorShape)):
            return function(value)
        if isinstance(value, tuple):
            return tuple(change(item) for item in value)
        if isinstance(value, ImmutableDict):
            return ImmutableDict((key, change(item)) for key, item in value.items())
        return value

    return type(spec)._deserialize(tuple((name, change(value)) for name, value in spec._serialize()))


class BatchableExtensionTypeSpec(ExtensionTypeSpec, BatchableTypeSpec):
    """The `Spec` of a batchable extension type."""

    __batch_encoder__ = ExtensionTypeBatchEncoder()

    def _batch(self, batch_size):
        return self._encoder().batch(self, batch_size)

    def _unbatch(self):
        return self._encoder().unbatch(self)

    def _encoder(self):
        return getattr(self._owner, "__batch_encoder__", self.__batch_encoder__)


@api("experimental.BatchableExtensionType")
class BatchableExtensionType(ExtensionType):
    """An extension type whose values can be batched by `tf.data`, `tf.map_fn` and Keras."""

    _tf_extension_type_do_not_transform_this_class = True
    __batch_encoder__ = ExtensionTypeBatchEncoder()

