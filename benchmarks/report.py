"""From results of all.py and growth.py to docs/performance.md: tables, and plots beside it.

Results are lines of JSON; of several with the same row and peer, the last one counts. The page keeps its text: only
what stands between `<!-- NAME -->` and `<!-- end -->` is written anew.
"""

import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

from workloads.table import ROWS

TORCH = ("torch", "torch.compile")


def machine() -> dict:
    """What the results depend on besides the libraries."""
    with open("/proc/cpuinfo") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    load = round(os.getloadavg()[0], 1)
    return {"processor": names[0] if names else "?", "processors": len(os.sched_getaffinity(0)), "load": load}


def append(path, results):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as file:
        file.writelines(json.dumps(result) + "\n" for result in results)


def read(path) -> dict:
    """The last result of each row and peer: `{row: {peer: result}}`."""
    rows: dict = {}
    if path.exists():
        for line in path.read_text().splitlines():
            result = json.loads(line)
            rows.setdefault(result["row"], {})[result["peer"]] = result
    return rows


def has(path, row, peers, rounds) -> bool:
    """Whether there are results of a row with so many rounds, for all of these."""
    results = read(path).get(row, {})
    return all(len(results.get(peer, {}).get("seconds", [])) >= rounds for peer in peers)


def duration(seconds) -> str:
    """A time as one reads it."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(theirs, ours) -> float:
    """The median over rounds of their time / ours."""
    return statistics.median(a / b for a, b in zip(theirs["seconds"], ours["seconds"]))


def faster_torch(results):
    """The result of PyTorch that counts; None if there is none."""
    forms = [results[name] for name in TORCH if results.get(name, {}).get("seconds")]
    return min(forms, key=lambda result: statistics.median(result["seconds"]), default=None)


def _judged(value, goal):
    """A ratio beside its goal, and whether it is missed."""
    if value is None:
        return "-", False
    if goal is None:
        return f"{value:.2f}", False
    return f"{value:.2f} (goal {goal:g}){'' if value >= goal else ' **missed**'}", value < goal


def _cell(result):
    return "-" if result is None else duration(statistics.median(result["seconds"]))


def _row_line(row, results):
    """The line of a workload, and whether one of its goals is missed."""
    ours, theirs, torch = results["headrace"], results.get("tensorflow"), faster_torch(results)
    first, is_first_missed = _judged(ratio(theirs, ours) if theirs else None, row.goal)
    second, is_second_missed = _judged(ratio(torch, ours) if torch else None, row.torch_goal)
    jit = results.get("tensorflow jit")
    form = f" ({torch['peer'].removeprefix('torch.')})" if torch and torch["peer"] != "torch" else ""
    memory = " / ".join("-" if r is None else str(r["memory"]) for r in (ours, theirs, torch))
    their = _cell(theirs) + (f" (jit {_cell(jit)})" if jit else "")
    times = f"{_cell(ours)} | {their} | {_cell(torch)}{form}"
    return f"| {row.name} | {row.unit} | {times} | {first} | {second} | {memory} |", is_first_missed or is_second_missed


def workload_table(rows):
    """The table as text, and the names of rows that miss a goal."""
    lines = ["| workload | time of one | headrace | TensorFlow | PyTorch | TensorFlow / headrace | PyTorch / headrace "
             "| peak MB |", "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    missed = []
    for row in ROWS:
        if "headrace" in rows.get(row.name, {}):
            line, is_missed = _row_line(row, rows[row.name])
            lines.append(line)
            missed += [row.name] if is_missed else []
    return "\n".join(lines), missed


def script_table(rows, goal=1.5, longest=5.0):
    """The same for scripts from start to end: results of rows such as `script mlp, busy`."""
    lines = ["| script | machine | TensorFlow | headrace, first | headrace, again | TensorFlow / first "
             f"| TensorFlow / again | longest step (at most {longest:g}) | peak MB |",
             "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    missed = []
    for name, results in rows.items():
        kinds = [results.get(peer) for peer in ("tensorflow", "headrace", "headrace again")]
        if not name.startswith("script ") or None in kinds:
            continue
        theirs, first, again = kinds
        judged = [_judged(ratio(theirs, ours), goal) for ours in (first, again)]
        script, _, state = name.removeprefix("script ").partition(", ")
        memory = " / ".join(str(result["memory"]) for result in kinds)
        steps = [result["longest"] for result in kinds]
        is_long = max(steps[1:]) > longest
        judged.append((" / ".join(f"{step:.1f}" for step in steps) + is_long * " **missed**", is_long))
        lines.append(f"| {script} | {state} | {_cell(theirs)} | {_cell(first)} | {_cell(again)} | {judged[0][0]} "
                     f"| {judged[1][0]} | {judged[2][0]} | {memory} |")  # fmt: skip
        missed += [name] if any(is_missed for _, is_missed in judged) else []
    return "\n".join(lines), missed


def bars(rows) -> list[dict]:
    """What the plot of ratios shows."""
    found = []
    for row in ROWS:
        results = rows.get(row.name, {})
        ours, theirs, torch = results.get("headrace"), results.get("tensorflow"), faster_torch(results)
        if ours:
            found.append({"name": row.name, "goals": [row.goal, row.torch_goal],
                          "ratios": [ratio(peer, ours) if peer else None for peer in (theirs, torch)]})  # fmt: skip
    for name, results in rows.items():
        if name.startswith("script ") and {"tensorflow", "headrace"} <= results.keys():
            found.append({"name": name, "goals": [1.5, None],
                          "ratios": [ratio(results["tensorflow"], results["headrace"]), None]})  # fmt: skip
    return found


def about(rows) -> str:
    """Where the results come from, in a sentence."""
    results = [result for row in rows.values() for result in row.values()]
    versions = {}
    for result in results:
        if "version" in result:
            versions.setdefault(result["peer"].split(".")[0].split()[0], set()).add(result["version"])
    named = ", ".join(f"{name} {' and '.join(sorted(map(str, found)))}" for name, found in sorted(versions.items()))
    processors = {(result["processor"], result["processors"]) for result in results}
    where = "; ".join(f"{count} processors of {name}" for name, count in sorted(processors))
    days = sorted(result["date"][:10] for result in results)
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    load = max(result["load"] for result in results)
    return f"{named}; {where}; {when}; load of the machine at the end of a row: up to {load:g}."


def replace_part(page, name, text):
    """Put text between the two marks of a part of the page."""
    old = page.read_text(encoding="utf-8")
    new, count = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda match: f"{match[1]}{text}\n{match[2]}", old,
                         count=1, flags=re.S)  # fmt: skip
    if not count:
        raise SystemExit(f"{page} has no part <!-- {name} -->")
    page.write_text(new, encoding="utf-8")


def draw(figures, folder, pythons) -> bool:
    """Draw figures into a folder with the first interpreter that has matplotlib; whether there is one."""
    probe = "import importlib.util as u, sys; sys.exit(u.find_spec('matplotlib') is None)"
    for python in [sys.executable, *filter(None, pythons)]:
        if subprocess.run([python, "-c", probe]).returncode == 0:
            script = pathlib.Path(__file__).with_name("plots.py")
            subprocess.run([python, script, folder], input=json.dumps(figures), text=True, check=True)
            return True
    print(f"No plots: none of the interpreters has matplotlib. Get it with: {sys.executable} -m pip install matplotlib",
          file=sys.stderr)  # fmt: skip
    return False


def write(results, docs, pythons) -> list[str]:
    """Print the table and, where a folder is given, write it and the plot of ratios there.

    Returns the names of rows that miss a goal.
    """
    rows = read(results)
    if not rows:
        return []
    table, missed = workload_table(rows)
    scripts, missed_scripts = script_table(rows)
    missed += missed_scripts
    text = f"{about(rows)}\n\n{table}\n\n{scripts}"
    print(text)
    print("missed: " + "; ".join(missed) if missed else "all goals met")
    if docs is None:
        return missed
    folder = docs / "performance"
    if draw([{"kind": "ratios", "file": "ratios.png", "bars": bars(rows)}], folder, pythons):
        text += "\n\n![Ratios of times; the marks are the goals](performance/ratios.png)"
    replace_part(docs / "performance.md", "table", text)
    return missed


def exponent(sizes, values) -> float:
    """The slope of a line through points in a log-log diagram, by least squares: 1 is linear, 2 quadratic.

    Only the largest sizes count, down to a hundredth of the largest: what is there anyhow hides growth in the others.
    """
    points = [(math.log(x), math.log(y)) for x, y in zip(sizes, values) if x * 100 >= max(sizes)]
    xs, ys = zip(*points)
    mean_x, mean_y = statistics.mean(xs), statistics.mean(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
