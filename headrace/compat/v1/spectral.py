"""The public names of `tf.compat.v1.spectral`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.signal.cosine_transforms import dct as dct
    from headrace._src.ops.signal.cosine_transforms import idct as idct
    from headrace._src.ops.signal.fourier import fft as fft
    from headrace._src.ops.signal.fourier import fft2d as fft2d
    from headrace._src.ops.signal.fourier import fft3d as fft3d
    from headrace._src.ops.signal.fourier import ifft as ifft
    from headrace._src.ops.signal.fourier import ifft2d as ifft2d
    from headrace._src.ops.signal.fourier import ifft3d as ifft3d
    from headrace._src.ops.signal.fourier import irfft as irfft
    from headrace._src.ops.signal.fourier import irfft2d as irfft2d
    from headrace._src.ops.signal.fourier import irfft3d as irfft3d
    from headrace._src.ops.signal.fourier import rfft as rfft
    from headrace._src.ops.signal.fourier import rfft2d as rfft2d
    from headrace._src.ops.signal.fourier import rfft3d as rfft3d
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
