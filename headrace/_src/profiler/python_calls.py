"""Calls of Python functions as events, for profiles with `python_tracer_level=1`."""

import os
import sys
import threading

from headrace._src.profiler.recording import Recorder, clock


class PythonCalls:
    """Writes down each call of a Python function, in all threads. It takes the place of `sys.setprofile`."""

    def __init__(self, recorder: Recorder):
        self._recorder = recorder
        self._local = threading.local()
        self._keys: dict = {}  # code to the key of its events
        self._before = None

    def begin(self) -> None:
        self._before = sys.getprofile()
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)

    def end(self) -> None:
        """Stop. Threads that run go on calling `_on_event`, which does nothing then, until they end."""
        threading.setprofile(None)  # type: ignore[arg-type]
        sys.setprofile(self._before)

    def _on_event(self, frame, event, argument):
        if not self._recorder.running:
            sys.setprofile(None)
            return
        if event == "call":
            self._starts().append((frame.f_code, clock()))
        elif event == "return":
            starts = self._starts()
            while starts:  # a call that an exception of the tracer's cut off has no end
                code, start = starts.pop()
                if code is frame.f_code:
                    self._recorder.add(start, clock(), self._key(code))
                    return

    def _starts(self):
        try:
            return self._local.starts
        except AttributeError:
            starts = self._local.starts = []
            return starts

    def _key(self, code):
        key = self._keys.get(code)
        if key is None:
            file = os.path.basename(code.co_filename)
            key = self._keys[code] = self._recorder.key(f"${file}:{code.co_firstlineno} {code.co_name}")
        return key
