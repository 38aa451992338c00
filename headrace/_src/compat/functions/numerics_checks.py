"""`tf.compat.v1.add_check_numerics_ops`: every floating number of a graph is looked at for NaN and infinity."""

from typing import Any

from headrace._src.compat.graph_keys import grouped
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.op.api import api
from headrace._src.ops.debugging.numerics_checks import CHECK_NUMERICS

_CHECKED = (dtypes.float16, dtypes.float32, dtypes.float64)


@api("compat.v1.add_check_numerics_ops", dispatch=False)
def add_check_numerics_ops() -> Any:
    """An operation that fails where a tensor of the graph, as it is now, holds NaN or infinity.

    Raises:
        RuntimeError: when executing eagerly.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     y = tf.math.log(tf.constant(-1.0), name="y")
    ...     check = tf.compat.v1.add_check_numerics_ops()
    ...     try:
    ...         session.run([y, check])
    ...     except tf.errors.InvalidArgumentError as error:
    ...         print(error.message.split(" [")[0])
    CheckNumerics: y:0 : Tensor had NaN values
    """
    graph = context.graph
    if graph is None:
        raise RuntimeError("add_check_numerics_ops is for graphs. When executing eagerly, call "
                           "tf.debugging.enable_check_numerics() once.")
    checks: list = []
    for operation in graph.get_operations():
        for tensor in operation.outputs:
            if tensor.dtype in _CHECKED:
                with graph.control_dependencies(checks[-1:]):
                    checks.append(CHECK_NUMERICS(tensor, message=f"{operation.name}:{tensor.value_index}"))
    return grouped(checks[-1:], "group_deps")
