"""Instructions written out as straight-line Python code.

That saves 0.3 us per operation and run, and takes 40 us per operation once; so it is done for plans that run often.
"""

import numpy as np

from headrace._src.core.context import context
from headrace._src.core.tracebacks import GRAPH_CODE
from headrace._src.graph.building.operation import grouped
from headrace._src.graph.passes.steps import kernel_of, origin
from headrace._src.graph.running.layout import CHAIN, SEVERAL, at_site, flattener, wrapped

_ndarray = np.ndarray


def written(program):
    """A program as a Python function, and for each of its lines the instruction."""
    scope = {"nd": _ndarray, "wrap": wrapped, "context": context}
    names = [f"v{i}" for i in range(len(program.start))]
    for i, value in enumerate(program.start):
        if value is not None:
            names[i] = f"c{i}"
            scope[f"c{i}"] = value
    given = "".join(f"v{i}, " for i in range(program.number_of_inputs))
    lines = ["def run(arguments):", f"  {given}= arguments" if given else "  pass", "  arguments.clear()"]
    if program.unread:
        lines[-1] += f"; del {', '.join(names[i] for i in program.unread)}"
    instruction_of_line: list = [None] * (len(lines) + 1)  # lines are counted from 1
    within = 0  # how many instructions are still those of a chain
    for i, instruction in enumerate(program.instructions):
        if instruction.kind == CHAIN:
            text = _text_of_chain(i, instruction, names, scope)
        else:
            text = _text_of(i, instruction, names, scope, program.bound)
            text = ["  " + line for line in text] if within else text
        within = max(within - 1, instruction.parts)
        lines.extend(text)
        instruction_of_line.extend([instruction] * len(text))
    lines.append(f"  return [{', '.join(names[i] for i in program.results)}]")
    instruction_of_line.append(None)
    exec(compile("\n".join(lines), GRAPH_CODE, "exec"), scope)
    # A function that is one of its own globals would be freed by the cycle collector only.
    return instruction_of_line, scope.pop("run")


def _text_of_chain(i, instruction, names, scope):
    """The lines for a chain; those for the instructions that it does the work of follow, two spaces to the right."""
    scope[f"k{i}"] = instruction.call
    gone = [names[j] for j in instruction.operands if j in instruction.dead]
    arguments = ", ".join(names[j] for j in instruction.operands)
    return [f"  if k{i}([{arguments}]):", f"    del {', '.join(gone)}" if gone else "    pass", "  else:"]


def _text_of(i, instruction, names, scope, bound):
    """The lines for one instruction: call the kernel, check and name the results, forget what is not read again."""
    step, operands, places = instruction.step, instruction.operands, instruction.places
    record = step.record
    gone = [names[j] for j in instruction.dead]
    before, after = [], []
    if record.calls_functions:  # the kernel owns the list, and frees what is in it
        arguments = []
        for argument, group in zip(record.signature.inputs, grouped(step, operands)):
            if argument.is_list:
                before.append(f"  g{i} = [{', '.join(names[j] for j in group)}]")
                arguments.append(f"g{i}")
            else:
                arguments.append(names[group])
        inputs = {names[j] for j in operands} - set(arguments)
        early = [name for name in gone if name in inputs]
        if early:
            before.append(f"  del {', '.join(early)}")
        gone = [name for name in gone if name not in inputs]
    elif record.has_lists:
        groups = grouped(step, operands)
        arguments = [names[p] if type(p) is int else f"[{', '.join(names[j] for j in p)}]" for p in groups]
    else:
        arguments = [names[j] for j in operands]
    for name, value in step.attrs.items():
        if type(value) in (bool, int) or value is None:
            arguments.append(f"{name}={value!r}")
        else:
            scope[f"x{i}{name}"] = value
            arguments.append(f"{name}=x{i}{name}")
    kernel = at_site(step, bound.get(id(step)) or kernel_of(step) or record.kernel)
    if instruction.over is not None:  # one of the inputs goes into a list, from where it can be written over
        position, scope[f"k{i}"] = instruction.over
        mine = names[operands[position]]
        before.append(f"  g{i} = [{mine}]; del {mine}")
        arguments = [f"g{i}", *(name for name in arguments if name != mine)]
        gone = [name for name in gone if name != mine or name == names[instruction.place]]
    else:
        scope[f"k{i}"] = kernel
    call = f"k{i}({', '.join(arguments)})"
    if record.draws:
        scope[f"n{i}"] = origin(step)
        before.append(f"  context.random_node = n{i}")
        after.append("  context.random_node = None")
    if instruction.kind != SEVERAL:
        target = names[instruction.place]
        if not _is_certain(kernel, step):
            scope[f"d{i}"], (scope[f"r{i}"],) = instruction.dtype, instruction.result_types
            wrong = f"type({target}) is not nd or {target}.dtype is not d{i}"
            after.append(f"  if {wrong}: {target} = wrap({target}, r{i})")
        before.append(f"  {target} = {call}")
    elif places:
        scope[f"m{i}"] = flattener(step, instruction.result_types)
        before.append(f"  {''.join('_, ' if j is None else names[j] + ', ' for j in places)}= m{i}({call})")
        if None in places:
            gone.append("_")
    else:
        before.append(f"  {call}")
    if gone:
        after.append(f"  del {', '.join(gone)}")
    return before + after


def _is_certain(kernel, step):
    """Whether the kernel's result is an array of the right dtype for certain: NumPy's own functions on arrays."""
    rank = step.outputs[0]._shape.rank
    return isinstance(kernel, np.ufunc) and rank is not None and rank > 0
