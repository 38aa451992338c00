"""Modules that are imported when first used, so that `import headrace` stays light."""

import importlib
import sys
import types


def imported(name: str) -> types.ModuleType:
    """The module of that name.

    Raises:
        ModuleNotFoundError: its package is not installed; the message says how to do that.
    """
    try:
        package = name.partition(".")[0]
        if sys.modules.get(name) is not None or package == "headrace" or package in sys.stdlib_module_names:
            return importlib.import_module(name)  # which waits while another thread imports it
        with _operating_system.interrupted_later():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        said = _missing_names.about(f"import {error.name}")
        if said is None:
            raise
        absent = error.name
    raise ModuleNotFoundError(said, name=absent)


class LazyModule(types.ModuleType):
    """Stands for a module until one of its attributes is read."""

    def __init__(self, name: str):
        super().__init__(name)
        self.__dict__["_target"] = name

    def __getattr__(self, attribute):
        if attribute.startswith("__") and attribute != "__version__":
            raise AttributeError(attribute)  # tools that look at every object must not import anything
        value = getattr(imported(self.__dict__["_target"]), attribute)
        # Later reads of the same attribute find it here, without this function.
        self.__dict__[attribute] = value
        return value

    def __dir__(self):
        return dir(imported(self.__dict__["_target"]))


_missing_names = LazyModule("headrace._src.core.missing_names")
_operating_system = LazyModule("headrace._src.core.operating_system")
jax = LazyModule("jax")
jnp = LazyModule("jax.numpy")
lax = LazyModule("jax.lax")
jax_programs = LazyModule("jax.extend.core")
jax_profiler = LazyModule("jaxlib._profiler")
serialize_executable = LazyModule("jax.experimental.serialize_executable")
xla_client = LazyModule("jaxlib.xla_client")
xla_bridge = LazyModule("jax._src.xla_bridge")
jax_mlir = LazyModule("jax._src.interpreters.mlir")
jaxlib_mlir = LazyModule("jaxlib._jax.mlir")
jaxlib_lapack = LazyModule("jaxlib.lapack")
mlir_ir = LazyModule("jaxlib.mlir.ir")
mlir_functions = LazyModule("jaxlib.mlir.dialects.func")
stablehlo = LazyModule("jaxlib.mlir.dialects.stablehlo")
jax_special = LazyModule("jax.scipy.special")
jax_linalg = LazyModule("jax.scipy.linalg")
scipy_special = LazyModule("scipy.special")
scipy_linalg = LazyModule("scipy.linalg")
scipy_fft = LazyModule("scipy.fft")
scipy_sparse = LazyModule("scipy.sparse")
descriptor_pb2 = LazyModule("google.protobuf.descriptor_pb2")
descriptor_pool = LazyModule("google.protobuf.descriptor_pool")
message_factory = LazyModule("google.protobuf.message_factory")
protobuf_message = LazyModule("google.protobuf.message")
protobuf_text_format = LazyModule("google.protobuf.text_format")
google_crc32c = LazyModule("google_crc32c")
fsspec = LazyModule("fsspec")
fsspec_core = LazyModule("fsspec.core")
pillow_image = LazyModule("PIL.Image")
simplejpeg = LazyModule("simplejpeg")
imagecodecs = LazyModule("imagecodecs")
multiprocessing = LazyModule("multiprocessing")
multiprocessing_util = LazyModule("multiprocessing.util")
shared_memory = LazyModule("multiprocessing.shared_memory")
sqlite3 = LazyModule("sqlite3")
absl_app = LazyModule("absl.app")
absl_flags = LazyModule("absl.flags")
