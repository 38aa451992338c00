"""What `tensorflow.python.util.nest` has beyond `tf.nest`: paths of leaves; and `tensorflow.python.data.util.nest`."""

from collections.abc import Callable, Iterator
from typing import Any

from headrace._src.core import nest
from headrace._src.core.nest_nodes import EXPANDING, PLAIN


def is_nested_or_composite(seq: Any) -> bool:
    """Whether it is a container or a composite tensor."""
    return EXPANDING[type(seq)] is not None


def yield_value(iterable: Any) -> Iterator[Any]:
    """What a container holds, one level deep."""
    node = EXPANDING[type(iterable)]
    yield from [] if node is None else node.children(iterable)


def yield_sorted_items(iterable: Any) -> Iterator[tuple[Any, Any]]:
    """Keys (or indices, or field names) of a container with what is there, one level deep."""
    node = EXPANDING[type(iterable)]
    if node is not None:
        yield from zip(node.keys(iterable), node.children(iterable))


def flatten_dict_items(dictionary: Any) -> dict:
    """A dictionary of which keys and values are both structures, as one of leaves to leaves.

    Raises:
        TypeError: it is no dictionary.
        ValueError: a key has another structure than its value, or a leaf is there twice.
    """
    if not isinstance(dictionary, dict):
        raise TypeError("input must be a dictionary")
    flat: dict = {}
    for key, value in dictionary.items():
        if not nest.is_nested(key):
            leaves = [(key, value)]
        else:
            keys, values = nest.flatten(key), nest.flatten(value)
            if len(keys) != len(values):
                raise ValueError(
                    f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} elements."
                )
            leaves = list(zip(keys, values))
        for leaf, leaf_value in leaves:
            if leaf in flat:
                raise ValueError(f"Could not flatten dictionary: key {leaf} is not unique.")
            flat[leaf] = leaf_value
    return flat


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`tf.nest.map_structure` of a function that also gets the path of each leaf, as a tuple."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """The same with paths as texts, such as "a/0/b"."""

    def with_text(path, *leaves, **rest):
        return func("/".join(map(str, path)), *leaves, **rest)

    return map_structure_with_tuple_paths(with_text, *structure, **kwargs)


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`map_structure_up_to` of a function that also gets the path of each place, as a tuple."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    for one in inputs:
        nest.assert_shallow_structure(shallow_tree, one, check_types=check_types, expand_composites=expand)
    paths = list(nest.yield_flat_paths(shallow_tree, expand_composites=expand))
    columns = [nest.flatten_up_to(shallow_tree, one, check_types, expand) for one in inputs]
    results = [func(path, *row, **kwargs) for path, *row in zip(paths, *columns)]
    return nest.pack_sequence_as(shallow_tree, results, expand_composites=expand)


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[tuple, Any]]:
    """Pairs of a path and what stands there, as deep as the shallow tree goes."""
    values = nest.flatten_up_to(shallow_tree, input_tree, check_types, expand_composites)
    return list(zip(nest.yield_flat_paths(shallow_tree, expand_composites), values))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Pairs of a path as a text and the leaf there."""
    pairs = nest.flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


# TF: for datasets, a list is a leaf.


class _List:
    """Stands for a list while leaves are looked for."""

    def __init__(self, value):
        self.value = value


def _hidden(structure):
    node = PLAIN[type(structure)]
    if isinstance(structure, list):
        return _List(structure)
    if node is None:
        return structure
    return node.rebuild(structure, [_hidden(child) for child in node.children(structure)])


def _shown(leaf):
    return leaf.value if isinstance(leaf, _List) else leaf


def data_is_nested(structure: Any) -> bool:
    """Whether it is a tuple, a dictionary or the like, but no list."""
    return not isinstance(structure, list) and nest.is_nested(structure)


def data_flatten(structure: Any) -> list[Any]:
    """The leaves of an element of a dataset."""
    return [_shown(leaf) for leaf in nest.flatten(_hidden(structure))]


def data_pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """An element of a dataset of its leaves."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError(f"Argument `flat_sequence` is expected to be a sequence, got {type(flat_sequence).__name__}.")
    return nest.pack_sequence_as(_hidden(structure), flat_sequence)


def data_map_structure(func: Callable[..., Any], *structure: Any, **check_types_dict: Any) -> Any:
    """A function of the leaves of elements of datasets."""

    def of_leaves(*leaves):
        return func(*map(_shown, leaves))

    return nest.map_structure(of_leaves, *map(_hidden, structure), **check_types_dict)


def data_assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raises unless two elements have the same structure."""
    nest.assert_same_structure(_hidden(nest1), _hidden(nest2), check_types)


def data_flatten_up_to(shallow_tree: Any, input_tree: Any) -> list[Any]:
    """What stands in an element where a shallow one has its leaves."""
    return [_shown(leaf) for leaf in nest.flatten_up_to(_hidden(shallow_tree), _hidden(input_tree))]


def data_map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any) -> Any:
    """A function of what stands in elements where a shallow one has its leaves."""
    columns = [data_flatten_up_to(shallow_tree, one) for one in inputs]
    return data_pack_sequence_as(shallow_tree, [func(*row) for row in zip(*columns)])
