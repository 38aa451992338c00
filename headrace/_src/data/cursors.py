"""Cursors over one input: what most transformations need besides their own steps."""

from headrace._src.data.stages import Cursor, Run, Stage


class InnerCursor(Cursor):
    """A cursor that pulls from the cursor of its stage's only input.

    Args:
        stage: its `source` is the input.
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
    """One that calls functions of elements, and counts them for messages."""

    def __init__(self, stage, run):
        super().__init__(stage, run)
        self._number = 0

    def _call(self, function, arguments):
        """A function of an element, whose error names the element last pulled."""
        try:
            return function(arguments)
        except Exception as error:
            self._stage.failed(self._number - 1, error)

    def _pull(self):
        element = self._inner.next()
        if element is not None:
            self._number += 1
        return element

    def state(self):
        return {"number": self._number, "inner": self._inner.state()}

    def restore(self, state):
        self._number = state["number"]
        self._inner.restore(state["inner"])
