"""What an op is, in words that the rest of the program understands: `traits=ELEMENTWISE | NEVER_FAILS`.

A trait is said once, at the op's record, and each machinery that treats such ops alike asks for it. A trait that is not
said costs speed, or an error message that says what is missing; a trait that is said wrongly gives wrong results.
"""


class Trait:
    """A fact about an op, or several of them: `A | B` are both.

    `A in op.traits` asks for one, `op.traits & (A | B)` is true if there is one of several.
    """

    # Not an enum.Flag, which would take a fiftieth of the time of `import headrace` to make.
    __slots__ = ("names",)

    def __init__(self, *names: str):
        self.names = frozenset(names)

    def __or__(self, other: "Trait") -> "Trait":
        return Trait(*self.names, *other.names)

    def __and__(self, other: "Trait") -> "Trait":
        return Trait(*self.names & other.names)

    def __contains__(self, other: "Trait") -> bool:
        return self.names >= other.names

    def __bool__(self) -> bool:
        return bool(self.names)

    def __repr__(self):
        return " | ".join(sorted(self.names)) or "NONE"


NONE = Trait()

# Above each of the others stands what is true of such an op, and who asks for it.

# Each element of the output depends on that element of the inputs alone. Several inputs broadcast.
# Asked by `@api(of=...)` (ragged tensors, dispatch by type) and by vectorization, which needs no other rule.
ELEMENTWISE = Trait("ELEMENTWISE")
# Element-wise, but the inputs must have one shape: nothing is broadcast. Vectorization stacks them all.
EQUAL_SHAPES = Trait("EQUAL_SHAPES")
# It returns normally, whatever the values and shapes of its inputs are. Graph passes drop it when nobody reads it.
NEVER_FAILS = Trait("NEVER_FAILS")
# It fails only if the shapes of its inputs do not fit together. Graph passes drop it where all shapes are known.
FAILS_BY_SHAPE = Trait("FAILS_BY_SHAPE")
# Its outputs are its inputs as they are. Graph passes let readers read the input.
PASSES_ON = Trait("PASSES_ON")
# With one input, f(f(x)) is f(x); with two, f(x, x) is x. Graph passes leave out the second f.
IDEMPOTENT = Trait("IDEMPOTENT")
# f(f(x)) is x. Graph passes leave out both.
INVOLUTION = Trait("INVOLUTION")
# Only the shapes of its inputs matter. Compiled programs know its result while they are compiled, and each part of
# a graph that is compiled in parts computes it for itself.
ABOUT_SHAPES = Trait("ABOUT_SHAPES")
# It looks at a resource (a variable, a table) and leaves it as it is. Reads may change places with each other;
# vectorization reads once for all elements.
READS_RESOURCE = Trait("READS_RESOURCE")
# It looks at files. Pipelines may call it in any order, again, or not at all, as with reads of resources.
READS_FILES = Trait("READS_FILES")
# Stateful only so that it is not moved, shared or left out. To explain its time, a function with it may run again.
CHANGES_NOTHING = Trait("CHANGES_NOTHING")
# It changes the variable that is its first input (`Op.writes` of them). Compiled programs hand the new value back.
WRITES_VARIABLE = Trait("WRITES_VARIABLE")
# Graphs are among its attributes; what it does depends on these. Everything that walks through graphs follows them.
CALLS_FUNCTIONS = Trait("CALLS_FUNCTIONS")
# It calls the function `f`, once. Others may call it too, so each call has random streams of its own.
PLAIN_CALL = Trait("PLAIN_CALL")
# It calls a function again and again. A graph with a loop is worth compiling, however small it is.
LOOPS = Trait("LOOPS")
# TF: functions with jit_compile=True may have it. Here the host runs it between programs: the size of its result
# depends on values, or it is a program of its own.
BETWEEN_PROGRAMS = Trait("BETWEEN_PROGRAMS")
# It multiplies matrices, which takes NumPy as long as XLA's CPU code. Graphs that mostly do this are not compiled.
MATRIX_PRODUCT = Trait("MATRIX_PRODUCT")
# It is a convolution, or a gradient of one, for which XLA has faster code than NumPy. A graph with a large one is worth
# compiling.
CONVOLUTION = Trait("CONVOLUTION")
# It is the gradient of a convolution by its filter. What convolutions compute is then read again, long after.
FILTER_GRADIENT = Trait("FILTER_GRADIENT")
# Its lowering takes NumPy arrays where values are known while compiling, and may keep them so.
TAKES_KNOWN = Trait("TAKES_KNOWN")
# It repeats its input: small constants may give a large result. Compilers look at its size before they compute it.
REPEATS = Trait("REPEATS")
# Its lowering takes strings, and makes nothing of them.
TAKES_STRINGS = Trait("TAKES_STRINGS")
# It calls a Python function of the user's. Pipelines with it stay in this program, and go from element to element.
CALLS_PYTHON = Trait("CALLS_PYTHON")
# It makes a dataset of the records of files. Files of a function that does only this are read ahead.
FILE_DATASET = Trait("FILE_DATASET")
# TF: `tf.debugging.enable_check_numerics` does not look at its outputs: it moves numbers, or lets NaN pass.
UNCHECKED = Trait("UNCHECKED")
