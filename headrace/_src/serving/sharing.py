"""What the processes of a server know of each other: the values of models, what each has counted, and which models."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import Callable
from typing import Any

from headrace._src.core import errors, operating_system
from headrace._src.core.lazy import LazyModule
from headrace._src.serving import configuration
from headrace._src.serving.metrics import Metrics
from headrace._src.serving.models import Models
from headrace._src.serving.shared_weights import SharedWeights

logger = logging.getLogger("headrace.serving")
_messages = LazyModule("headrace._src.formats.serving_messages")
_PAUSE = 0.5  # seconds between two looks at what the others say
_MODELS = "models.config"
_COUNTS, _UP = ".counts", ".up"


class SharedFolder:
    """A folder in which the processes of a server leave what the others are to know.

    Counts stay there when a process ends, so that sums never fall.

    Args:
        folder: best in memory.
    """

    def __init__(self, folder: str):
        self._folder = folder
        self._own = f"{os.getpid()}-{id(self):x}"
        self._seen: bytes | None = None
        self.weights = SharedWeights(folder)

    def _put(self, name, data):
        path = os.path.join(self._folder, name)
        with open(f"{path}.{self._own}.new", "wb") as file:
            file.write(data)
        operating_system.replace(f"{path}.{self._own}.new", path)

    def say_up(self, number: int) -> None:
        """Say that the process of a number answers requests."""
        self._put(f"{number}{_UP}", str(os.getpid()).encode())

    def is_up(self, number: int, process: int) -> bool:
        """Whether a process has said so."""
        try:
            with open(os.path.join(self._folder, f"{number}{_UP}"), "rb") as file:
                return file.read() == str(process).encode()
        except FileNotFoundError:
            return False

    def put_counts(self, metrics: Metrics) -> None:
        """Tell the others what this process has counted."""
        self._put(self._own + _COUNTS, json.dumps(metrics.state()).encode())

    def other_counts(self) -> list[Any]:
        """What others have counted, a moment ago."""
        found = []
        for name in os.listdir(self._folder):
            if name.endswith(_COUNTS) and name != self._own + _COUNTS:
                with contextlib.suppress(OSError, ValueError), open(os.path.join(self._folder, name), "rb") as file:
                    found.append(json.loads(file.read()))
        return found

    def put_models(self, config: bytes) -> None:
        """Tell the others which models are served from now on."""
        self._seen = config
        self._put(_MODELS, config)

    def follow_models(self, models: Models) -> None:
        """Serve the models that another process was told to serve."""
        try:
            with open(os.path.join(self._folder, _MODELS), "rb") as file:
                config = file.read()
        except FileNotFoundError:
            return
        if config != self._seen:
            self._seen = config
            try:
                models.reload(configuration.settings_of(_messages.ModelServerConfig.FromString(config)))
            except errors.OpError as error:  # what is served stays
                logger.error("The models that another process serves cannot be used: %s", error.message)

    async def exchange(self, metrics: Metrics, models: Models) -> None:
        """Go on telling and following, until it is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            for function, arguments in ((self.put_counts, (metrics,)), (self.follow_models, (models,))):
                await loop.run_in_executor(None, _without_end, function, *arguments)
            await asyncio.sleep(_PAUSE)


def _without_end(function: Callable, *arguments: Any) -> None:
    try:
        function(*arguments)
    except OSError as error:  # the folder may be full for a moment
        logger.warning("Other processes cannot be told: %s", error)
