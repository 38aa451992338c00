"""Looking ops up by name, for graphs, `tf.raw_ops` and the native package."""

from headrace._src.core import errors
from headrace._src.op.definition import REGISTRY, Op
from headrace._src.op.loading import load_everything


def lookup(name: str) -> Op:
    """The op of that name.

    Raises:
        NotFoundError: when headrace has none.
    """
    try:
        return REGISTRY[name]
    except KeyError:
        raise errors.NotFoundError(None, None, f"Op type not registered: {name!r}.") from None


def is_known(name: str) -> bool:
    """Whether there is an op of that name."""
    try:
        return REGISTRY[name] is not None
    except KeyError:
        return False


def all_ops() -> list[Op]:
    """Every op, sorted by name; imports all files."""
    load_everything()
    return [REGISTRY[name] for name in sorted(REGISTRY)]
