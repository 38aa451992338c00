"""Cursors over one input: what most transformations need besides their own steps."""

from headrace._src.data.running.stages import Cursor, Run, Stage, stage_of

# In place of a number of elements that states of earlier versions do not have: with what is added, it stays below zero.
UNCOUNTED = -(1 << 62)


class InnerCursor(Cursor):
    """A cursor that pulls from the cursor of its stage's only input.

    Args:
        stage: it has one input.
        run: of the walk.
    """

    def __init__(self, stage: Stage, run: Run):
        self._stage = stage
        self._run = run
        self._inner = stage.inputs[0].cursor(run)

    def state(self):
        return {"inner": self._inner.state()}

    def restore(self, state):
        self._inner.restore(state["inner"])

    def close(self):
        self._inner.close()


class CallingCursor(InnerCursor):
    """One that calls functions of elements, and counts them for messages.

    The stage's `functions` are those that it calls: where their random numbers stand is part of the state.
    """

    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._number = 0

    def _call(self, function, arguments):
        """A function of an element, whose error names the element last pulled."""
        try:
            return function(arguments)
        except Exception as error:
            self._stage.failed(self._number - 1, error)

    def open(self, stage: Stage) -> Cursor:
        """A walk through a dataset that a function made."""
        return stage.cursor(self._run)

    def _pull(self):
        element = self._inner.next()
        if element is not None:
            self._number += 1
        return element

    def state(self):
        random = [function.state() for function in self._stage.functions]
        return {"number": self._number, "random": random, "inner": self._inner.state()}

    def restore(self, state):
        self._number = state["number"]
        self._inner.restore(state["inner"])
        for function, random in zip(self._stage.functions, state["random"]):
            function.restore(random)


class Opened:
    """A dataset that a function made of an element, and the walk through it.

    Args:
        cursor: the `CallingCursor` that asks; its stage's `function` makes the dataset.
        element: what the function is called with.
        saved: the state of another one of these, to go on from there.
    """

    def __init__(self, cursor: CallingCursor, element, saved: dict | None = None):
        self._element = element
        function = cursor._stage.function
        if saved is not None:
            function.restore(saved["random"])
        self._random = function.state()  # the call is made again to go on from a saved state
        (variant,) = cursor._call(function, element)
        stage = stage_of(variant)
        stage.locate(cursor._stage.location)
        self.cursor = cursor.open(stage)
        if saved is not None:
            self.cursor.restore(saved["cursor"])

    def state(self) -> dict:
        return {"element": list(self._element), "random": self._random, "cursor": self.cursor.state()}


def reopened(cursor: CallingCursor, saved: dict) -> Opened:
    """What was open when a state was taken."""
    return Opened(cursor, tuple(saved["element"]), saved)
