"""The public names of `tf.lite`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.lite.comparing import compare as compare
    from headrace._src.lite.converter import OpsSet as OpsSet
    from headrace._src.lite.converter import Optimize as Optimize
    from headrace._src.lite.converter import RepresentativeDataset as RepresentativeDataset
    from headrace._src.lite.converter import TFLiteConverter as TFLiteConverter
    from headrace._src.lite.converter import TargetSpec as TargetSpec
    from headrace._src.lite.interpreter import Interpreter as Interpreter
    from headrace.lite import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
