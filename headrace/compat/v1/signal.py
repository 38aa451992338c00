"""The public names of `tf.compat.v1.signal`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.ops.signal.cosine_transforms import dct as dct
    from headrace._src.ops.signal.cosine_transforms import idct as idct
    from headrace._src.ops.signal.cosine_transforms import inverse_mdct as inverse_mdct
    from headrace._src.ops.signal.cosine_transforms import mdct as mdct
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
    from headrace._src.ops.signal.fourier_nd import fftnd as fftnd
    from headrace._src.ops.signal.fourier_nd import fftshift as fftshift
    from headrace._src.ops.signal.fourier_nd import ifftnd as ifftnd
    from headrace._src.ops.signal.fourier_nd import ifftshift as ifftshift
    from headrace._src.ops.signal.fourier_nd import irfftnd as irfftnd
    from headrace._src.ops.signal.fourier_nd import rfftnd as rfftnd
    from headrace._src.ops.signal.framing import frame as frame
    from headrace._src.ops.signal.framing import inverse_stft as inverse_stft
    from headrace._src.ops.signal.framing import inverse_stft_window_fn as inverse_stft_window_fn
    from headrace._src.ops.signal.framing import overlap_and_add as overlap_and_add
    from headrace._src.ops.signal.framing import stft as stft
    from headrace._src.ops.signal.mel import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
    from headrace._src.ops.signal.mel import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
    from headrace._src.ops.signal.window_functions import hamming_window as hamming_window
    from headrace._src.ops.signal.window_functions import hann_window as hann_window
    from headrace._src.ops.signal.window_functions import kaiser_bessel_derived_window as kaiser_bessel_derived_window
    from headrace._src.ops.signal.window_functions import kaiser_window as kaiser_window
    from headrace._src.ops.signal.window_functions import vorbis_window as vorbis_window
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
