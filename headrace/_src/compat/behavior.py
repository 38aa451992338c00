"""The default graph, and the switches between the behaviour of 1.x and of 2.x."""

import sys
from typing import Any

from headrace._src.core.context import Context, Mode, context, outside_functions
from headrace._src.core.dimensions import Dimension
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.devices.memory import use_gpu_options
from headrace._src.graph.building.graph import Graph
from headrace._src.op.api import api
from headrace._src.state.variables import Variable


class _Behavior:
    """What the switches say; the default graph is made when it is first asked for."""

    graph: Graph | None = None
    eager = True
    resource_variables = True
    control_flow = True
    tensor_shape = True


def default_graph() -> Graph:
    """The graph that is the default outside of all `with graph.as_default()`."""
    if _Behavior.graph is None:
        _Behavior.graph = Graph()
    return _Behavior.graph


@api("compat.v1.get_default_graph", dispatch=False)
def get_default_graph() -> Any:
    """The graph to which operations are added, or would be without eager execution."""
    return default_graph() if context.graph is None else context.graph


@api("compat.v1.reset_default_graph", dispatch=False)
def reset_default_graph() -> None:
    """Begin a new default graph.

    Raises:
        AssertionError: inside of `with graph.as_default()`.
    """
    if context.graph is not None and context.graph is not _Behavior.graph:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting "
            "and create a new graph."
        )
    _Behavior.graph = Graph()
    if not _Behavior.eager:
        _enter_graph_mode()


def _enter_graph_mode():
    """Let all threads that do nothing special add operations to the default graph."""
    Context.mode = Mode(graph=default_graph())
    context.mode = Context.mode


@api("compat.v1.disable_eager_execution", dispatch=False)
def disable_eager_execution() -> None:
    """Add operations to the default graph instead of running them, in all threads; sessions then run the graph."""
    if context.graph is not None and context.graph is not _Behavior.graph:
        raise ValueError("tf.compat.v1.disable_eager_execution must be called at program startup, outside of graphs.")
    _Behavior.eager = False
    _enter_graph_mode()


@api("compat.v1.enable_eager_execution", dispatch=False)
def enable_eager_execution(config=None, device_policy=None, execution_mode=None) -> None:
    """Run operations at once, which is the default.

    Args:
        config: a `ConfigProto`, of which what is about GPUs counts.
        device_policy, execution_mode: accepted.

    Raises:
        ValueError: operations have been added to the default graph already.
    """
    use_gpu_options(config)
    if _Behavior.eager:
        return
    if _Behavior.graph is not None and _Behavior.graph.nodes:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    _Behavior.eager = True
    Context.mode = None
    context.mode = None


@api("compat.v1.executing_eagerly_outside_functions", dispatch=False)
def executing_eagerly_outside_functions() -> bool:
    """Whether operations run at once, leaving aside functions that are being traced."""
    graph = outside_functions(context.graph)
    return graph is None


@api("compat.v1.enable_resource_variables", dispatch=False)
def enable_resource_variables() -> None:
    """Make variables of 1.x graphs with handles, which is the default."""
    _Behavior.resource_variables = True


@api("compat.v1.disable_resource_variables", dispatch=False)
def disable_resource_variables() -> None:
    """Make `tf.compat.v1` variables without handles: the tensor "name:0" is then the value."""
    _Behavior.resource_variables = False


@api("compat.v1.resource_variables_enabled", dispatch=False)
def resource_variables_enabled() -> bool:
    """Whether `tf.compat.v1` variables have handles."""
    return _Behavior.resource_variables


@api("compat.v1.enable_control_flow_v2", dispatch=False)
def enable_control_flow_v2() -> None:
    """Make branches and loops functions of their own. They always are; this only changes what is said of it."""
    _Behavior.control_flow = True


@api("compat.v1.disable_control_flow_v2", dispatch=False)
def disable_control_flow_v2() -> None:
    """Say that branches and loops are no functions of their own. The results are the same."""
    _Behavior.control_flow = False


@api("compat.v1.control_flow_v2_enabled", dispatch=False)
def control_flow_v2_enabled() -> bool:
    """What `enable_control_flow_v2` and `disable_control_flow_v2` said last."""
    return _Behavior.control_flow


@api("compat.v1.enable_v2_tensorshape", dispatch=False)
def enable_v2_tensorshape() -> None:
    """Let the elements of a `TensorShape` be ints, which is the default."""
    _Behavior.tensor_shape = True
    TensorShape.__getitem__, TensorShape.__iter__ = _ELEMENTS
    TensorShape.__repr__, TensorShape.__str__ = _TEXTS


@api("compat.v1.disable_v2_tensorshape", dispatch=False)
def disable_v2_tensorshape() -> None:
    """Let the elements of a `TensorShape` be `Dimension` objects, with their size in `.value`."""
    _Behavior.tensor_shape = False
    TensorShape.__getitem__, TensorShape.__iter__ = _dimension_at, _dimensions
    TensorShape.__repr__, TensorShape.__str__ = _text_of_dimensions, _text_with_question_marks


_ELEMENTS = (TensorShape.__getitem__, TensorShape.__iter__)
_TEXTS = (TensorShape.__repr__, TensorShape.__str__)


def _asked_from_inside():
    """Whether this library asks for elements of a shape, which then are ints as ever."""
    return sys._getframe(2).f_globals.get("__name__", "").startswith("headrace.")


def _dimension_at(self, key):
    found = _ELEMENTS[0](self, key)
    return found if isinstance(found, TensorShape) or _asked_from_inside() else Dimension(found)


def _dimensions(self):
    sizes = _ELEMENTS[1](self)
    return sizes if _asked_from_inside() else iter([Dimension(size) for size in sizes])


def _text_of_dimensions(self):
    return f"TensorShape({None if self._dims is None else [Dimension(size) for size in self._dims]})"


def _text_with_question_marks(self):
    return _TEXTS[1](self).replace("None", "?")


def _identical(self, other):
    return self is other


def _not_identical(self, other):
    return self is not other


_HASHES = {cls: cls.__hash__ for cls in (Tensor, Variable)}
_COMPARISONS = {cls: (cls.__eq__, cls.__ne__) for cls in (Tensor, Variable)}


@api("compat.v1.enable_tensor_equality", dispatch=False)
def enable_tensor_equality() -> None:
    """Compare tensors by value with `==`, which is the default; they cannot be keys of dictionaries then."""
    for cls in (Tensor, Variable):
        cls.__eq__, cls.__ne__ = _COMPARISONS[cls]
        cls.__hash__ = _HASHES[cls]


@api("compat.v1.disable_tensor_equality", dispatch=False)
def disable_tensor_equality() -> None:
    """Compare tensors by identity with `==`; they can be keys of dictionaries then."""
    for cls in (Tensor, Variable):
        cls.__eq__, cls.__ne__, cls.__hash__ = _identical, _not_identical, object.__hash__


@api("compat.v1.enable_v2_behavior", dispatch=False)
def enable_v2_behavior() -> None:
    """All switches to the behaviour of 2.x."""
    enable_eager_execution()
    enable_v2_tensorshape()
    enable_resource_variables()
    enable_tensor_equality()
    enable_control_flow_v2()


@api("compat.v1.disable_v2_behavior", dispatch=False)
def disable_v2_behavior() -> None:
    """All switches to the behaviour of 1.x."""
    disable_eager_execution()
    disable_v2_tensorshape()
    disable_resource_variables()
    disable_tensor_equality()
    disable_control_flow_v2()


@api("compat.v1.experimental.output_all_intermediates", dispatch=False)
def output_all_intermediates(state) -> None:
    """Whether branches and loops keep all values that gradients may need. They keep those that gradients ask for.

    Args:
        state: True, False, or None to leave it open; results are the same.
    """
