"""`match_filenames_once`: names of files, found when variables are initialised."""

from typing import TYPE_CHECKING

from headrace._src.compat.graph_keys import GraphKeys
from headrace._src.compat.variables.variables import make_variable
from headrace._src.core.context import context
from headrace._src.op.api import api
from headrace._src.ops.parsing.file_ops import matching_files

if TYPE_CHECKING:
    from headrace._src.state.variables import Variable


@api("io.match_filenames_once", "compat.v1.io.match_filenames_once", "compat.v1.train.match_filenames_once")
def match_filenames_once(pattern, name=None) -> "Variable":
    """A variable with the paths that match shell patterns, which are looked for only once.

    In a graph it is among the local variables, and the files are looked for when it is initialised.

    Args:
        pattern: a string, scalar or vector.
        name: optional name of the variable.
    """
    return make_variable(
        initial_value=lambda: matching_files(pattern),
        trainable=False,
        validate_shape=False,
        shape=None if context.graph is None else [None],  # how many there are is known when they were looked for
        collections=[GraphKeys.LOCAL_VARIABLES],
        name="matching_filenames" if name is None else name,
    )
