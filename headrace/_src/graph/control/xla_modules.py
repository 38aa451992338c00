"""XlaCallModule: programs in StableHLO that others have made, such as what jax2tf makes of functions of jax."""

import functools

import numpy as np

from headrace._src.core import errors
from headrace._src.core.lazy import jax, jax_mlir, jaxlib_mlir, mlir_functions, mlir_ir, stablehlo, xla_client
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.compiling.devices import host, provide_lapack
from headrace._src.op.definition import Op
from headrace._src.op.traits import BETWEEN_PROGRAMS

# The calling conventions that jax has had so far; from 5 on, sizes that vary are computed within the program.
_OLDEST, _NEWEST = 5, 10
_INNER = "_headrace_called"


@functools.lru_cache(64)
def _compiled(module, shapes, platforms):
    """The program for arguments of these shapes, and how many results it has."""
    device = host().devices[0]
    provide_lapack(module)
    with jax.enable_x64(True), jax_mlir.make_ir_context(), mlir_ir.Location.unknown():
        found = jaxlib_mlir.deserialize_portable_artifact(module)
        program = found if isinstance(found, mlir_ir.Module) else mlir_ir.Module.parse(found)
        _give_shapes(program, shapes, platforms)
        program = jax_mlir.refine_polymorphic_shapes(program)
        devices = xla_client.DeviceList((device,))
        return device.client.compile_and_load(program, devices, xla_client.CompileOptions())


def _give_shapes(program, shapes, platforms):
    """Put a function before the program's that takes arguments of these shapes, and says which platform this is."""
    main = mlir_ir.SymbolTable(program.operation)["main"]
    wanted = main.type.inputs
    has_platform = len(platforms) > 1
    if len(wanted) != len(shapes) + has_platform:
        raise errors.invalid_argument(
            f"XlaCallModule: the module takes {len(wanted) - has_platform} arguments, got {len(shapes)}."
        )
    main.attributes["sym_name"] = mlir_ir.StringAttr.get(_INNER)
    main.attributes["sym_visibility"] = mlir_ir.StringAttr.get("private")
    arrays = wanted[has_platform:]
    given = [
        mlir_ir.RankedTensorType.get(shape, mlir_ir.RankedTensorType(kind).element_type)
        for shape, kind in zip(shapes, arrays)
    ]
    with mlir_ir.InsertionPoint.at_block_begin(program.body):
        function = mlir_functions.FuncOp(
            "main", mlir_ir.FunctionType.get(given, main.type.results), visibility="public"
        )
        block = function.add_entry_block()
        with mlir_ir.InsertionPoint(block):
            arguments = []
            if has_platform:
                number = np.array(platforms.index("CPU"), np.int32)
                arguments.append(stablehlo.ConstantOp(mlir_ir.DenseElementsAttr.get(number)).result)
            for value, kind in zip(block.arguments, arrays):
                arguments.append(value if value.type == kind else stablehlo.ConvertOp(kind, value).result)
            call = mlir_functions.CallOp(main.type.results, mlir_ir.FlatSymbolRefAttr.get(_INNER), arguments)
            mlir_functions.ReturnOp(call.results)


def _run(args, version, module, Sout, Tout, platforms, function_list, disabled_checks, **attrs):
    if not _OLDEST <= version <= _NEWEST:
        raise errors.unimplemented(
            f"XlaCallModule: the module is of version {version}; {_OLDEST} to {_NEWEST} can be run."
        )
    if function_list:
        raise errors.unimplemented("XlaCallModule: a module that calls functions of TensorFlow cannot be run.")
    platforms = tuple(str(platform) for platform in platforms)
    if platforms and "CPU" not in platforms and "platform" not in disabled_checks:
        raise errors.NotFoundError(
            None, None,
            f"The current platform CPU is not among the platforms required by the module: [{', '.join(platforms)}]",
        )  # fmt: skip
    data = module if isinstance(module, bytes) else module.encode("utf-8", "surrogateescape")
    try:
        program = _compiled(data, tuple(x.shape for x in args), platforms)
        with jax.enable_x64(True):
            results = program.execute_sharded([host().to_device(np.ascontiguousarray(x)) for x in args])
            parts = results.disassemble_into_single_device_arrays()
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        raise errors.invalid_argument(f"XlaCallModule: {error}") from None
    return [np.asarray(part[0]) for part in parts]


def _infer(args, Sout, **attrs):
    return ([TensorShape(shape) for shape in Sout],)


XLA_CALL_MODULE = Op(
    "XlaCallModule",
    "args: list(Tin), *, version: int, module: string, Sout: list(shape), Tout: list(type), "
    "platforms: list(string) = [], dim_args_spec: list(string) = [], has_token_input_output: bool = False, "
    "function_list: list(func) = [], disabled_checks: list(string) = [], use_shardy_partitioner: bool = False"
    " -> output: list(Tout)",
    traits=BETWEEN_PROGRAMS,
    infer=_infer,
    kernel=_run,
    lower=None,  # it is a program of its own
    grad=None,
    stateful=True,
)


def call_module(
    args, *, version, module, Tout, Sout, platforms=(), function_list=(), has_token_input_output=False,
    disabled_checks=(), use_shardy_partitioner=False,
):  # fmt: skip
    """What `tensorflow.compiler.tf2xla.python.xla` has: run a module on tensors."""
    return XLA_CALL_MODULE(
        list(args), version=version, module=module, Tout=list(Tout), Sout=list(Sout), platforms=list(platforms),
        function_list=list(function_list), has_token_input_output=has_token_input_output,
        disabled_checks=list(disabled_checks), use_shardy_partitioner=use_shardy_partitioner,
    )  # fmt: skip


def call_module_maximum_supported_version() -> int:
    """The newest calling convention of modules that can be run."""
    return _NEWEST


class OpSharding:
    """How a value is divided among devices, which it never is here."""

    def __init__(self, **fields):
        raise errors.unimplemented("values are not divided among devices: there is one.")
