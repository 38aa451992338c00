"""`tf.compat.v1.train.init_from_checkpoint`: variables whose first value is one of a checkpoint."""

import logging
from collections.abc import Mapping
from typing import Any

from headrace._src.checkpoint.folder_state import latest_checkpoint
from headrace._src.checkpoint.ops import RESTORE_V2
from headrace._src.checkpoint.reading import load_checkpoint
from headrace._src.compat.saving.saver_values import saveable_objects
from headrace._src.compat.variables.scopes import variables_of_scopes
from headrace._src.core.context import context
from headrace._src.formats import files
from headrace._src.op.api import api
from headrace._src.state.variables import Variable

_logger = logging.getLogger("tensorflow")


@api("compat.v1.train.init_from_checkpoint", dispatch=False)
def init_from_checkpoint(ckpt_dir_or_file, assignment_map) -> None:
    """Lets the initializers of variables take their values from a checkpoint.

    In a graph, values are read when the initializers run; in eager execution, at once.

    Args:
        ckpt_dir_or_file: a checkpoint, or a folder, whose latest checkpoint is meant.
        assignment_map: what is to come from where: a dict, or a list of pairs. A name in the checkpoint goes with a
            variable, a list of the parts of one, or the name that `tf.compat.v1.get_variable` gave to one. Two names
            that end in "/" are scopes: all variables of the second come from the first. "/" is the scope around all.

    Raises:
        ValueError: the checkpoint has no such tensor, or it has another shape.
        NotFoundError: there is no such checkpoint.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "c")
    >>> tf.raw_ops.SaveV2(prefix=path, tensor_names=["old/x"], shape_and_slices=[""], tensors=[tf.constant([1.0, 2.0])])
    >>> x = tf.Variable([0.0, 0.0])
    >>> tf.compat.v1.train.init_from_checkpoint(path, {"old/x": x})
    >>> x.numpy()
    array([1., 2.], dtype=float32)
    """
    source = Source(ckpt_dir_or_file)
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    for key, target in sorted(pairs, key=lambda pair: pair[0]):
        variable = _variable(target)
        if variable is None:
            _take_scope(source, key, target)
        else:
            source.check(key, key)
            source.give(key, variable)


class Source:
    """The checkpoint that values come from."""

    def __init__(self, ckpt_dir_or_file):
        path = files.path_string(ckpt_dir_or_file)
        self.reader = load_checkpoint(path)
        self.shapes = self.reader.get_variable_to_shape_map()
        self.path = latest_checkpoint(path) if files.is_directory(path) else path

    def check(self, key, described):
        if key not in self.shapes:
            raise ValueError(f"Tensor {described} is not found in {self.path} checkpoint {self.shapes}")

    def give(self, key, variable):
        """Lets a variable, or the parts of one, begin with a tensor."""
        if isinstance(variable, Variable) and not variable.shape.is_compatible_with(self.shapes[key]):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of tensor {key} "
                f"({self.shapes[key]}) from checkpoint reader."
            )
        for part in [variable] if isinstance(variable, Variable) else variable:
            self._give_part(key, part)

    def _give_part(self, key, part):
        info = getattr(part, "_save_slice_info", None)
        dtypes = [part.dtype.base_dtype]
        tensors = RESTORE_V2(
            self.path, [key], [info.spec if info else ""], dtypes=dtypes, name="checkpoint_initializer"
        )
        begin_with(part, tensors[0])
        _logger.debug("Initialize variable %s from checkpoint %s with %s", part.name, self.path, key)


def begin_with(variable: Variable, tensor) -> None:
    """Lets the initializer of a variable give it a tensor; in eager execution it gets it at once."""
    if context.graph is None:
        variable.assign(tensor)
        return
    (saveable,) = saveable_objects([variable])
    variable._initializer = saveable.restore([tensor], None)
    tensor.set_shape(variable.shape)
    variable._initial_value = tensor


def _is_variable(value):
    return isinstance(value, Variable)


def _variable(target) -> Any:
    """The variable, or the list of its parts, that an entry of the map means; None for a scope."""
    if _is_variable(target):
        return target
    if isinstance(target, (list, tuple)) and target and all(map(_is_variable, target)):
        return list(target)
    if hasattr(target, "_get_partitions") or hasattr(target, "_get_variable_list"):
        return list(target)
    return _named(target)


def _named(name):
    variables = variables_of_scopes()
    if name in variables:
        return variables[name]
    parts = []
    while f"{name}/part_{len(parts)}" in variables:
        parts.append(variables[f"{name}/part_{len(parts)}"])
    return parts or None


def _take_scope(source, key, scope):
    """Gives values to all variables of a scope."""
    start = scope.rpartition("/")[0]
    if not key.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {start} should map to scope only {key}. Should be 'scope/': "
            "'other_scope/'."
        )
    inside = {
        name.partition("/part_")[0] for name in variables_of_scopes() if not start or name.startswith(start + "/")
    }
    for name in sorted(inside):
        short = name[len(start) :].lstrip("/")
        full = short if key == "/" else key + short
        source.check(full, f"{full} ({short} in {key})")
        source.give(full, _named(name))
