"""`tf.saved_model.Asset`: a file that belongs to a SavedModel."""

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.core.trackable import Trackable
from headrace._src.formats.files import path_string
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor


@api("saved_model.Asset", dispatch=False)
class Asset(Trackable):
    """A file that functions read, which is copied into the SavedModel of an object that holds this.

    Args:
        path: the file; a path or a scalar string tensor.

    >>> asset = tf.saved_model.Asset("words.txt")
    >>> asset.asset_path.numpy()
    b'words.txt'
    """

    def __init__(self, path) -> None:
        before = context.change(graph=None, recorders=())
        try:
            path = to_tensor(path if isinstance(path, Tensor) else path_string(path), dtypes.string)
        finally:
            context.mode = before
        if isinstance(path, EagerTensor):
            path = EagerTensor(path._a, dtypes.string)
            # Where a function is loaded, the file has another path: it is an input of functions, never a constant.
            path._stays_outside = True
        self._path = path

    @property
    def asset_path(self) -> Tensor:
        """The path, as a scalar string tensor."""
        return self._path
