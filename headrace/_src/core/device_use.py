"""Which devices there are, and whether the program has begun to use them."""

import os
import sys
from typing import Any

from headrace._src.core.context import HOST, accelerated
from headrace._src.core.lazy import LazyModule

_import_machinery = LazyModule("importlib.util")

# Full names. The device layer adds virtual and accelerator devices.
available: set[str] = {HOST}
# Whether the program has made tensors or run ops. TF: from then on its devices stay as they are.
in_use = False
# Accelerators by full name (None for one that was asked for and is not there), and the one that functions run on when
# nobody says where; core/accelerators.py finds them.
accelerated = accelerated
default: Any = None
# Whether the host runs what the device that was asked for cannot, or when there is none of that name.
soft_placement = True
# Whether it is written down where operations are placed.
logs_placement = False
# Whether somebody has looked for accelerators.
has_looked = False
# Whether there is another source of them than jax: stand-ins, in tests.
is_offered = False


def log_placement(steps) -> None:
    """Write a line to stderr for each operation of a graph that is about to run, with its device."""
    unsaid = HOST if default is None else default.name
    lines = [f"{step.name}: ({step.record.name}): {step.device or unsaid}\n" for step in steps]
    sys.stderr.write("".join(lines))


class ElsewhereValue:
    """A value that is neither the host's nor that of the device of the host's programs."""

    __slots__ = ()

    def host(self) -> Any:
        """The value as a NumPy array, which nobody may change."""
        raise NotImplementedError

    def own_copy(self) -> Any:
        """The same value in memory that nobody else has, for a variable, which programs change."""
        raise NotImplementedError


# Packages that let jax use something else than the host's processors. Plugins stand in the first.
_PLUGINS, _TPU = "jax_plugins", "libtpu"


def may_have_accelerators() -> bool:
    """Whether there are any; or could be, as far as that can be told without importing jax, while nobody has looked.

    Most machines have none, and importing jax takes longer than many a program.
    """
    return default is not None if has_looked else is_offered or not reason_for_none()


def reason_for_none() -> str:
    """Why jax will not find accelerators; empty when it may."""
    wanted = wanted_platforms()
    if wanted and set(wanted) <= {"cpu"}:
        return "JAX_PLATFORMS asks for the processors alone"
    if not wanted and not any(_import_machinery.find_spec(name) for name in (_PLUGINS, _TPU)):
        return "no plugin of jax for an accelerator is installed"
    if hides_all_gpus() and set(wanted) <= {"cpu", "cuda", "gpu"} and not _import_machinery.find_spec(_TPU):
        return "CUDA_VISIBLE_DEVICES hides all GPUs"
    return ""


def wanted_platforms() -> list[str]:
    """What the environment says jax may use, in lower case; empty when it does not say."""
    text = os.environ.get("JAX_PLATFORMS", "") or os.environ.get("JAX_PLATFORM_NAME", "")
    return [name.strip().lower() for name in text.split(",") if name.strip()]


def hides_all_gpus() -> bool:
    """Whether CUDA_VISIBLE_DEVICES is there and names no device, as CUDA reads it."""
    text = os.environ.get("CUDA_VISIBLE_DEVICES")
    return text is not None and (not text.strip() or text.strip().startswith("-"))
