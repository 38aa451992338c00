"""Which cursor serves which chain of stages: tables of conditions, of which the first that holds decides.

Where elements can be had by number, `Stage.cursor` counts; otherwise it calls `walk`, and most stages have one cursor
for that. The tables are for those whose best one depends on the stages before them, on what is known of their
functions, or on the options of the walk. Conditions read what stages declare of themselves (`Stage` lists it), never
their classes. The files of cursors are imported when a cursor of theirs is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace._src.core.lazy import LazyModule

if TYPE_CHECKING:
    from headrace._src.data.running import block_mapping, parallel_calls, python_processes, ragged_mapping, stages
    from headrace._src.data.running import threads as running_threads
    from headrace._src.data.running.stages import Cursor, Run
    from headrace._src.data.sources import generator_processes, generators
    from headrace._src.data.transformations import mapping, repeating, shuffling
else:
    block_mapping = LazyModule("headrace._src.data.running.block_mapping")
    generator_processes = LazyModule("headrace._src.data.sources.generator_processes")
    generators = LazyModule("headrace._src.data.sources.generators")
    mapping = LazyModule("headrace._src.data.transformations.mapping")
    parallel_calls = LazyModule("headrace._src.data.running.parallel_calls")
    python_processes = LazyModule("headrace._src.data.running.python_processes")
    ragged_mapping = LazyModule("headrace._src.data.running.ragged_mapping")
    repeating = LazyModule("headrace._src.data.transformations.repeating")
    running_threads = LazyModule("headrace._src.data.running.threads")
    shuffling = LazyModule("headrace._src.data.transformations.shuffling")
    stages = LazyModule("headrace._src.data.running.stages")


class Choice(NamedTuple):
    """A row: where the condition holds, the cursor is made; where that gives None after all, the next row is tried."""

    when: Callable[[Any, Run], Any]  # of the stage and the walk
    cursor: Callable[[Any, Run], Cursor | None]
    why: str


def chosen(table: tuple[Choice, ...], stage: Any, run: Run) -> Cursor:
    """A new cursor of the stage, by a table whose last row always holds."""
    for when, make, _ in table:
        if when(stage, run):
            cursor = make(stage, run)
            if cursor is not None:
                return cursor
    raise NotImplementedError(f"No cursor serves {stage!r}.")


def _always(stage, run):
    return True


# Maps.


def _batched_parse(stage, run):
    parts = block_mapping.hoisted(stage.function, 1)
    return None if parts is None else block_mapping.BatchedParse(stage, parts, run)


def _parse_ahead(stage, run):
    parts = block_mapping.hoisted(stage.function, 0)
    if parts is None:
        return None
    function = block_mapping.FunctionOfParsed(stage.function, parts)
    return _calls(stage, run, function, block_mapping.ParseAhead(stage, parts, run))


def _uses_processes(stage, run):
    return run.options is not None and run.options.headrace_worker_processes


def _calls(stage, run, function, inner):
    """One call for each element, several at the same time if that was asked for and pays."""
    cursor = parallel_calls.ParallelMap if stage.uses_threads else mapping.MapCursor
    return cursor(stage, run, function, inner)


MAP = (
    Choice(
        lambda stage, run: stage.reads_ahead and stage.columns_are_ragged is None,
        lambda stage, run: block_mapping.BlockMap(stage, run),
        "Over cheap sources, a function of whole blocks takes little longer for a hundred elements than for one.",
    ),
    Choice(
        lambda stage, run: stage.reads_ahead,
        lambda stage, run: ragged_mapping.RaggedMap(stage, run),
        "The same where the sizes of results differ: a block is then rows, and where those of each element begin.",
    ),
    Choice(
        lambda stage, run: stage.source.stacks and stage.source.source.reads_ahead,
        _batched_parse,
        "Records of several batches are parsed together, where they stand in the file; None if the function does not.",
    ),
    Choice(
        lambda stage, run: stage.source.reads_ahead,
        _parse_ahead,
        "Single records are parsed together too, and the rest of the function is called for each; None as above.",
    ),
    Choice(
        lambda stage, run: _uses_processes(stage, run) and stage.function.calls_python,
        lambda stage, run: _calls(
            stage, run, python_processes.function_elsewhere(stage, run), stage.source.cursor(run)
        ),
        "Python functions run in other processes when options ask for that; the rest of the graph stays here.",
    ),
    Choice(
        _always,
        lambda stage, run: _calls(stage, run, stage.function, stage.source.cursor(run)),
        "Everything else is called for each element.",
    ),
)


# Other stages.

GENERATOR = (
    Choice(
        _uses_processes,
        lambda stage, run: generator_processes.process_cursor(stage, run),
        "A generator runs in another process when options ask for that; None if all of those processes are in use.",
    ),
    Choice(_always, lambda stage, run: generators.GeneratorCursor(stage), "Otherwise it runs where elements are read."),
)

SHUFFLE = (
    Choice(
        lambda stage, run: stage.source.access is not None,
        lambda stage, run: shuffling.IndexShuffle(stage, stage.source.access),
        "Where elements can be had by number, numbers wait in the buffer, and elements are made when they are drawn.",
    ),
    Choice(_always, lambda stage, run: shuffling.ElementShuffle(stage, run), "Otherwise elements wait in the buffer."),
)

REPEAT = (
    Choice(
        lambda stage, run: stage.endless_access is not None and not run.one_by_one,
        lambda stage, run: stages.AccessCursor(stage.endless_access),
        "Without end there is no size, but the n-th element can be had all the same.",
    ),
    Choice(_always, lambda stage, run: repeating.RepeatCursor(stage, run), "Otherwise one walk follows another."),
)

PREFETCH = (
    Choice(
        lambda stage, run: stage.size == 0,
        lambda stage, run: stage.source.cursor(run),
        "Nothing may wait: whoever reads makes the elements.",
    ),
    Choice(
        _always,
        lambda stage, run: running_threads.ThreadAhead(stage.source.cursor(run), stage.size, run),
        "A thread makes elements ahead, once they turn out to take long.",
    ),
)
