"""Values that are computed once although XLA would compute them again for each reader.

XLA puts cheap operations into the loops of all that read them. Where each of many steps reads the state of the step
before twice, as recurrent cells and residual connections do, each reader then computes all steps before it again. A
value that has become long in this way is handed through a branch, into which XLA puts nothing.
"""

from headrace._src.core.lazy import jax, jax_programs, jnp, lax
from headrace._src.graph.compiling.products import Values, size_of

# Of how many operations a value must consist to be pinned, and of how many numbers: a branch takes some microseconds.
_LONG, _LARGE = 32, 1024

# What XLA puts into the loops of its readers, even if there are several,
_CHEAP = frozenset(
    (
        "abs add add_any and broadcast_in_dim ceil clamp concatenate convert_element_type copy eq floor ge gt "
        "integer_pow is_finite le lt max min mul ne neg not or pad reshape round select_n sign slice split square "
        "squeeze sub transpose xor"
    ).split()
)
# and only if there is one.
_EXPENSIVE = frozenset(
    (
        "acos asin atan cbrt cos cosh div erf exp exp2 expm1 log log1p logistic pow rem rsqrt sin sinh sqrt tan tanh"
    ).split()
)


def with_values_pinned(program):
    """The program with values that XLA would compute again and again computed once; the same if there are none.

    Args:
        program: a closed jaxpr for a CPU: elsewhere a branch waits for the host.
    """
    unknown = _unknown_number(program.jaxpr)
    if unknown is None:
        return program
    return _Pinning(program.jaxpr, unknown).changed(program)


def _unknown_number(jaxpr):
    """An argument that decides about branches, so that XLA does not know how; None if there is none that could."""
    for x in jaxpr.invars:
        if jnp.issubdtype(x.aval.dtype, jnp.floating) and x.aval.dtype.itemsize > 1 and size_of(x):
            return x
    return None


class _Pinning:
    """A program, gone through once from its beginning to its end."""

    def __init__(self, jaxpr, unknown):
        self._jaxpr, self._unknown = jaxpr, unknown
        self._reads = Values(jaxpr).reads
        self._length = {}  # by value: how many operations a reader would do again
        self._pinned = {}  # by value: what is read instead
        self._equations = []
        for equation in jaxpr.eqns:
            self._add(equation)

    def changed(self, program):
        """The program with what was pinned."""
        if not self._pinned:
            return program
        outputs = [self._read(x) for x in self._jaxpr.outvars]
        return program.replace(jaxpr=self._jaxpr.replace(eqns=self._equations, outvars=outputs))

    def _read(self, x):
        return x if isinstance(x, jax_programs.Literal) else self._pinned.get(x, x)

    def _add(self, equation):
        inputs = [self._read(x) for x in equation.invars]
        self._equations.append(equation.replace(invars=inputs))
        name = equation.primitive.name
        if name not in _CHEAP and name not in _EXPENSIVE:
            return
        length = 1 + sum(self._length.get(x, 0) for x in inputs if not isinstance(x, jax_programs.Literal))
        for x in equation.outvars:
            if self._reads[x] < 2:
                self._length[x] = length
            elif name in _CHEAP:
                if length > _LONG and size_of(x) >= _LARGE:
                    self._pin(x)
                else:
                    self._length[x] = length

    def _pin(self, x):
        arguments = [x, self._unknown]
        structs = [jax.ShapeDtypeStruct(y.aval.shape, y.aval.dtype) for y in arguments]
        (call,) = jax.make_jaxpr(jax.jit(_through_a_branch))(*structs).eqns
        self._equations.append(call.replace(invars=arguments))
        (self._pinned[x],) = call.outvars


def _through_a_branch(x, unknown):
    bits = lax.bitcast_convert_type(unknown[(0,) * unknown.ndim], f"int{8 * unknown.dtype.itemsize}")
    return lax.cond((bits | 1) != 0, lambda: x, lambda: jnp.zeros(x.shape, x.dtype))
