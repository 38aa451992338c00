"""`tf.saved_model.LoadOptions`."""

from typing import Any

from headrace._src.op.api import api


@api("saved_model.LoadOptions")
class LoadOptions:
    """How a SavedModel is loaded.

    Args:
        allow_partial_checkpoint: whether variables that the files have no value for are left without one.
        experimental_io_device: accepted; files are read on this machine.
        experimental_skip_checkpoint: leave all variables without a value, and read none.
        experimental_variable_policy: None, or a `VariablePolicy` (or its name): whether variables get the devices that
            they were saved with.
        experimental_load_function_aliases: keep the aliases of functions as `function_aliases` of the loaded object.
        experimental_allow_file_access: whether operations of the model may touch files outside of its own folder.

    >>> tf.saved_model.LoadOptions(allow_partial_checkpoint=True).allow_partial_checkpoint
    True
    """

    __slots__ = (
        "allow_partial_checkpoint", "experimental_allow_file_access", "experimental_io_device",
        "experimental_load_function_aliases", "experimental_skip_checkpoint", "experimental_variable_policy",
        "open_checkpoint",
    )  # fmt: skip

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: Any = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
        experimental_allow_file_access: bool = False,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_load_function_aliases = experimental_load_function_aliases
        self.experimental_allow_file_access = experimental_allow_file_access
        self.open_checkpoint: Any = (
            None  # what opens the values instead of `BundleReader`: for processes that share them
        )
