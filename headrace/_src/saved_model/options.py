"""`tf.saved_model.SaveOptions`: what can be chosen when a SavedModel is written."""

import enum
from collections.abc import Mapping
from typing import Any

from headrace._src.op.api import api


@api("saved_model.experimental.VariablePolicy")
class VariablePolicy(enum.Enum):
    """What a SavedModel says about where variables are.

    NONE: nothing. SAVE_VARIABLE_DEVICES: the device of each. EXPAND_DISTRIBUTED_VARIABLES: also the copies that a
    strategy keeps of a variable.
    """

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"

    def _save_variable_devices(self) -> bool:
        return self is not VariablePolicy.NONE

    def _expand_distributed_variables(self) -> bool:
        return self is VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES

    @staticmethod
    def from_obj(obj: Any) -> "VariablePolicy":
        """The policy that is meant: one itself, its name in any case, or None.

        Raises:
            ValueError: there is no such policy.
        """
        if isinstance(obj, VariablePolicy):
            return obj
        key = None if obj is None else str(obj).lower()
        for policy in VariablePolicy:
            if key == policy.value:
                return policy
        raise ValueError(f"Received invalid VariablePolicy value: {obj}.")


@api("saved_model.SaveOptions")
class SaveOptions:
    """Choices for `tf.saved_model.save`.

    Args:
        namespace_whitelist: the namespaces ("Addons" of `Addons>Op`) from which ops may come; all when None.
        save_debug_info: whether `debug/saved_model_debug_info.pb` is written, with the lines that made operations.
        function_aliases: names for functions, by which programs that read the file find them: a dict from names to
            `tf.function`s.
        experimental_debug_stripper: whether assertions and checks of numbers are left out of the graph.
        experimental_io_device: accepted; files are written by this process.
        experimental_variable_policy: a `VariablePolicy`, or its name.
        experimental_custom_gradients: whether the gradient functions of `tf.custom_gradient` are part of the model, so
            that it is trained with them where it is loaded.
        experimental_image_format: accepted; a model below 2 GB has the same format with it.
        experimental_skip_saver: True leaves out the values of variables, and what restores them.
        experimental_sharding_callback: accepted; there is one file of values.
        extra_tags: further tags of the meta graph, besides "serve".

    >>> tf.saved_model.SaveOptions(save_debug_info=True).save_debug_info
    True
    """

    __slots__ = (
        "experimental_custom_gradients", "experimental_debug_stripper", "experimental_image_format",
        "experimental_io_device", "experimental_sharding_callback", "experimental_skip_saver",
        "experimental_variable_policy", "extra_tags", "function_aliases", "namespace_whitelist", "save_debug_info",
    )  # fmt: skip

    def __init__(
        self,
        namespace_whitelist=None,
        save_debug_info=False,
        function_aliases=None,
        experimental_debug_stripper=False,
        experimental_io_device=None,
        experimental_variable_policy=None,
        experimental_custom_gradients=True,
        experimental_image_format=False,
        experimental_skip_saver=False,
        experimental_sharding_callback=None,
        extra_tags=None,
    ) -> None:
        self.namespace_whitelist = _namespaces(namespace_whitelist)
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags
        if function_aliases is not None and not isinstance(function_aliases, Mapping):
            raise TypeError(f"function_aliases must be a dictionary, got {type(function_aliases).__name__}.")


def _namespaces(namespaces):
    if namespaces is None:
        return None
    if not isinstance(namespaces, list):
        raise TypeError(f"`namespace_whitelist` must be a list of strings. Got: {namespaces} with type "
                        f"{type(namespaces)}.")
    for name in namespaces:
        if not isinstance(name, str):
            raise ValueError(f"Whitelisted namespace must be a string. Got: {name} of type {type(name)}.")
    return list(namespaces)
