"""The public names of `tf.compat.v1.quantization`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_args as fake_quant_with_min_max_args
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
    from headrace._src.ops.nn.fake_quantization import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
    from headrace._src.ops.nn.quantization import dequantize as dequantize
    from headrace._src.ops.nn.quantization import quantize as quantize
    from headrace._src.ops.nn.quantization import quantize_and_dequantize as quantize_and_dequantize
    from headrace._src.ops.nn.quantization import quantize_and_dequantize_v2 as quantize_and_dequantize_v2
    from headrace._src.ops.nn.quantization import quantized_concat as quantized_concat
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
