"""Conditionals of 1.x, made of `Switch` and `Merge`, as `If`.

A node runs when all its inputs arrive. So each node has guards: which tensors must be true or false for it to run. A
`Switch` adds one, and a `Merge` of two nodes that differ in one guard takes it away: this is where an `If` stands, with
the nodes that had this guard as its branches. A `ControlTrigger` waits for nodes whether they run or not: it stands for
conditionals that only have effects.
"""

from typing import Any

from headrace._src.graph.messages.dataflow_nodes import (
    BOOL,
    VARIABLES_WITHOUT_HANDLES,
    NewFunctions,
    Nodes,
    Reference,
    added,
    copied,
    has_effects,
    kind,
    not_raised,
    output_type,
    part_of,
)
from headrace._src.graph.messages.function_import import in_order


def raise_branches(nodes: Nodes, functions: NewFunctions, roots: list[Reference]) -> None:
    """Put an `If` in the place of each conditional, the inner ones within its branches.

    Args:
        nodes: a graph without loops of 1.x; changed.
        functions: takes the branches.
        roots: what is read from outside, and may be a `Merge`.
    """
    if any(kind(node) in ("Switch", "Merge", "ControlTrigger") for node in nodes.values()):
        _Conditionals(nodes, functions, roots).raise_all()


class _Choice:
    """A `Merge` that is to become an output of an `If`, or what a `ControlTrigger` waits for under one condition."""

    def __init__(self, node, test, inputs):
        self.node = node
        self.name = node.name
        self.is_merge = kind(node) == "Merge"
        self.test: Reference = test
        self.inputs: dict[bool, list[Reference]] = inputs  # what it takes if the test is true, and if it is false
        self.members: dict[bool, dict[str, None]] = {}


class _Group:
    """Merges that become outputs of the same `If`, since they share nodes."""

    def __init__(self, name, choices):
        self.name = name
        self.choices: list[_Choice] = choices
        self.test = choices[0].test
        self.merges = [choice for choice in choices if choice.is_merge]
        self.more: list[tuple[bool, Reference, int]] = []  # what later ones read of a branch, with its dtype

    def members(self, branch) -> dict[str, None]:
        return {name: None for choice in self.choices for name in choice.members[branch]}


class _Conditionals:
    """The conditionals of one graph or function."""

    def __init__(self, nodes, functions, roots):
        self._nodes: Nodes = nodes
        self._functions: NewFunctions = functions
        self._roots = roots
        self._order = [node.name for node in in_order(nodes, lambda node: self._sources(node.name))]
        self._guards: dict[str, frozenset] = {}
        self._choices: list[_Choice] = []
        self._levels: dict[str, int] = {}  # how many conditionals come before a node, one after another
        self._groups: list[_Group] = []
        self._owners: dict[tuple[str, bool, Reference], _Group] = {}  # of nodes with effects

    def _sources(self, name):
        return [x.node for x in self._nodes.inputs(name) if x.node in self._nodes]

    # Guards.

    def _same(self, given):
        """The tensor that is handed on by Identity."""
        while self._nodes.kind(given) == "Identity" and not given.is_control:
            given = self._nodes.data(given.node)[0]
        return given

    def _guard(self, given) -> frozenset:
        """When a tensor arrives."""
        guards = self._guards.get(given.node, frozenset())
        if self._nodes.kind(given) == "Switch" and not given.is_control:
            return guards | {(self._test(given.node), given.port == "1")}
        return guards

    def _test(self, name):
        return self._same(self._nodes.data(name)[1])

    def _find_guards(self):
        for name in self._order:
            node = self._nodes[name]
            level = max((self._levels[x] for x in self._sources(name)), default=0)
            if kind(node) == "Merge":
                self._guards[name] = self._merged(node)
                level += not self._guards[name]
            elif kind(node) == "ControlTrigger":
                self._guards[name] = frozenset()
                level += self._triggered(node)
            else:
                self._guards[name] = frozenset().union(*map(self._guard, self._nodes.inputs(name)))
            self._levels[name] = level

    def _merged(self, node):
        inputs = self._nodes.data(node.name)
        if len(inputs) != 2:
            raise not_raised(node, f"it has {len(inputs)} inputs; only those with two are understood.")
        first, second = map(self._guard, inputs)
        common = first & second
        (one, *more), (other, *others) = [sorted(x - common) or [None] for x in (first, second)]
        if more or others or one is None or other is None or one[0] != other[0]:
            told = f"{_told(first)}; {_told(second)}"
            raise not_raised(node, f"its inputs do not arrive by the two sides of one condition ({told}).")
        self._choices.append(_Choice(node, one[0], {one[1]: inputs[:1], other[1]: inputs[1:]}))
        return common.union(*map(self._guard, self._nodes.controls(node.name)))

    def _triggered(self, node):
        """Whether a `ControlTrigger` waits for nodes under conditions."""
        guarded = {x: self._guard(x) for x in self._nodes.controls(node.name) if self._guard(x)}
        tests = {test for guards in guarded.values() for test, _ in guards if not self._guard(test)}
        for test in sorted(tests):
            inputs = {side: [x for x, guards in guarded.items() if (test, side) in guards] for side in (True, False)}
            self._choices.append(_Choice(node, test, inputs))
        return bool(tests)

    # What becomes of them.

    def raise_all(self):
        self._find_guards()
        outermost = [x for x in self._choices if not self._guards[x.name]]
        for level in sorted({self._levels[x.name] for x in outermost}):
            self._make_groups([x for x in outermost if self._levels[x.name] == level])
        for given in [*self._roots, *(x for name in self._nodes for x in self._nodes.inputs(name))]:
            if self._nodes.kind(given) == "Merge" and given.port == "1":
                raise not_raised(self._nodes[given.node], "its second output, the number of the input, is read.")
        for root in self._roots:
            if self._guard(root):
                raise not_raised(self._nodes[root.node], "it is read although it runs only under a condition.")
        placed = Nodes()
        groups: dict[str, list[_Group]] = {}  # by name of a node
        for group in self._groups:
            for choice in group.choices:
                groups.setdefault(choice.name, []).append(group)
        built = {group.name: self._built(group) for group in reversed(self._groups)}  # later ones ask for more outputs
        for name, node in self._nodes.items():
            for group in groups.get(name, ()):
                placed.setdefault(group.name, built[group.name])
            if self._guards[name]:
                continue
            if kind(node) == "Merge":
                (group,) = groups[name]
                number = [choice.name for choice in group.merges].index(name)
                added(placed, name, "Identity", [Reference(group.name, str(number))], T=node.attr["T"].type)
            elif kind(node) == "ControlTrigger":
                before = [x for x in self._nodes.controls(name) if not self._guard(x)]
                added(placed, name, "NoOp", before + [Reference(group.name, "^") for group in groups.get(name, ())])
            elif kind(node) != "Switch":
                placed[name] = copied(node, filter(None, map(self._without_switch, self._nodes.inputs(name))))
        self._nodes.clear()
        self._nodes.update(placed)

    def _without_switch(self, given):
        """In place of waiting for a switch, waiting for what it sends."""
        while given.is_control and self._nodes.kind(given) == "Switch":
            data = self._nodes.data(given.node)[0]
            given = Reference(data.node, "^")
        return given if given.node in self._nodes or not given.is_control else None

    def _make_groups(self, choices):
        """Merges of one condition that share nodes go together."""
        groups: list[list[_Choice]] = []
        for choice in choices:
            choice.members = {branch: self._members(choice, branch) for branch in (True, False)}
            mine = self._telling(choice)
            joined = [x for x in groups if x[0].test == choice.test and any(mine & self._telling(y) for y in x)]
            groups = [x for x in groups if x not in joined]
            groups.append([*(y for x in joined for y in x), choice])
        for group in groups:
            scope, slash, _ = group[0].name.rpartition("/")
            made = _Group(self._nodes.fresh(f"{scope}{slash}If", {x.name for x in self._groups}), group)
            self._groups.append(made)
            for branch in (True, False):
                for name in made.members(branch):
                    if has_effects(self._nodes[name], self._functions.library):
                        self._owners[name, branch, made.test] = made

    def _telling(self, choice):
        """The nodes by which merges are seen to belong together: without those that only hand on the condition."""
        names = choice.members[True] | choice.members[False]
        return {x for x in names if self._same(Reference(x, "0")) != choice.test}

    def _members(self, choice, branch):
        """The nodes of a branch that a `Merge` needs."""
        guard, members, waiting = (choice.test, branch), {}, list(choice.inputs[branch])
        while waiting:
            given = waiting.pop()
            name = given.node
            if (
                name in members
                or guard not in self._guards.get(name, ())
                or (name, branch, choice.test) in self._owners
            ):
                if self._nodes.kind(given) == "Switch" and not given.is_control:
                    waiting += [x for x in self._nodes.data(name)[:1] if guard in self._guard(x)]
                continue
            if (choice.test, not branch) in self._guards[name]:
                raise not_raised(self._nodes[name], "it would run only if a condition were both true and false.")
            members[name] = None
            waiting += self._nodes.inputs(name)
        return members

    # An `If` and its branches.

    def _built(self, group):
        """The `If` that takes the place of a group."""
        inputs = _Inputs()
        resolve = {branch: _Resolving(self, group, branch, inputs) for branch in (True, False)}
        for branch in (True, False):  # first all inputs must be known
            for name in group.members(branch):
                for given in self._nodes.inputs(name):
                    resolve[branch](given)
            for result, _ in self._outputs(group, branch):
                if result is not None:
                    resolve[branch](result)
        names = self._nodes.argument_names(len(inputs.tensors))
        renamed = {given: Reference(name, "0") for given, name in zip(inputs.tensors, names)}
        arguments = dict(zip(names, inputs.tensors.values()))
        functions = {
            branch: self._branch(group, branch, resolve[branch], renamed, arguments) for branch in (True, False)
        }
        types = [dtype for _, dtype in self._outputs(group, True)]
        node = added(
            Nodes(), group.name, "If", [group.test, *inputs.tensors, *inputs.controls], Tcond=BOOL,
            Tin=list(arguments.values()), Tout=types, then_branch=functions[True], else_branch=functions[False],
        )  # fmt: skip
        return node

    def _outputs(self, group, branch):
        """What a branch returns, with dtypes; None for what only the other one has."""
        found = [(x.inputs[branch][0], x.node.attr["T"].type) for x in group.merges]
        return found + [(given if where == branch else None, dtype) for where, given, dtype in group.more]

    def _branch(self, group, branch, resolve, renamed, arguments):
        """The name of the function that a branch becomes."""

        def instead(given):
            found = resolve(given)
            return renamed.get(found, found)

        part = part_of(self._nodes, group.members(branch), instead, arguments)
        part.update(resolve.variables)
        for choice in group.choices:
            if not choice.is_merge:
                part[choice.name] = copied(choice.node, filter(None, map(resolve, choice.inputs[branch])))
        outputs = []
        for result, dtype in self._outputs(group, branch):
            if result is None:
                node = added(part, part.fresh("missing"), "FakeParam", [], dtype=dtype)
                node.attr["shape"].shape.unknown_rank = True
                outputs.append((Reference(node.name, "0"), dtype))
            else:
                outputs.append((instead(result), dtype))
        raise_branches(part, self._functions, [x for x, _ in outputs])
        return self._functions.add(f"{group.name}_{'then' if branch else 'else'}", part, outputs)


class _Inputs:
    """What an `If` takes from outside: tensors with their dtypes, and what must have run."""

    def __init__(self):
        self.tensors: dict[Reference, int] = {}
        self.controls: dict[Reference, None] = {}


class _Resolving:
    """From an input of a node of a branch to where it comes from: a node of the branch, or from outside."""

    def __init__(self, conditionals, group, branch, inputs):
        self._all, self._group, self._branch, self._inputs = conditionals, group, branch, inputs
        self._members = group.members(branch)
        self.variables: dict[str, Any] = {}  # nodes of variables without handles, which functions name themselves

    def __call__(self, given: Reference) -> Reference | None:
        if given.is_control:
            return self._control(given)
        nodes, dtype, by_reference = self._all._nodes, None, False
        while nodes.kind(given) == "Switch" and self._all._test(given.node) == self._group.test:
            if (given.port == "1") != self._branch:
                raise not_raised(nodes[given.node], "the branch that is not taken is read.")
            dtype, by_reference = nodes[given.node].attr["T"].type, nodes[given.node].op == "RefSwitch"
            given = nodes.data(given.node)[0]
        if given.node in self._members:
            return given
        if by_reference and nodes.kind(given) in VARIABLES_WITHOUT_HANDLES:
            self.variables[given.node] = nodes[given.node]
            return given
        owner = self._all._owners.get((given.node, self._branch, self._group.test))
        if owner is not None:
            return self._from_before(owner, given)
        if self._all._guard(given):
            raise not_raised(nodes[given.node], "it is read by what runs under another condition.")
        self._inputs.tensors.setdefault(given, output_type(nodes, given) if dtype is None else dtype)
        return given

    def _control(self, given):
        if given.node in self._members:
            return given
        nodes = self._all._nodes
        if (owner := self._all._owners.get((given.node, self._branch, self._group.test))) is not None:
            self._inputs.controls[Reference(owner.name, "^")] = None
        elif given.node in nodes and nodes.kind(given) != "Switch" and not self._all._guard(given):
            self._inputs.controls[given] = None
        return None

    def _from_before(self, owner, given):
        """A tensor of the same branch of an earlier `If`, which has effects and therefore runs only there."""
        wanted = (self._branch, given, output_type(self._all._nodes, given))
        if wanted not in owner.more:
            owner.more.append(wanted)
        found = Reference(owner.name, str(len(owner.merges) + owner.more.index(wanted)))
        self._inputs.tensors[found] = wanted[2]
        return found


def _told(guards):
    """Guards in words."""
    return " and ".join(f"{str(test)!r} is {value}" for test, value in sorted(guards)) or "always"
