"""`tensorflow.python.framework.c_api_util`: the ops that there are, as messages."""

from typing import Any

from headrace._src import index
from headrace._src.graph.messages.op_definitions import op_def_of
from headrace._src.op.registry import is_known, lookup


class ApiDefMap:
    """All ops, by name.

    >>> from headrace._src.compat.tensorflow_names.op_catalogue import ApiDefMap
    >>> ops = ApiDefMap()
    >>> "MatMul" in ops.op_names(), ops.get_op_def("MatMul").output_arg[0].name
    (True, 'product')
    """

    def op_names(self) -> list[str]:
        """The names of all ops."""
        return sorted(index.OPS)

    def get_op_def(self, op_name) -> Any:
        """An op as an `OpDef` message.

        Raises:
            ValueError: there is none of that name.
        """
        if not is_known(op_name):
            raise ValueError(f"No entry found for {op_name}.")
        return op_def_of(lookup(op_name))
