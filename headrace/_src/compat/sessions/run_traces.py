"""`RunMetadata` of a run that is traced: when each operation ran, for how long, and what it made."""

import threading
import time

from headrace._src.core.context import HOST


def run_traced(prepared, arrays, run_metadata) -> list:
    """Run with the interpreter, operation by operation, and say in the message how long each took.

    Args:
        prepared: a `PreparedRun`.
        arrays: the inputs of its plan.
        run_metadata: a `RunMetadata`, which is filled anew.
    """
    run_metadata.Clear()
    device = run_metadata.step_stats.dev_stats.add(device=HOST)
    steps = prepared.plan.timed_steps
    epoch = time.time_ns() - time.perf_counter_ns()
    thread = threading.get_native_id()
    device.thread_names[thread] = threading.current_thread().name

    def note(number, start, end, values):
        step = steps[number]
        begin, taken = epoch + start, end - start
        node = device.node_stats.add(
            node_name=step.name, thread_id=thread,
            timeline_label=f"{step.name} = {step.type}({', '.join(x.op.name for x in step.inputs)})",
            all_start_micros=begin // 1000, op_end_rel_micros=taken // 1000, all_end_rel_micros=taken // 1000,
            scheduled_micros=begin // 1000, all_start_nanos=begin, op_end_rel_nanos=taken, all_end_rel_nanos=taken,
            scheduled_nanos=begin,
        )  # fmt: skip
        for slot, tensor in enumerate(step.outputs):
            output = node.output.add(slot=slot)
            output.tensor_description.dtype = tensor.dtype.as_datatype_enum
            output.tensor_description.shape.CopyFrom(tensor.shape.as_proto())

    return prepared.plan.run_noting(arrays, note)
