"""Random programs over tensors, variables, control flow, TensorArrays and gradients, as Python source.

A program is a function `program(tf, x, y, i, n, v, w)`: x and y are float vectors, i and n small integers, v and w
float variables; it returns a structure of tensors. Everything that may fail on its data is added to `acc`, which is
returned, so that no tier may leave it out.
"""

import linecache
import random

LENGTH = 3  # of all vectors


class Writer:
    """Writes one program; the same for the same seed."""

    def __init__(self, seed, errors=True):
        self._random = random.Random(seed)
        self._errors = errors
        self._lines = []
        self._count = 0
        self._loops = 0
        self._tape_depth = 0
        # Names that can be used here, by kind: float vector and scalar, int scalar, boolean scalar.
        self._names = {"F": ["x", "y"], "S": ["acc"], "I": ["i"], "B": []}

    def program(self) -> str:
        self._emit(0, "def program(tf, x, y, i, n, v, w):")
        self._emit(1, "acc = tf.constant(0.0)")
        self._block(1, self._random.randint(4, 9), depth=0)
        returned = ", ".join([*self._names["F"][:4], *self._names["S"][:3], *self._names["I"][:2]])
        self._emit(1, f"return [{returned}]")
        return "\n".join(self._lines) + "\n"

    # Statements.

    def _emit(self, level, text):
        self._lines.append("    " * level + text)

    def _fresh(self, kind):
        self._count += 1
        return f"{kind.lower()}{self._count}"

    def _block(self, level, statements, depth):
        """Statements in a scope of their own: what they define is not visible afterwards."""
        before = {kind: list(names) for kind, names in self._names.items()}
        for _ in range(statements):
            self._statement(level, depth)
        if depth:
            self._names = before

    def _statement(self, level, depth):
        kinds = ["assign"] * 5 + ["update"] * 2 + ["check"]
        if depth < 3:
            kinds += ["if"] * 2 + ["for", "while", "array"]
        if self._tape_depth < 2:
            kinds += ["gradient"]
        getattr(self, "_" + self._random.choice(kinds))(level, depth)

    def _assign(self, level, depth):
        kind = self._random.choice("FFFSSIB")
        known = [name for name in self._names[kind] if _may_change(name)]
        if known and self._random.random() < 0.5:
            name = self._random.choice(known)
        else:
            name = self._fresh(kind)
        self._emit(level, f"{name} = {self._expression(kind, 2)}")
        if name not in self._names[kind]:
            self._names[kind].append(name)

    def _update(self, level, depth):
        variable = self._random.choice("vw")
        method = self._random.choice(["assign", "assign_add", "assign_sub"])
        self._emit(level, f"{variable}.{method}(tf.tanh({self._expression('F', 1)}))")

    def _check(self, level, depth):
        """Something that may fail, depending on the data."""
        if not self._errors:
            self._assign(level, depth)
            return
        vector, index, scalar = self._expression("F", 0), self._expression("I", 1), self._expression("S", 0)
        choice = self._random.randrange(4)
        if choice == 0:
            self._emit(level, f"acc = acc + tf.gather({vector}, {index})")
        elif choice == 1:
            self._emit(level, f"acc = acc + tf.cast(7 // ({index}), tf.float32)")
        elif choice == 2:
            self._emit(level, f"tf.debugging.assert_less({scalar}, 3.0)")
        else:
            self._emit(level, f"acc = acc + {vector}[{index} % {LENGTH}]")

    def _if(self, level, depth):
        targets = self._targets()
        self._emit(level, f"if {self._expression('B', 1)}:")
        self._branch(level + 1, depth, targets)
        if self._random.random() < 0.3:
            self._emit(level, f"elif {self._expression('B', 1)}:")
            self._branch(level + 1, depth, targets)
        if self._random.random() < 0.8:
            self._emit(level, "else:")
            self._branch(level + 1, depth, targets)
        if self._loops and self._random.random() < 0.25:
            self._emit(level, f"if {self._expression('B', 1)}:")
            self._emit(level + 1, self._random.choice(["break", "continue"]))

    def _targets(self):
        """Variables that all branches or iterations may change."""
        return [(kind, name) for kind in "FSI" for name in self._names[kind] if _may_change(name)][:3]

    def _branch(self, level, depth, targets):
        if targets and self._random.random() < 0.8:
            kind, name = self._random.choice(targets)
            self._emit(level, f"{name} = {self._bounded(kind)}")
        self._block(level, self._random.randint(1, 2), depth + 1)

    def _for(self, level, depth):
        targets = self._targets()
        name = self._fresh("k")
        limit = self._random.choice(["n", "3", "tf.minimum(n, 2)", str(self._random.randint(0, 4))])
        self._emit(level, f"for {name} in tf.range({limit}):")
        self._loop_body(level + 1, depth, targets, name)

    def _while(self, level, depth):
        targets = self._targets()
        name = self._fresh("k")
        self._emit(level, f"{name} = tf.constant(0)")
        test = f"{name} < {self._random.choice(['n', '3'])}"
        if self._random.random() < 0.4:
            test += f" and {self._expression('B', 0)}"
        self._emit(level, f"while {test}:")
        self._emit(level + 1, f"{name} += 1")
        self._loop_body(level + 1, depth, targets, name)

    def _loop_body(self, level, depth, targets, counter):
        self._loops += 1
        self._names["I"].append(counter)
        self._branch(level, depth, targets)
        self._names["I"].remove(counter)
        self._loops -= 1

    def _array(self, level, depth):
        array, name, result = self._fresh("t"), self._fresh("k"), self._fresh("F")
        self._emit(level, f"{array} = tf.TensorArray(tf.float32, size={LENGTH})")
        self._emit(level, f"for {name} in tf.range({LENGTH}):")
        value = f"{self._expression('F', 1)} * tf.cast({name}, tf.float32)"
        self._emit(level + 1, f"{array} = {array}.write({name}, {value})")
        how = self._random.choice([".stack()", ".read(1)", ".gather([2, 0])"])
        total = f"tf.reduce_sum({array}{how}, 0)" if "read" not in how else f"{array}{how}"
        self._emit(level, f"{result} = tf.sin({total})")
        self._names["F"].append(result)

    def _gradient(self, level, depth):
        tape, source, result = self._fresh("g"), self._random.choice(self._names["F"]), self._fresh("F")
        inner, target = self._fresh("F"), self._fresh("S")
        self._emit(level, f"with tf.GradientTape() as {tape}:")
        self._emit(level + 1, f"{tape}.watch({source})")
        self._tape_depth += 1
        self._emit(level + 1, f"{inner} = tf.sin({source}) * {self._expression('F', 1)}")
        before = {kind: list(names) for kind, names in self._names.items()}
        self._names["F"].append(inner)
        if depth < 2 and self._random.random() < 0.5:
            self._emit(level + 1, f"if {self._expression('B', 1)}:")
            self._emit(level + 2, f"{inner} = {inner} * {self._expression('F', 1)}")
        self._emit(level + 1, f"{target} = tf.reduce_sum({inner} * {inner})")
        self._names = before
        self._tape_depth -= 1
        of = self._random.choice([source, source, "v"])
        self._emit(level, f"{result} = {tape}.gradient({target}, {of}, unconnected_gradients='zero')")
        self._emit(level, f"{result} = tf.tanh({result})")
        self._names["F"].append(result)

    # Expressions.

    def _bounded(self, kind):
        text = self._expression(kind, 1)
        return {"F": f"tf.tanh({text})", "S": f"tf.tanh({text})", "I": f"({text}) % 5"}.get(kind, text)

    def _expression(self, kind, depth):
        choose = self._random.choice
        names = self._names[kind]
        if depth <= 0 or self._random.random() < 0.25:
            if kind == "F":
                return choose([*names, "v.value()", "w.value()"])
            if kind == "S":
                number, vector = self._random.uniform(-1, 1), choose(self._names["F"])
                return choose([*names, f"{number:.3f} + tf.reduce_mean({vector})"])
            if kind == "I":
                return choose([*names, "n"])
            return choose([*names, f"{choose(self._names['S'])} > {self._random.uniform(-1, 1):.3f}"])
        sub = self._expression
        if kind == "F":
            return choose([
                lambda: f"tf.{choose(['sin', 'tanh', 'sigmoid', 'abs', 'negative', 'cumsum'])}({sub('F', depth - 1)})",
                lambda: f"({sub('F', depth - 1)} {choose('+-*')} {sub(choose('FS'), depth - 1)})",
                lambda: f"tf.{choose(['maximum', 'minimum'])}({sub('F', depth - 1)}, {sub(choose('FS'), depth - 1)})",
                lambda: f"tf.where({sub('F', depth - 1)} > 0.0, {sub('F', depth - 1)}, {sub('F', depth - 1)})",
                lambda: f"tf.reverse({sub('F', depth - 1)}, [0])",
                lambda: f"tf.linalg.matvec(tf.tensordot({sub('F', 0)}, {sub('F', 0)}, 0), {sub('F', depth - 1)})",
                lambda: f"tf.concat([{sub('F', depth - 1)}[1:], {sub('F', 0)}[:1]], 0)",
            ])()
        if kind == "S":
            return choose([
                lambda: f"tf.reduce_{choose(['sum', 'mean', 'max', 'min'])}({sub('F', depth - 1)})",
                lambda: f"tf.tanh({sub('S', depth - 1)} {choose('+-*')} {sub('S', depth - 1)})",
                lambda: f"tf.cast({sub('I', depth - 1)}, tf.float32)",
                lambda: f"({sub('S', depth - 1)} if {sub('B', 0)} else {sub('S', 0)})",
            ])()
        if kind == "I":
            return choose([
                lambda: f"({sub('I', depth - 1)} {choose('+-')} {self._random.randint(0, 2)})",
                lambda: f"({sub('I', depth - 1)} * {sub('I', 0)}) % 7",
                lambda: f"tf.cast(tf.argmax({sub('F', depth - 1)}), tf.int32)",
                lambda: f"tf.maximum({sub('I', depth - 1)}, {sub('I', 0)})",
            ])()
        return choose([
            lambda: f"{sub('S', depth - 1)} {choose(['<', '>', '<=', '>='])} {sub('S', 0)}",
            lambda: f"{sub('I', depth - 1)} {choose(['==', '!=', '<'])} {sub('I', 0)}",
            lambda: f"({sub('B', depth - 1)} {choose(['and', 'or'])} {sub('B', 0)})",
            lambda: f"not {sub('B', 0)}",
            lambda: f"tf.reduce_any({sub('F', depth - 1)} > 0.5)",
        ])()


def _may_change(name):
    """Arguments stay as they are, and so do counters, lest loops never end."""
    return name not in ("x", "y", "i", "acc") and not name.startswith("k")


def source_of(seed, errors=True) -> str:
    """The program of that number."""
    return Writer(seed, errors).program()


def function_of(seed, errors=True):
    """The program as a Python function whose source tools can find."""
    source = source_of(seed, errors)
    name = f"<program {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {"__name__": "random_program"}
    exec(compile(source, name, "exec"), scope)
    return scope["program"]


def arguments_of(seed) -> dict:
    """The inputs of the program of that number, as plain Python values."""
    rng = random.Random(seed + 1_000_003)
    vector = [[round(rng.uniform(-1.5, 1.5), 3) for _ in range(LENGTH)] for _ in range(4)]
    i, n = rng.randint(0, 3), rng.randint(0, 3)
    return {"x": vector[0], "y": vector[1], "i": i, "n": n, "v": vector[2], "w": vector[3]}
