"""`Variable.SaveSliceInfo`: which part of a larger variable one is, in checkpoints."""

from typing import Any

from headrace._src.core.lazy import LazyModule

_messages = LazyModule("headrace._src.formats.model_messages")


class SaveSliceInfo:
    """Which part of a larger variable this one is. TF: kept from 1.x."""

    def __init__(self, full_name=None, full_shape=None, var_offset=None, var_shape=None, save_slice_info_def=None,
                 import_scope=None):
        if save_slice_info_def is not None:
            proto = save_slice_info_def
            full_name = f"{import_scope.rstrip('/')}/{proto.full_name}" if import_scope else proto.full_name
            full_shape, var_offset = list(proto.full_shape), list(proto.var_offset)
            var_shape = list(proto.var_shape)
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    def to_proto(self, export_scope=None) -> Any:
        """This as a `SaveSliceInfoDef` message; None if it is not in the scope."""
        name, scope = self.full_name, f"{export_scope.rstrip('/')}/" if export_scope else ""
        if not name.startswith(scope):
            return None
        return _messages.SaveSliceInfoDef(
            full_name=name.removeprefix(scope), full_shape=self.full_shape, var_offset=self.var_offset,
            var_shape=self.var_shape,
        )  # fmt: skip

    @property
    def spec(self) -> str:
        """The slice in the text form of 1.x checkpoints."""
        full = " ".join(str(n) for n in self.full_shape)
        slices = ":".join(f"{at},{size}" for at, size in zip(self.var_offset, self.var_shape))
        return f"{full} {slices}"
