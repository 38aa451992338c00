"""How uvicorn reads requests, with a limit for what comes before the body: its size, and how long it takes."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
from typing import Any

from headrace._src.core.lazy import LazyModule

_httptools_impl = LazyModule("uvicorn.protocols.http.httptools_impl")
_LARGEST_HEAD = 1 << 16  # bytes


def protocol_class(seconds: float) -> Any:
    """What uvicorn's `Config` takes as `http`.

    Args:
        seconds: how long the first line and the headers of a request may take.
    """
    if importlib.util.find_spec("httptools") is None:
        return "h11"  # which has such a limit, and is slower
    return functools.partial(_limited_class(), seconds)


@functools.cache
def _limited_class():
    class LimitedProtocol(_httptools_impl.HttpToolsProtocol):
        """Closes a connection whose headers are too many or too slow."""

        def __init__(self, seconds, *arguments, **options):
            super().__init__(*arguments, **options)
            self._seconds = seconds
            self._head = 0  # bytes of a head that is not complete
            self._is_in_head = True
            self._timer: asyncio.TimerHandle | None = None

        def on_message_begin(self):
            self._is_in_head = True
            super().on_message_begin()

        def on_headers_complete(self):
            self._is_in_head = False
            super().on_headers_complete()

        def data_received(self, data):
            super().data_received(data)
            if not self._is_in_head:  # nearly always: a head comes in one piece
                if self._timer is not None:
                    self._stop()
                return
            self._head += len(data)
            if self._head > _LARGEST_HEAD:
                self.send_400_response(f"The headers of the request have more than {_LARGEST_HEAD} bytes.")
                self._stop()
            elif self._timer is None:
                self._timer = self.loop.call_later(self._seconds, self.transport.close)

        def _stop(self):
            self._head = 0
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def connection_lost(self, exc):
            self._stop()
            super().connection_lost(exc)

    return LimitedProtocol
