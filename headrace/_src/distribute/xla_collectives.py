"""Sums and gathers over processes by XLA's own collectives (gloo, between CPUs), in a client of their own.

The client of compiled programs is another one, which knows only this process. What is exchanged is a flat array; each
size and dtype is a small program in StableHLO, compiled when it is first needed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from headrace._src.core.large_arrays import aligned_empty
from headrace._src.core.lazy import LazyModule, jax, jax_mlir, mlir_ir, xla_client
from headrace._src.distribute.gloo_output import without_gloos_lines
from headrace._src.graph.compiling.devices import import_jax

_jaxlib = LazyModule("jaxlib._jax")

_START_SECONDS = 300
_YEAR = 365 * 24 * 3600  # who is alive is the rendezvous's business: XLA's service would end the whole process

# By dtype, how StableHLO writes it. Others travel as bytes.
_TYPES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
}  # fmt: skip

_SUM = """
module @sum attributes {{mhlo.num_replicas = {n} : i32, mhlo.num_partitions = 1 : i32}} {{
  func.func public @main(%a: tensor<{size}x{t}>) -> tensor<{size}x{t}> {{
    %0 = "stablehlo.all_reduce"(%a) <{{replica_groups = {groups}, channel_handle = {channel}}}> ({{
      ^bb0(%x: tensor<{t}>, %y: tensor<{t}>):
        %s = stablehlo.add %x, %y : tensor<{t}>
        stablehlo.return %s : tensor<{t}>
    }}) : (tensor<{size}x{t}>) -> tensor<{size}x{t}>
    return %0 : tensor<{size}x{t}>
  }}
}}"""

_GATHER = """
module @gather attributes {{mhlo.num_replicas = {n} : i32, mhlo.num_partitions = 1 : i32}} {{
  func.func public @main(%a: tensor<1x{size}x{t}>) -> tensor<{n}x{size}x{t}> {{
    %0 = "stablehlo.all_gather"(%a) <{{
      all_gather_dim = 0 : i64, replica_groups = {groups}, channel_handle = {channel}
    }}> : (tensor<1x{size}x{t}>) -> tensor<{n}x{size}x{t}>
    return %0 : tensor<{n}x{size}x{t}>
  }}
}}"""


def has_type(dtype: np.dtype) -> bool:
    """Whether XLA can add up arrays of this dtype between processes."""
    return dtype.name in _TYPES


def serve(address: str, count: int) -> Any:
    """Start the service through which XLA's clients find each other; it lives as long as what is returned."""
    import_jax()
    return _jaxlib.get_distributed_runtime_service(
        address, count, heartbeat_timeout=_YEAR, shutdown_timeout=_START_SECONDS
    )


class Processes:
    """The processes of a training, as XLA sees them.

    Args:
        service: the address of the service.
        rank: of this process.
        count: how many there are.
        host: the address of this machine at which the others reach this process.
    """

    def __init__(self, service: str, rank: int, count: int, host: str):
        import_jax()
        self._count = count
        connection = _jaxlib.get_distributed_runtime_client(
            service, rank, init_timeout=_START_SECONDS, shutdown_timeout=_START_SECONDS, heartbeat_timeout=_YEAR,
            shutdown_on_destruction=False, use_compression=False,
        )  # fmt: skip
        connection.connect()
        collectives = _jaxlib.make_gloo_tcp_collectives(distributed_client=connection, hostname=host)
        self._client = xla_client.make_cpu_client(
            asynchronous=False, distributed_client=connection, node_id=rank, num_nodes=count,
            collectives=collectives, num_devices=1,
        )  # fmt: skip
        (self._device,) = self._client.local_devices()
        self._sharding = jax.sharding.SingleDeviceSharding(self._device)
        self._program = functools.lru_cache(256)(self._compiled)
        # The first operation connects all with all. From then on nobody needs the service, whose end, with the process
        # of the chief, would else abort those that are left before they can say a word.
        with without_gloos_lines():
            self.gather(np.zeros(1, np.uint8))
        connection.shutdown()

    def _compiled(self, text, size, dtype):
        """What runs one of the texts above, on flat arrays."""
        ranks = ", ".join(map(str, range(self._count)))
        written = text.format(
            n=self._count, size=size, t=_TYPES[dtype.name], groups=f"dense<[[{ranks}]]> : tensor<1x{self._count}xi64>",
            channel="#stablehlo.channel_handle<handle = 1, type = 1>",
        )  # fmt: skip
        options = xla_client.CompileOptions()
        options.num_replicas, options.num_partitions = self._count, 1
        devices = self._client.devices()
        options.device_assignment = xla_client.DeviceAssignment.create(np.array([[device.id] for device in devices]))
        with jax.enable_x64(True), jax_mlir.make_ir_context(), mlir_ir.Location.unknown():
            module = mlir_ir.Module.parse(written)
            return self._client.compile_and_load(module, xla_client.DeviceList(tuple(devices)), options)

    def _run(self, program, array):
        with jax.enable_x64(True):
            described = jax.core.ShapedArray(array.shape, array.dtype)
            given = xla_client.batched_device_put(described, self._sharding, [array], [self._device])
            results = program.execute_sharded([given])
            return np.asarray(results.disassemble_into_single_device_arrays()[0][0])

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum of the flat arrays of all processes."""
        return self._run(self._program(_SUM, array.size, array.dtype), array)

    def gather(self, array: np.ndarray) -> np.ndarray:
        """The flat arrays of all processes, as rows by rank."""
        return self._run(self._program(_GATHER, array.size, array.dtype), array.reshape(1, -1))


def flat_memory(size: int, dtype: np.dtype) -> np.ndarray:
    """A flat array that XLA can use without a copy."""
    return aligned_empty((size,), dtype)
