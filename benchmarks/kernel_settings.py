"""What chooses the instructions of one library's kernels: libraries are compared with what each chooses by itself."""

import os

_NAMES = (
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS",
)  # fmt: skip


def drop() -> bool:
    """Take the settings from the environment, so that processes started later choose; whether there were any."""
    found = [name for name in _NAMES if os.environ.pop(name, None) is not None]
    return bool(found)
