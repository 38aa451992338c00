"""`tf.Module`: an object that knows the variables and modules in its attributes."""

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace._src.core import nest
from headrace._src.core.names import current_name_scope, name_scope
from headrace._src.core.trackable import AutoTrackable
from headrace._src.op.api import api

if TYPE_CHECKING:
    from headrace._src.state.variables import Variable


def _snake(name: str) -> str:
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


@api("Module")
class Module(AutoTrackable):
    """Base class for models and layers: collects variables and modules, and names them.

    >>> class Scale(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = tf.Variable(2.0, name="factor")
    >>> [v.name for v in Scale().trainable_variables]
    ['factor:0']

    Args:
        name: a Python identifier; by default the class name in snake_case.

    Raises:
        ValueError: when the name is no identifier.
    """

    # Attributes that are not searched, by name.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(
        ("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names", "_name_scope")
    )

    def __init__(self, name=None) -> None:
        name = _snake(type(self).__name__) if name is None else name
        if not str(name).isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                "(e.g. a valid class name)."
            )
        self._name = name
        scope = current_name_scope()
        self._scope_name = f"{scope}/{name}/" if scope else f"{name}/"

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope in which this module's variables are named."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> "tuple[Variable, ...]":
        """All variables of this module and its submodules, sorted by attribute name."""
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self) -> "tuple[Variable, ...]":
        return tuple(self._flatten(predicate=_is_trainable, expand_composites=True))

    @property
    def non_trainable_variables(self) -> "tuple[Variable, ...]":
        return tuple(self._flatten(predicate=_is_non_trainable, expand_composites=True))

    @property
    def submodules(self) -> "tuple[Module, ...]":
        """All modules among the attributes, and their submodules."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False,
                 expand_composites=False):
        """Leaves of the attributes for which `predicate` holds, breadth first along modules, each once."""
        return _leaves(self, recursive, predicate or (lambda value: True), attribute_traversal_key, with_path,
                       expand_composites, (), set())

    @classmethod
    def with_name_scope(cls, method) -> Callable[..., Any]:
        """Decorator: run the method in the module's name scope, so that variables made there carry its name."""

        @functools.wraps(method)
        def inside(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside


def _is_variable(value):
    # By what it has: `Variable` is defined above this layer, and Keras has variables of its own.
    return hasattr(value, "handle") and hasattr(value, "assign")


def _is_trainable(value):
    return _is_variable(value) and getattr(value, "trainable", False)


def _is_non_trainable(value):
    return _is_variable(value) and not getattr(value, "trainable", False)


def _leaves(module, recursive, predicate, key, with_path, expand_composites, path, seen):
    seen.add(id(module))
    inner = []
    for attribute in sorted(vars(module), key=key):
        if attribute in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        value = vars(module)[attribute]
        try:
            leaves = nest.flatten_with_tuple_paths(value, expand_composites=expand_composites)
        except TypeError as error:
            # A dict whose keys cannot be sorted has no order of leaves.
            raise ValueError(
                f"Error processing property {attribute!r} of {type(module).__name__}: {error}"
            ) from error
        for leaf_path, leaf in leaves:
            if id(leaf) in seen:
                continue
            at = (*path, attribute, *leaf_path)
            if predicate(leaf):
                seen.add(id(leaf))
                yield (at, leaf) if with_path else leaf
            if recursive and isinstance(leaf, Module):
                inner.append((at, leaf))
    for at, leaf in inner:
        if (id(leaf), "inside") not in seen:
            seen.add((id(leaf), "inside"))
            yield from _leaves(leaf, recursive, predicate, key, with_path, expand_composites, at, seen)
