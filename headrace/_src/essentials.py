"""What `import headrace` loads at once: tensors with their operators and indexing; the rest comes when asked for."""

import logging

from headrace._src.core.operating_system import keep_freed_memory
from headrace._src.formats import registered_messages as registered_messages
from headrace._src.ops.arrays import indexed_slices as indexed_slices
from headrace._src.ops.arrays import indexing as indexing
from headrace._src.ops.arrays import joining as joining  # lists of tensors become tensors
from headrace._src.ops.math import operators as operators

keep_freed_memory()
# TF: programs set levels and handlers of the logger of that name, and mean the messages of this library.
logging.getLogger("headrace").parent = logging.getLogger("tensorflow")
