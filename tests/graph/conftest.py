"""What tests of graphs share."""

import pytest

from headrace._src.graph.compilation import set_background_compilation


@pytest.fixture
def interpreter_only():
    """Nothing is compiled, unless a function asks for it."""
    set_background_compilation(False)
    yield
    set_background_compilation(True)
