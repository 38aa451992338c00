"""Modules that are imported when first used: what happens when somebody presses Ctrl-C meanwhile."""

import signal
import sys

import pytest

from headrace._src.core.lazy import LazyModule

SOURCE = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
for _ in range(100):  # the signal would be handled here
    pass
complete = True
"""


@pytest.fixture
def interrupting(tmp_path, monkeypatch):
    (tmp_path / "interrupted_library.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "interrupted_library"
    sys.modules.pop("interrupted_library", None)


def test_an_interrupt_waits_for_the_end_of_an_import(interrupting, interrupts_answered):
    module = LazyModule(interrupting)
    with pytest.raises(KeyboardInterrupt):
        module.complete
    assert sys.modules[interrupting].complete  # no half-imported library is left
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert module.complete


def test_an_interrupt_that_the_program_ignores_stays_ignored(interrupting):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert LazyModule(interrupting).complete
    finally:
        signal.signal(signal.SIGINT, before)
