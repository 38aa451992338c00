"""Nested structures of Python containers: flatten them, rebuild them, map over them (`tf.nest`).

A structure is a leaf or a container of structures: list, tuple, namedtuple, dict (in the order of its sorted
keys), any other sequence or mapping, an attrs class, or a class with `__tf_flatten__` and `__tf_unflatten__`.
Everything else is a leaf: tensors, numbers, strings, None, sets. With `expand_composites=True` a composite
tensor (ragged, sparse ...) counts as the structure of its component tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headrace._src.core.nest_nodes import EXPANDING, PLAIN, Node, is_namedtuple_class


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a container rather than a leaf.

    >>> tf.nest.is_nested((1, 2)), tf.nest.is_nested("ab"), tf.nest.is_nested(tf.constant([1, 2]))
    (True, False, False)
    """
    return PLAIN[type(seq)] is not None


def is_mapping(value: Any) -> bool:
    """Whether `value` is a dict or another mapping."""
    return isinstance(value, Mapping)


def is_attrs(value: Any) -> bool:
    """Whether `value` is an instance of an attrs class."""
    return hasattr(type(value), "__attrs_attrs__")


def is_namedtuple(value: Any) -> bool:
    """Whether `value` is a named tuple."""
    return is_namedtuple_class(type(value))


def same_namedtuples(a: Any, b: Any) -> bool:
    """Whether two named tuples have the same class name and fields, as for nest they are then of one type."""
    return type(a).__name__ == type(b).__name__ and a._fields == b._fields


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure` in a list.

    Args:
        structure: A nested structure or a leaf; a leaf gives a list of one.
        expand_composites: Whether composite tensors are flattened into their component tensors.

    Returns:
        A list of the leaves, depth first; dicts in the order of their sorted keys.

    Raises:
        TypeError: A dict has keys that cannot be sorted.

    >>> tf.nest.flatten([1, {"b": 2, "a": (3, None)}])
    [1, 3, None, 2]
    """
    nodes = EXPANDING if expand_composites else PLAIN
    node = nodes[type(structure)]
    if node is None:
        return [structure]
    flat: list[Any] = []
    _collect(node.children(structure), nodes, flat)
    return flat


def _collect(children: Sequence[Any], nodes: Any, flat: list[Any]) -> None:
    for child in children:
        node = nodes[type(child)]
        if node is None:
            flat.append(child)
        else:
            _collect(node.children(child), nodes, flat)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Puts the elements of a flat sequence into a structure like `structure`: the inverse of `flatten`.

    Args:
        structure: The structure to build; its leaves do not matter.
        flat_sequence: A list or another sequence, with one element for each leaf.
        expand_composites: Whether composite tensors in `structure` are rebuilt from component tensors.

    Raises:
        TypeError: `flat_sequence` is no sequence.
        ValueError: Its length is not the number of leaves.

    >>> tf.nest.pack_sequence_as({"b": 0, "a": (0, 0)}, [1, 2, 3])
    {'b': 3, 'a': (1, 2)}
    """
    if PLAIN[type(flat_sequence)] is None or isinstance(flat_sequence, Mapping):
        raise TypeError(
            "nest.pack_sequence_as: flat_sequence must be a list, a tuple or another sequence, "
            f"got {type(flat_sequence).__name__}: {flat_sequence!r}."
        )
    nodes = EXPANDING if expand_composites else PLAIN
    leaves = iter(flat_sequence)
    try:
        packed = _pack(structure, nodes, leaves)
    except _TooFewLeaves:
        packed = _MISSING
    if packed is _MISSING or next(leaves, _MISSING) is not _MISSING:
        raise ValueError(
            f"nest.pack_sequence_as: the structure has {len(flatten(structure, expand_composites))} leaves, "
            f"but flat_sequence has {len(flat_sequence)} elements. Structure: {structure!r}, "
            f"flat_sequence: {flat_sequence!r}."
        )
    return packed


_MISSING = object()


class _TooFewLeaves(Exception):
    pass


def _pack(structure: Any, nodes: Any, leaves: Iterator[Any]) -> Any:
    node = nodes[type(structure)]
    if node is None:
        for leaf in leaves:
            return leaf
        raise _TooFewLeaves
    return node.rebuild(structure, [_pack(child, nodes, leaves) for child in node.children(structure)])


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies `func` to the leaves of one or more structures and returns the results in the same structure.

    Args:
        func: Called with one leaf of each structure.
        *structure: Structures of the same form. The result has the type of the first.
        **kwargs: `check_types` (default True): whether their containers must have the same types.
            `expand_composites` (default False): whether composite tensors are taken apart.

    Raises:
        TypeError: `func` is not callable, or the structures differ in type.
        ValueError: There is no structure, or they differ in form, or there is another keyword argument.

    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]})
    {'a': [11, 22]}
    """
    if not callable(func):
        raise TypeError(f"nest.map_structure: func must be callable, got: {func!r}")
    if not structure:
        raise ValueError("nest.map_structure: Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "nest.map_structure: Only valid keyword arguments are `check_types` and `expand_composites`, "
            f"not: `{'`, `'.join(kwargs)}`"
        )
    first = structure[0]
    nodes = EXPANDING if expand_composites else PLAIN
    if len(structure) == 1:
        return _map(func, first, nodes)
    for other in structure[1:]:
        assert_same_structure(first, other, check_types=check_types, expand_composites=expand_composites)
    results = map(func, *(flatten(one, expand_composites) for one in structure))
    return _pack(first, nodes, iter(list(results)))


def _map(func: Callable[[Any], Any], structure: Any, nodes: Any) -> Any:
    node = nodes[type(structure)]
    if node is None:
        return func(structure)
    return node.rebuild(structure, [_map(func, child, nodes) for child in node.children(structure)])


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises unless two structures have the same form; their leaves are not compared.

    Args:
        nest1: A structure.
        nest2: Another one.
        check_types: Whether containers must have the same type and dicts the same keys. Different kinds of
            mapping count as one type, so do list and its subclasses, and named tuples of the same name
            and fields.
        expand_composites: Whether composite tensors are compared as structures: by type spec.

    Raises:
        ValueError: They differ in form: a leaf against a container, other lengths, other keys.
        TypeError: They differ in the type of a container.

    >>> tf.nest.assert_same_structure([1, (2, 3)], [{"a": 4}, (5, 6)])
    Traceback (most recent call last):
    ...
    ValueError: The two structures don't have the same nested structure at [0]: ...
    """
    nodes = EXPANDING if expand_composites else PLAIN
    try:
        _compare(nest1, nest2, nodes, check_types, ())
    except _Mismatch as mismatch:
        where = f" at {_path_text(mismatch.path)}" if mismatch.path else ""
        raise mismatch.error(
            f"The two structures don't have the same nested structure{where}: {mismatch.reason}\n"
            f"First structure: {_outline(nest1, nodes)}\nSecond structure: {_outline(nest2, nodes)}"
        ) from None


class _Mismatch(Exception):
    def __init__(self, error: type[Exception], path: tuple, reason: str):
        super().__init__(reason)
        self.error, self.path, self.reason = error, path, reason


def _compare(a: Any, b: Any, nodes: Any, check_types: bool, path: tuple) -> None:
    node_a, node_b = nodes[type(a)], nodes[type(b)]
    if node_a is None and node_b is None:
        return
    if node_a is None or node_b is None:
        raise _Mismatch(ValueError, path, f"{_describe(a, node_a)}, while {_describe(b, node_b)}.")
    if node_a.is_composite and node_b.is_composite:
        spec_a, spec_b = node_a.type_spec(a), node_b.type_spec(b)
        if spec_a.most_specific_common_supertype([spec_b]) is None:
            raise _Mismatch(ValueError, path, f"the type specs {spec_a!r} and {spec_b!r} are incompatible.")
    elif check_types:
        if not _same_container_type(a, b, node_a, node_b):
            raise _Mismatch(
                TypeError, path, f"one is a {type(a).__name__}, the other a {type(b).__name__}."
            )
        if node_a.is_mapping and set(a) != set(b):
            raise _Mismatch(ValueError, path, f"one has the keys {list(a)!r}, the other {list(b)!r}.")
    children_a, children_b = node_a.children(a), node_b.children(b)
    for key, child_a, child_b in zip(node_a.keys(a), children_a, children_b):
        _compare(child_a, child_b, nodes, check_types, (*path, key))
    if len(children_a) != len(children_b):
        raise _Mismatch(
            ValueError, path, f"one has {len(children_a)} elements, the other {len(children_b)}."
        )


def _same_container_type(a: Any, b: Any, node_a: Node, node_b: Node) -> bool:
    if is_namedtuple(a) and is_namedtuple(b):
        return same_namedtuples(a, b)
    return (
        type(a) is type(b)
        or (node_a.is_mapping and node_b.is_mapping)
        or (isinstance(a, list) and isinstance(b, list))
    )


def _describe(value: Any, node: Node | None) -> str:
    text = repr(value)
    if len(text) > 100:
        text = text[:97] + "..."
    return f"{text} ({type(value).__name__}) is {'a leaf' if node is None else 'a nested structure'}"


def _path_text(path: tuple) -> str:
    return "".join(f"[{key!r}]" for key in path)


def _outline(structure: Any, nodes: Any) -> str:
    """The structure with a dot for every leaf."""
    node = nodes[type(structure)]
    if node is None or node.is_composite:
        return "."
    parts = [_outline(child, nodes) for child in node.children(structure)]
    if node.is_mapping:
        pairs = zip(node.keys(structure), parts)
        return "{" + ", ".join(f"{key!r}: {part}" for key, part in pairs) + "}"
    if isinstance(structure, tuple) and not is_namedtuple(structure):
        return "(" + ", ".join(parts) + ("," if len(parts) == 1 else "") + ")"
    if isinstance(structure, list):
        return "[" + ", ".join(parts) + "]"
    pairs = zip(node.keys(structure), parts)
    return f"{type(structure).__name__}(" + ", ".join(f"{key}={part}" for key, part in pairs) + ")"


# Paths to leaves.


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple]:
    """The path of each leaf, as a tuple of keys, field names and indices, in the order of `flatten`."""
    for path, _ in _walk(nest, EXPANDING if expand_composites else PLAIN, ()):
        yield path




def _walk(structure: Any, nodes: Any, path: tuple) -> Iterator[tuple[tuple, Any]]:
    node = nodes[type(structure)]
    if node is None:
        yield path, structure
        return
    for key, child in zip(node.keys(structure), node.children(structure)):
        yield from _walk(child, nodes, (*path, key))


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[tuple, Any]]:
    """A list of (path, leaf) pairs, with paths as tuples."""
    return list(_walk(structure, EXPANDING if expand_composites else PLAIN, ()))


# Structures compared, flattened or mapped only as deep as another, shallower one.


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises unless `input_tree` has the form of `shallow_tree`, as deep as that one goes.

    Raises:
        TypeError: A container of `shallow_tree` meets a leaf, or (with check_types) another type.
        ValueError: Lengths or keys differ, or composite tensors are incompatible.
    """
    for _ in _pairs_up_to(shallow_tree, input_tree, _nodes(expand_composites), check_types, ()):
        pass


def _nodes(expand_composites: bool) -> Any:
    return EXPANDING if expand_composites else PLAIN


def _pairs_up_to(
    shallow: Any, deep: Any, nodes: Any, check_types: bool, path: tuple
) -> Iterator[tuple[tuple, Any]]:
    """The path of each leaf of `shallow`, with what stands at that place in `deep`."""
    node = nodes[type(shallow)]
    if node is None:
        yield path, deep
        return
    where = f" (at {_path_text(path)})" if path else ""
    other = nodes[type(deep)]
    if other is None:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. "
            f"Input has type: {type(deep).__name__}{where}."
        )
    if node.is_composite and other.is_composite:
        spec, other_spec = node.type_spec(shallow), other.type_spec(deep)
        if spec.most_specific_common_supertype([other_spec]) is None:
            raise ValueError(f"Incompatible CompositeTensor TypeSpecs: {spec!r} vs. {other_spec!r}{where}")
    elif check_types and not (
        _same_container_type(shallow, deep, node, other)
        or (isinstance(deep, type(shallow)) and not is_namedtuple(shallow))
    ):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(deep).__name__}, while shallow structure has type {type(shallow).__name__}{where}."
        )
    children, others = node.children(shallow), other.children(deep)
    if len(children) != len(others):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(others)}, while shallow structure has length {len(children)}{where}."
        )
    keys = node.keys(shallow)
    if node.is_mapping and other.is_mapping:
        missing = [key for key in keys if key not in deep]
        if missing:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the "
                f"following keys that are not in the input_tree: {missing!r}{where}."
            )
    for key, child, below in zip(keys, children, others):
        yield from _pairs_up_to(child, below, nodes, check_types, (*path, key))


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """What stands in `input_tree` where `shallow_tree` has its leaves: leaves or whole structures.

    Raises:
        TypeError, ValueError: As `assert_shallow_structure`.
    """
    pairs = _pairs_up_to(shallow_tree, input_tree, _nodes(expand_composites), check_types, ())
    return [value for _, value in pairs]


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Any:
    """Applies `func` to what stands in `inputs` where `shallow_tree` has its leaves.

    Args:
        shallow_tree: The structure of the result, and the depth to which `inputs` are opened.
        func: Called with one value of each input.
        *inputs: Structures that begin like `shallow_tree`.
        **kwargs: `check_types` (default True) and `expand_composites` (default False).
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, "
            f"not: `{'`, `'.join(kwargs)}`"
        )
    nodes = _nodes(expand_composites)
    columns = [flatten_up_to(shallow_tree, one, check_types, expand_composites) for one in inputs]
    results = [func(*row) for row in zip(*columns)]
    return _pack(shallow_tree, nodes, iter(results))


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """A structure of bools that says how deep `structure` is to be opened.

    Args:
        traverse_fn: Called with a substructure; returns whether to open it, or for a container also a
            structure of bools that says so for each of its elements.
        structure: The structure to be opened.
        expand_composites: Whether composite tensors can be opened.

    Raises:
        TypeError: `traverse_fn` returned neither a bool nor a structure of bools that fits.
    """
    nodes = _nodes(expand_composites)
    opens = traverse_fn(structure)
    node = nodes[type(structure)]
    if node is None:
        if not isinstance(opens, bool):
            raise TypeError(f"traverse_fn returned structure: {opens!r} for non-structure: {structure!r}")
        return opens
    if not is_nested(opens):
        if not isinstance(opens, bool):
            raise TypeError(f"traverse_fn returned a non-bool scalar: {opens!r} for input: {structure!r}")
        if not opens:
            return False
        children = node.children(structure)
        return node.rebuild(
            structure, [get_traverse_shallow_structure(traverse_fn, c, expand_composites) for c in children]
        )
    assert_shallow_structure(opens, structure, expand_composites=expand_composites)
    parts = []
    for choice, child in zip(nodes[type(opens)].children(opens), node.children(structure)):
        if not isinstance(choice, bool):
            raise TypeError(f"traverse_fn did not return a depth=1 structure of bools: {opens!r}")
        parts.append(choice and get_traverse_shallow_structure(traverse_fn, child, expand_composites))
    return node.rebuild(structure, parts)


# Small relatives.


def sequence_like(instance: Any, args: Any) -> Any:
    """A container like `instance` that holds `args` (for a dict: the values in the order of sorted keys)."""
    node = EXPANDING[type(instance)]
    if node is None:
        return type(instance)(args)
    return node.rebuild(instance, list(args))


def list_to_tuple(structure: Any) -> Any:
    """The structure with every list replaced by a tuple, which `tf.data` takes for one tensor otherwise."""
    node = PLAIN[type(structure)]
    if node is None:
        return structure
    parts = [list_to_tuple(child) for child in node.children(structure)]
    return tuple(parts) if isinstance(structure, list) else node.rebuild(structure, parts)


PUBLIC = {
    "nest.assert_same_structure": assert_same_structure,
    "nest.flatten": flatten,
    "nest.is_nested": is_nested,
    "nest.map_structure": map_structure,
    "nest.pack_sequence_as": pack_sequence_as,
    "__internal__.nest.flatten_up_to": flatten_up_to,
    "__internal__.nest.get_traverse_shallow_structure": get_traverse_shallow_structure,
    "__internal__.nest.is_attrs": is_attrs,
    "__internal__.nest.is_mapping": is_mapping,
    "__internal__.nest.list_to_tuple": list_to_tuple,
    "__internal__.nest.map_structure_up_to": map_structure_up_to,
    "__internal__.nest.sequence_like": sequence_like,
    "__internal__.nest.yield_flat_paths": yield_flat_paths,
}
