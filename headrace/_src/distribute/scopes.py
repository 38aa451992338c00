"""Blocks in which a strategy is in force."""

from __future__ import annotations

import contextlib
from typing import Any


class Scope:
    """What `Strategy.scope` returns. It can be entered several times, one after another or within itself.

    Args:
        strategy: whose scope it is. While it is entered, the strategy holds it: `strategy.scope().__enter__()`, which
            notebooks have in a cell of its own, lasts until the end of the program.
    """

    def __init__(self, strategy) -> None:
        self._strategy = strategy
        self._blocks: list[contextlib.AbstractContextManager] = []

    def __enter__(self) -> Any:
        block = self._strategy._block()
        strategy = block.__enter__()
        self._blocks.append(block)
        self._strategy._entered.append(self)
        return strategy

    def __exit__(self, *error: Any) -> Any:
        if not self._blocks:
            raise RuntimeError("This scope of a strategy is left without having been entered.")
        self._strategy._entered.remove(self)
        return self._blocks.pop().__exit__(*error)
