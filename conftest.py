"""What every test and doctest may take for granted."""

import numpy
import pytest

import headrace


@pytest.fixture(autouse=True)
def _names_in_doctests(doctest_namespace):
    """Doctests need not say `import headrace as tf` and `import numpy as np`."""
    doctest_namespace["tf"] = headrace
    doctest_namespace["np"] = numpy
