"""Conditionals and loops in compiled programs, with the state that their parts read and change."""

import numpy as np

from headrace._src.core.lazy import LazyModule, jax, jax_programs, jnp, lax
from headrace._src.graph.compiling.lowered_values import LIST, STATIC, Packed, as_one_kind
from headrace._src.op.lowering import NotLowerable
from headrace._src.ops.tensor_lists.lowering import LoweredList, alike, concrete

_joined_pads = LazyModule("headrace._src.graph.compiling.joined_pads")
_loop_counts = LazyModule("headrace._src.graph.compiling.loop_counts")  # for those who compile
_loop_products = LazyModule("headrace._src.graph.compiling.loop_products")
_loop_transposes = LazyModule("headrace._src.graph.compiling.loop_transposes")
_products = LazyModule("headrace._src.graph.compiling.products")

# How often a loop's body is traced until what it hands on has settled.
_ATTEMPTS = 6


class _Part:
    """A block traced on its own: a program that takes some values and the state it changes, and gives both."""

    def __init__(self, ctx, block, state, function, arguments):
        """
        Args:
            ctx: the Lowering from which the part is reached.
            block: what it runs.
            state: the `_State` that it changes.
            function: (Lowering, arguments) to a list of values.
            arguments: values of the kinds that it takes.
        """
        self.state = state
        self.products = None  # what is computed after a loop: see `sum_products_afterwards`
        taken = Packed(arguments)
        found = {}

        def flat(*leaves):
            count = len(taken.leaves)
            inner = ctx.fork(list(ctx.variables), dict(ctx.used))
            state.put(inner, leaves[count:])
            before = list(inner.variables), dict(inner.used)
            values = function(inner, taken.unpack(list(leaves[:count])))
            state.check_rest(inner, *before)
            packed = Packed(values)
            found["packed"] = packed
            found["fails"] = inner.failed is not False
            failed = [inner.failed] if found["fails"] else []
            return [*packed.leaves, *state.get(inner), *failed]

        self.program = jax.make_jaxpr(flat)(*map(_shaped, taken.leaves), *map(_shaped, state.get(ctx)))
        self._packed = found["packed"]
        self.fails = found["fails"]
        shapes = self.program.out_avals[: len(self._packed.leaves)]
        # What it gives, with shapes and dtypes in place of values.
        self.values = self._packed.unpack([jax.ShapeDtypeStruct(x.shape, x.dtype) for x in shapes])

    def __call__(self, leaves, state):
        """(values, state, failed or None, factors of products), given the leaves of the arguments and the state."""
        program = self.program if self.products is None else self.products.program
        results = [jnp.asarray(x) for x in jax_programs.jaxpr_as_fun(program)(*leaves, *state)]
        count = len(self._packed.leaves)
        values = self._packed.unpack(results[:count])
        rest = results[count : count + len(state)]
        factors = results[count + len(state) + self.fails :]
        return values, rest, results[count + len(state)] if self.fails else None, factors

    def give_as_taken(self, start):
        """As the body of a loop that begins with these values: give values in their form, leaf by leaf."""
        first, program, packed = Packed(start), self.program, self._packed
        if packed.kinds == first.kinds:
            return
        count = len(packed.leaves)

        def flat(*given):
            results = jax_programs.jaxpr_as_fun(program)(*given)
            return [*_aligned(first, packed.unpack(results[:count]), start), *results[count:]]

        self.program = jax.make_jaxpr(flat)(*map(_shaped, program.in_avals))
        self._packed, self.values = first, start

    def sum_products_afterwards(self, test, trips):
        """As the body of a loop that runs so often: let products that only add up be computed when it has ended."""
        asked = [x for equation in test.program.eqns for x in equation.invars] + test.program.jaxpr.outvars
        asked = {x for x in asked if not isinstance(x, jax_programs.Literal)}
        read = {i for i, x in enumerate(test.program.jaxpr.invars) if x in asked}
        self.products = _loop_products.summed_products(self.program, len(self._packed.leaves), read, trips)


def _shaped(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


class _State:
    """The variables and random streams that some blocks change."""

    def __init__(self, blocks, inputs):
        variables, streams = set(), set()
        for block in blocks:
            for position in block.written:
                handle = inputs[position]
                index = getattr(handle, "index", None)
                if index is None:
                    raise NotLowerable("an assignment to something that is no variable")
                variables.add(index)
            streams |= block.streams
        self._variables, self._streams = sorted(variables), sorted(streams)

    def get(self, ctx):
        return [*(ctx.variables[i] for i in self._variables), *(ctx.used[i] for i in self._streams)]

    def put(self, ctx, values):
        count = len(self._variables)
        for i, value in zip(self._variables, values[:count]):
            ctx.variables[i] = value
        for i, value in zip(self._streams, values[count:]):
            ctx.used[i] = value

    def check_rest(self, ctx, variables, used):
        """Refuse a part that has changed what it was not expected to change."""
        for i, value in enumerate(variables):
            if i not in self._variables and ctx.variables[i] is not value:
                raise NotLowerable("an assignment to a variable that came in an unusual way")
        for i, value in used.items():
            if i not in self._streams and ctx.used[i] is not value:
                raise NotLowerable("random numbers drawn in an unusual way")


class LoweredControl:
    """The part of a `Lowering` that knows conditionals and loops."""

    def conditional(self, cond, branches, inputs):
        """The first branch when the condition is true, otherwise the second."""
        if isinstance(cond, np.ndarray):
            chosen = bool(cond[()]) if cond.ndim == 0 else cond.size > 0
            return self.run(branches[0 if chosen else 1], inputs)
        if cond.ndim:
            return self.run(branches[0 if cond.size else 1], inputs)
        return self._choose(jnp.where(cond != np.zeros((), cond.dtype), 0, 1), branches, inputs)

    def switch(self, branch_index, branches, inputs):
        """The branch of that number, the last one for numbers out of range."""
        last = len(branches) - 1
        if isinstance(branch_index, np.ndarray):
            i = int(branch_index)
            return self.run(branches[i if 0 <= i <= last else last], inputs)
        inside = (branch_index >= 0) & (branch_index <= last)
        return self._choose(jnp.where(inside, branch_index, last), branches, inputs)

    def _choose(self, index, branches, inputs):
        state = _State(branches, inputs)
        parts = []
        for block in branches:
            parts.append(_Part(self, block, state, lambda ctx, _, block=block: ctx.run(block, inputs), []))
        fails = any(part.fails for part in parts)
        forms = []

        def branch(number):
            def run(*before):
                values, after, failed, _ = parts[number]([], before)
                adapted = []
                for k, mine in enumerate(values):
                    choices = [part.values[k] for part in parts]
                    choices[number] = mine
                    adapted.append(as_one_kind(choices, number))
                packed = Packed(adapted)
                forms.append(packed)
                flag = [jnp.asarray(False if failed is None else failed)] if fails else []
                return [*packed.leaves, *after, *flag]

            return run

        functions = [branch(i) for i in range(len(parts))]
        if len(functions) == 1:
            results = functions[0](*state.get(self))
        else:
            results = lax.switch(index, functions, *state.get(self))
        form = forms[0]
        count = len(form.leaves)
        state.put(self, results[count : len(results) - fails])
        if fails:
            self.check(jnp.logical_not(results[-1]), None, None)
        return form.unpack(results[:count])

    def loop(self, cond, body, inputs):
        """Run the body on its own results as long as the condition holds."""
        state = _State([cond, body], inputs)
        changing = [i for i, output in enumerate(body.outputs) if output != i]
        start, part = self._settled(body, inputs, changing, state)

        def all_inputs(values):
            full = list(inputs)
            for i, x in zip(changing, values):
                full[i] = x
            return full

        test = _Part(self, cond, state, lambda ctx, values: ctx.run(cond, all_inputs(values)), start)
        part.program = _products.with_sums_replaced(part.program, _joined_pads.joined_pads)
        part.give_as_taken(start)
        first = Packed(start)
        counts = _loop_counts.Counts(test.program, part.program, first.leaves)
        part.program = _loop_transposes.transposed_before(part.program, counts.trips)
        part.sum_products_afterwards(test, counts.trips)
        products = part.products
        fails = part.fails or test.fails
        # A condition that has effects or may fail cannot be the loop's own: its result is handed on.
        ahead = test.fails or bool(cond.written or cond.streams)

        def ask(leaves, before):
            (go,), after, failed, _ = test(leaves, before)
            return jnp.reshape(jnp.asarray(go), ()), after, failed

        def step(carried):
            values, before, _, _, rows, number = carried
            values, after, failed, factors = part(values, before)
            leaves = Packed(values).leaves
            failed = jnp.asarray(False) if failed is None else failed
            go = jnp.asarray(True)
            if ahead:
                go, after, late = ask(leaves, after)
                failed = failed if late is None else failed | late
            rows = products.kept(rows, factors, number) if products else []
            return list(leaves), list(after), go, failed, rows, number + 1

        def go_on(carried):
            leaves, before, go, failed, _, _ = carried
            if not ahead:
                go, _, _ = ask(leaves, before)
            return go & ~failed if fails else go

        before, go, failed = state.get(self), jnp.asarray(True), jnp.asarray(False)
        if ahead:
            go, before, late = ask(first.leaves, before)
            failed = failed if late is None else late
        rows = products.rows() if products else []
        leaves = [x if isinstance(x, jax.core.Tracer) else jnp.asarray(np.asarray(x)) for x in first.leaves]
        carried = leaves, list(before), go, failed, rows, jnp.asarray(0, jnp.int32)
        leaves, after, _, failed, rows, _ = lax.while_loop(go_on, step, carried)
        state.put(self, after)
        if fails:
            self.check(jnp.logical_not(failed), None, None)
        if products:
            leaves = products.added(leaves, rows)
        return all_inputs(_with_counts(first, leaves, counts.last))

    def _settled(self, body, inputs, changing, state):
        """The first values of what the loop hands on, in the form that they have after the body too; and the body."""
        start = [_carried(inputs[i]) for i in changing]
        for _ in range(_ATTEMPTS):

            def run(ctx, values):
                full = list(inputs)
                for i, x in zip(changing, values):
                    full[i] = x
                results = ctx.run(body, full)
                return [_carried(results[i]) for i in changing]

            part = _Part(self, body, state, run, start)
            settled, stable = [], True
            for x, y in zip(start, part.values):
                if isinstance(x, LoweredList) and isinstance(y, LoweredList):
                    z = _list_like(x, y)
                    stable = stable and _form(z) == _form(x) == _form(_list_like(y, z, abstract=True))
                    settled.append(z)
                    continue
                settled.append(x)
                if _is_fixed(x) or _is_fixed(y):
                    if not (_is_fixed(x) and _is_fixed(y) and x == y):
                        raise NotLowerable("a loop that hands on different objects")
                elif isinstance(x, LoweredList) or isinstance(y, LoweredList):
                    raise NotLowerable("a loop variable that is a list only sometimes")
                elif x.shape != y.shape or x.dtype != y.dtype:
                    raise NotLowerable(f"a loop variable whose shape changes from {x.shape} to {y.shape}")
            start = settled
            if stable:
                return start, part
        raise NotLowerable("a loop whose lists do not settle")


def _with_counts(first, leaves, last):
    """The values after a loop; what has only counted is known (if a check has failed, nobody reads it)."""
    leaves = [last.get(i, leaf) for i, leaf in enumerate(leaves)]
    values = first.unpack(leaves)
    for i, x in enumerate(values):
        if isinstance(x, LoweredList) and isinstance(x.length, np.ndarray):
            values[i] = x.replace(length=int(x.length))
    return values


def _carried(x):
    """A value as a loop can hand it on: numbers as jax values."""
    if isinstance(x, np.ndarray):
        if x.dtype == object:
            raise NotLowerable("a loop variable that is no array of numbers")
        return jnp.asarray(x) if x.ndim else concrete(x)  # which may be where a counter begins
    return x


def _is_fixed(x):
    return not isinstance(x, (LoweredList, jax.Array, jax.ShapeDtypeStruct))


def _list_like(x, y, abstract=False):
    """The list `x` in a form that `y` can have as well. Of `y`, only shapes are used."""
    zeros = lambda leaf: jnp.zeros(leaf.shape, leaf.dtype)
    leaves, tree = jax.tree_util.tree_flatten(y)
    other = jax.tree_util.tree_unflatten(tree, [zeros(leaf) for leaf in leaves])
    if abstract:
        leaves, tree = jax.tree_util.tree_flatten(x)
        x = jax.tree_util.tree_unflatten(tree, [zeros(leaf) for leaf in leaves])
    return alike(x, other)[0]


def _form(x):
    leaves, tree = jax.tree_util.tree_flatten(x)
    return tree, [(leaf.shape, leaf.dtype) for leaf in leaves]


def _aligned(first, values, start):
    """The leaves of the values after the body, in the form of the first ones."""
    adapted = [_list_like(y, x) if isinstance(y, LoweredList) else y for x, y in zip(start, values)]
    packed = Packed(adapted)
    if [kind[:1] + kind[2:] for kind in packed.kinds] != [kind[:1] + kind[2:] for kind in first.kinds]:
        raise NotLowerable("a loop whose variables change their kind")
    for (kind, a, _), (_, b, _) in zip(packed.kinds, first.kinds):
        if (kind is LIST and a != b) or (kind is STATIC and a != b):
            raise NotLowerable("a loop whose variables change their kind")
    return packed.leaves
