"""Comparing arrays within what a dtype can promise."""

import numpy as np

TOLERANCE = {
    "float16": (2e-3, 2e-3),
    "bfloat16": (2e-2, 2e-2),
    "float32": (2e-5, 2e-5),
    "float64": (1e-9, 1e-9),
    "complex64": (2e-5, 2e-5),
    "complex128": (1e-9, 1e-9),
}


def assert_close(got: np.ndarray, want: np.ndarray, rtol=None, atol=None, slack=1.0, what=""):
    """Same shape and values; exact for integers, bools and strings."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, want {want.shape}"
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, want {want.dtype}"
    name = want.dtype.name
    if name not in TOLERANCE:
        if name.startswith("float8"):
            got, want = got.astype(np.float32), want.astype(np.float32)
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    default = TOLERANCE[name]
    rtol = (default[0] if rtol is None else rtol) * slack
    atol = (default[1] if atol is None else atol) * slack
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol, atol, equal_nan=True, err_msg=what)
