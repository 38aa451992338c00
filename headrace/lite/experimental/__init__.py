"""The public names of `tf.lite.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.lite.analyzer import ModelAnalyzer as _Analyzer
    from headrace._src.lite.authoring import OpResolverType as OpResolverType
    from headrace._src.lite.authoring import load_delegate as load_delegate
    from headrace.lite.experimental import authoring as authoring
    Analyzer = _Analyzer
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
