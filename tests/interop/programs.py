"""All programs of the interoperability proof."""

import programs_functions  # noqa: F401
import programs_layers  # noqa: F401
import programs_optimizers  # noqa: F401
import programs_preprocessing  # noqa: F401
import programs_state  # noqa: F401
import programs_values  # noqa: F401
from catalog import PROGRAMS  # noqa: F401
