"""Programs before the first run of a session, also for small ones; as a plugin of pytest, in all tests:

    PYTHONPATH=tests/compat pytest -p compiled_at_once tests/compat

That runs the recorded programs of 1.x in compiled sessions, in some minutes.
"""

import pytest

from headrace._src.graph.compiling import compilation


class _AtOnce(compilation._Entry):
    """Compiles before the first call, in the caller's thread."""

    def __init__(self, must_compile):
        super().__init__(True)


def compile_at_once(monkeypatch):
    """Compile all but the smallest graphs when they first run."""
    monkeypatch.setattr(compilation, "_FEW", 3)
    monkeypatch.setattr(compilation, "is_mostly_products", lambda steps: False)
    monkeypatch.setattr(compilation, "_Entry", _AtOnce)


@pytest.fixture(autouse=True)
def _all_compiled(monkeypatch):
    compile_at_once(monkeypatch)
