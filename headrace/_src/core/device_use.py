"""Which devices there are, and whether the program has begun to use them."""

from headrace._src.core.context import HOST

# Full names. The device layer adds virtual and accelerator devices.
available: set[str] = {HOST}
# Whether the program has made tensors or run ops. TF: from then on its devices stay as they are.
in_use = False
