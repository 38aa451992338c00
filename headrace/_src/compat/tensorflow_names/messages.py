"""Modules of TensorFlow's messages, such as `tensorflow.core.util.event_pb2`, made of headrace's messages.

Each is the `.proto` file of that path, which a file of `formats/` describes.
"""

import types

from headrace._src.core.lazy import LazyModule, message_factory
from headrace._src.formats.message_classes import pool, publish
from headrace._src.op.loading import load

enum_type_wrapper = LazyModule("google.protobuf.internal.enum_type_wrapper")

# By the file of `formats/` with the messages: modules, without `tensorflow.`.
_MODULES = {
    "event_messages": """
        core.framework.allocation_description_pb2 core.framework.tensor_description_pb2 core.framework.step_stats_pb2
        core.framework.cost_graph_pb2 core.protobuf.config_pb2 core.framework.summary_pb2 core.util.event_pb2
        """,
    "example_messages": "core.example.feature_pb2 core.example.example_pb2",
    "graph_messages": """
        core.framework.tensor_shape_pb2 core.framework.types_pb2 core.framework.resource_handle_pb2
        core.framework.tensor_pb2 core.framework.attr_value_pb2 core.framework.full_type_pb2
        core.framework.node_def_pb2 core.framework.op_def_pb2 core.framework.function_pb2
        core.framework.graph_debug_info_pb2 core.framework.versions_pb2 core.framework.graph_pb2
        core.protobuf.struct_pb2
        """,
    "checkpoint_messages": """
        core.protobuf.trackable_object_graph_pb2 core.framework.tensor_slice_pb2 core.protobuf.tensor_bundle_pb2
        core.util.saved_tensor_slice_pb2 python.training.checkpoint_state_pb2
        """,
    "model_messages": """
        core.framework.variable_pb2 core.protobuf.saver_pb2 core.protobuf.saved_object_graph_pb2
        core.protobuf.meta_graph_pb2 core.protobuf.saved_model_pb2 core.protobuf.fingerprint_pb2
        """,
    "cluster_messages": "core.protobuf.cluster_pb2 core.protobuf.named_tensor_pb2 core.protobuf.error_codes_pb2",
    "profile_messages": "tsl.profiler.protobuf.xplane_pb2",
}
# Where the path of the file is another than the module's name says.
_PATHS = {"tsl.profiler.protobuf.xplane_pb2": "tsl/profiler/protobuf/xplane.proto"}
# Names that are not messages of the file.
_OTHERS = {
    "core.framework.summary_pb2": {"HistogramProto": "formats.event_messages:HistogramProto"},
    "core.protobuf.config_pb2": {
        "ConfigProto": "compat.sessions.options:ConfigProto",
        "GPUOptions": "compat.sessions.options:GPUOptions",
        "GraphOptions": "compat.sessions.options:GraphOptions",
        "OptimizerOptions": "compat.sessions.options:OptimizerOptions",
        "RunOptions": "compat.sessions.options:RunOptions",
    },
}
# TF: a file whose contents stand in another one that it imports; files that use it ask it for that one's module.
_IMPORTED = {"core.protobuf.error_codes_pb2": "xla_dot_tsl_dot_protobuf_dot_error__codes__pb2"}
FILES = {module: file for file, modules in _MODULES.items() for module in modules.split()}
FOLDERS = {module.rpartition(".")[0] for module in FILES} | {"core", "tsl", "tsl.profiler", "python"}


class MessageModule(types.ModuleType):
    """A module of messages, loaded when one of its names is read.

    Args:
        name: its full name.
        inside: the name without `tensorflow.`.
    """

    def __init__(self, name: str, inside: str):
        super().__init__(name, "Messages of this file of TensorFlow's, as headrace has them.")
        self.__inside = inside

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.__found(name)
        setattr(self, name, value)
        return value

    def load(self):
        """Make the messages, so that files of other packages can refer to them."""
        load(f"formats.{FILES[self.__inside]}")
        publish()

    def __file(self):
        load(f"formats.{FILES[self.__inside]}")
        path = _PATHS.get(self.__inside, f"tensorflow/{self.__inside.replace('.', '/').removesuffix('_pb2')}.proto")
        return pool().FindFileByName(path)

    def __found(self, name):
        file = self.__file()
        others = _OTHERS.get(self.__inside, {})
        if name == "DESCRIPTOR":
            return file
        if name == _IMPORTED.get(self.__inside):
            return self
        if name in others:
            module, _, attribute = others[name].partition(":")
            return getattr(load(module), attribute)
        if name in file.message_types_by_name:
            return message_factory.GetMessageClass(file.message_types_by_name[name])
        if name in file.enum_types_by_name:
            return enum_type_wrapper.EnumTypeWrapper(file.enum_types_by_name[name])
        for enum in file.enum_types_by_name.values():
            if name in enum.values_by_name:
                return enum.values_by_name[name].number
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} in headrace.")

    def __dir__(self):
        file = self.__file()
        values = [value for enum in file.enum_types_by_name.values() for value in enum.values_by_name]
        names = [*file.message_types_by_name, *file.enum_types_by_name, *values]
        return sorted([*names, *_OTHERS.get(self.__inside, {}), "DESCRIPTOR"])
