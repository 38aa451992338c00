"""Loops of 1.x, made of `Enter`, `Merge`, `Switch`, `NextIteration` and `Exit`, as `While`.

What goes around is, for each loop variable,

    Enter --> Merge --> Switch --(false)--> Exit
                ^          `-----(true)---> ... the body ... --> NextIteration --.
                `----------------------------------------------------------------'

and the condition of all switches is the one `LoopCond`. An `Enter` that leads to no such `Merge` brings in a value that
does not change.
"""

from typing import Any, NamedTuple

from headrace._src.graph.messages.dataflow_nodes import (
    BOOL,
    VARIABLES_WITHOUT_HANDLES,
    NewFunctions,
    Nodes,
    Reference,
    added,
    has_effects,
    kind,
    not_raised,
    part_of,
    reference,
)
from headrace._src.graph.messages.function_import import in_order
from headrace._src.graph.messages.known_switches import skip_known_switches
from headrace._src.graph.messages.raised_branches import raise_branches


def raise_loops(nodes: Nodes, functions: NewFunctions) -> None:
    """Put a `While` in the place of each loop, the inner ones first."""
    skip_known_switches(nodes)
    frames = _frames(nodes)
    for frame in sorted(set(frames.values()), key=len, reverse=True):
        if frame:
            _Loop(nodes, frames, frame, functions).raise_it()


def _frames(nodes):
    """By name of a node, in which loops it is: a tuple of their names, the outermost first."""

    def sources(node):
        if kind(node) == "Merge":  # without the way around
            return [x.node for x in nodes.inputs(node.name) if nodes.kind(x) not in ("NextIteration", "")]
        return [x.node for x in nodes.inputs(node.name) if x.node in nodes]

    frames: dict[str, tuple[str, ...]] = {}
    for node in in_order(nodes, sources):
        frame = max((_leaving(nodes, frames, name) for name in sources(node)), key=len, default=())
        if kind(node) == "Enter":
            frame = (*frame, node.attr["frame_name"].s.decode("utf-8", "replace"))
        frames[node.name] = frame
    return frames


def _leaving(nodes, frames, name):
    return frames[name][:-1] if kind(nodes[name]) == "Exit" else frames[name]


class _Variable(NamedTuple):
    """A loop variable."""

    enter: Any
    merge: str
    next: Any


class _Loop:
    """One loop."""

    def __init__(self, nodes, frames, frame, functions):
        self._nodes, self._frames, self._frame, self._functions = nodes, frames, frame, functions
        self._members = [name for name, place in frames.items() if place == frame and name in nodes]
        self._kinds: dict[str, list] = {}
        for name in self._members:
            self._kinds.setdefault(kind(nodes[name]), []).append(nodes[name])
        self._test = self._condition()
        self._variables = self._loop_variables()
        merged = {variable.enter.name for variable in self._variables}
        self._constants = [node for node in self._kinds["Enter"] if node.name not in merged]
        # What stands for arguments: by name and output of a node, the number of the argument.
        self._arguments = {Reference(x.merge, "0"): i for i, x in enumerate(self._variables)}
        for i, node in enumerate(self._constants):
            self._arguments[Reference(node.name, "0")] = len(self._variables) + i

    def _condition(self):
        found = self._kinds.get("LoopCond", [])
        if len(found) != 1:
            raise not_raised(self._kinds["Enter"][0], f"the loop {self._frame[-1]!r} has {len(found)} LoopCond nodes.")
        return found[0]

    def _loop_variables(self):
        variables = []
        for merge in self._kinds.get("Merge", []):
            sources = {self._nodes.kind(x): x.node for x in self._nodes.data(merge.name)}
            if "NextIteration" not in sources:
                continue  # of a conditional in the loop
            if set(sources) != {"NextIteration", "Enter"} or len(self._nodes.data(merge.name)) != 2:
                raise not_raised(merge, "it must have one Enter and one NextIteration as inputs.")
            following = self._nodes[sources["NextIteration"]]
            variables.append(_Variable(self._nodes[sources["Enter"]], merge.name, following))
        return variables

    def raise_it(self):
        """Replace the nodes of the loop by a `While`, and each `Exit` by an `Identity` of that name."""
        nodes = self._nodes
        (test,) = nodes.data(self._test.name)
        types = [x.attr["T"].type for x in [*(v.enter for v in self._variables), *self._constants]]
        cond, in_test = self._function("cond", [(test, BOOL)], types, in_body=False)
        results = [(nodes.data(v.next.name)[0], v.next.attr["T"].type) for v in self._variables]
        results += [(Reference(x.name, "0"), x.attr["T"].type) for x in self._constants]
        body, in_body = self._function("body", results, types, in_body=True)
        self._check_shared(in_test & in_body)
        exits = {name: self._switched(name) for name in nodes if self._is_exit(name)}
        enters = [*(v.enter for v in self._variables), *self._constants]
        inputs = [nodes.data(x.name)[0] for x in enters]
        controls = [control for x in enters for control in nodes.controls(x.name)]
        self._place(inputs, list(dict.fromkeys(controls)), exits, {"T": types, "cond": cond, "body": body})

    def _place(self, inputs, controls, exits, attributes):
        """Exchange nodes, in the order in which they are."""
        nodes, gone = self._nodes, set(self._members)
        name = nodes.fresh(f"{self._frame[-1].removesuffix('/while_context')}/While")
        rest = Nodes()
        for key, node in nodes.items():
            if key in exits:
                added(rest, key, "Identity", [Reference(name, str(exits[key]))], T=node.attr["T"].type)
            elif key not in gone:
                rest[key] = node
            elif name not in rest:
                added(rest, name, "While", [*inputs, *controls], **attributes)
        nodes.clear()
        nodes.update(rest)
        self._frames[name] = self._frame[:-1]
        for key in exits:
            self._frames[key] = self._frame[:-1]

    def _is_exit(self, name):
        """Whether a node leads out of this loop."""
        return kind(self._nodes[name]) == "Exit" and self._frames[name] == self._frame

    def _switched(self, name):
        """The number of the loop variable that an `Exit` takes out."""
        (source,) = self._nodes.data(name)
        while self._nodes.kind(source) == "Identity":
            (source,) = self._nodes.data(source.node)
        if self._nodes.kind(source) == "Switch" and source.port == "0":
            number = self._arguments.get(self._nodes.data(source.node)[0])
            if number is not None:
                return number
        raise not_raised(self._nodes[name], "it does not take out a loop variable.")

    def _check_shared(self, names):
        for name in names:
            if has_effects(self._nodes[name], self._functions.library):
                raise not_raised(
                    self._nodes[name], "the condition and the body of the loop share it, and it has effects."
                )

    def _argument(self, given, in_body):
        """The number of the argument that a tensor is, or None."""
        if self._nodes.kind(given) == "Switch" and self._test.name in {
            x.node for x in self._nodes.data(given.node)[1:]
        }:
            if given.port != "1" or not in_body:
                raise not_raised(self._nodes[given.node], "it is read where the loop has ended.")
            return self._arguments.get(self._nodes.data(given.node)[0])
        return self._arguments.get(given)

    def _function(self, label, results, types, in_body):
        """The name of the function that computes some tensors of the loop, and the names of its nodes."""
        nodes = self._nodes
        controls = [x for v in self._variables for x in nodes.controls(v.next.name)] if in_body else []
        members: dict[str, None] = {}
        waiting = [*(result for result, _ in results), *controls]
        while waiting:
            given = waiting.pop()
            if given.node in members or given.node not in nodes or self._is_boundary(given, in_body):
                continue
            if self._frames.get(given.node) != self._frame:
                raise not_raised(nodes[given.node], f"the loop {self._frame[-1]!r} reads it without an Enter.")
            members[given.node] = None
            waiting += nodes.inputs(given.node)
        names = nodes.argument_names(len(types))
        variables = self._variables_without_handles()

        def instead(given):
            if given.is_control:
                return given if given.node in members else None
            number = self._argument(given, in_body)
            if number in variables:
                return Reference(variables[number].name, "0")
            return given if number is None else Reference(names[number], "0")

        part = part_of(nodes, members, instead, dict(zip(names, types)))
        part.update({x.name: x for x in variables.values()})
        outputs = [(instead(result), dtype) for result, dtype in results]
        after = [Reference(x.node, "^") for x in controls if x.node in part]
        outputs = self._after(part, outputs, after)
        raise_branches(part, self._functions, [x for x, _ in outputs])
        scope = self._frame[-1].removesuffix("/while_context")
        return self._functions.add(f"{scope}_{label}", part, outputs), set(members)

    def _is_boundary(self, given, in_body):
        """Whether the way back from results ends here: at an argument, or at what only begins an iteration."""
        if not given.is_control:
            return self._argument(given, in_body) is not None
        node = self._nodes[given.node]
        loops = {x.merge for x in self._variables}
        is_loops_switch = kind(node) == "Switch" and self._nodes.data(node.name)[1].node == self._test.name
        return kind(node) in ("Enter", "LoopCond", "NextIteration") or node.name in loops or is_loops_switch

    def _variables_without_handles(self):
        """By number of an argument, the node of a variable without a handle: functions name it, and do not take it."""
        found = {}
        for i, node in enumerate(self._constants):
            if node.op != "RefEnter":
                continue
            source = reference(node.input[0])
            while self._nodes.kind(source) in ("Enter", "Switch") and self._nodes[source.node].op.startswith("Ref"):
                source = reference(self._nodes[source.node].input[0])
            if self._nodes.kind(source) in VARIABLES_WITHOUT_HANDLES:
                found[len(self._variables) + i] = self._nodes[source.node]
        return found

    @staticmethod
    def _after(part, outputs, controls):
        """The outputs, of which the first waits for what must have run by the end of an iteration."""
        if not controls:
            return outputs
        (first, dtype), *others = outputs
        name = part.fresh("result")
        added(part, name, "Identity", [first, *controls], T=dtype)
        return [(Reference(name, "0"), dtype), *others]
