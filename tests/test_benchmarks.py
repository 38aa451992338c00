"""The benchmark of everything: workloads run, and results become a table with goals."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"


def in_benchmarks(code):
    """What a program prints that can import the files of the benchmarks."""
    done = subprocess.run([sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_workloads_run():
    names = ["MLP step", "while loop", "element-wise, 10^4", "keras.layers.GRU"]
    command = [sys.executable, "benchmarks/all.py", "--quick", "--only", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(": runs") == 6, done.stderr


@pytest.mark.slow
def test_sessions_run():
    command = [sys.executable, "benchmarks/sessions.py", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    losses = [[float(x) for x in line.rpartition(": ")[2].split(",")] for line in done.stdout.splitlines()]
    assert len(losses) == 6
    assert all(0.0 < x < 10.0 for row in losses for x in row)


@pytest.mark.slow
def test_rows_are_profiled():
    """A compiled row, an eager one, and one whose functions are interpreted, each with what is in it."""
    command = [sys.executable, "benchmarks/profile_row.py", "--quick", "while loop, warm", "MLP step eager"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    eager, compiled = re.split(r"^while loop, warm: ", done.stdout, flags=re.MULTILINE)
    assert re.search(r"x  MatMul, \d+ GFLOP/s", eager)
    assert "products: 0.016 GFLOP a call" in eager  # 50 x 784 x 100 twice, 50 x 100 x 10 three times
    assert "in 1 runs" in compiled
    assert "XLA's instructions" in compiled


def test_products_of_a_program_are_counted():
    """In a fusion, in a convolution, and in a loop, whose body has events of its own."""
    text = """
%fused (a: f32[5,7], b: f32[7,3]) -> f32[5,3] {
  %a = f32[5,7]{1,0} parameter(0)
  %b = f32[7,3]{1,0} parameter(1)
  ROOT %dot.1 = f32[5,3]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
%body (s: (f32[5,7], f32[7,3])) -> (f32[5,7], f32[7,3]) {
  %s = (f32[5,7]{1,0}, f32[7,3]{1,0}) parameter(0)
  %x = f32[5,7]{1,0} get-tuple-element(%s), index=0
  %y = f32[7,3]{1,0} get-tuple-element(%s), index=1
  %product = f32[5,3]{1,0} fusion(%x, %y), kind=kCustom, calls=%fused
  ROOT %t = (f32[5,7]{1,0}, f32[7,3]{1,0}) tuple(%x, %y)
}
ENTRY %main (p: f32[2,8,8,4], k: f32[3,3,2,6]) -> f32[2,8,8,6] {
  %p = f32[2,8,8,4]{3,2,1,0} parameter(0)
  %k = f32[3,3,2,6]{3,2,1,0} parameter(1)
  %while.1 = (f32[5,7]{1,0}, f32[7,3]{1,0}) while(%p), condition=%c, body=%body
  ROOT %conv = f32[2,8,8,6]{3,2,1,0} convolution(%p, %k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
}
"""
    code = f"""
import json, program_work
found = program_work.instructions_of({text!r})
print(json.dumps({{name: [x.is_control, x.flops] for name, x in found.items() if x.flops or x.is_control}}))
"""
    assert in_benchmarks(code) == {
        "dot.1": [False, 2 * 5 * 7 * 3],
        "product": [False, 2 * 5 * 7 * 3],
        "while.1": [True, 0],
        "conv": [False, 2 * (2 * 8 * 8 * 6) * (3 * 3 * 2)],
    }


def test_results_become_a_table_with_goals(tmp_path):
    """The last result of a row counts, the faster form of PyTorch counts, and a missed goal is told."""
    line = {"memory": 100, "version": "1", "date": "2026-01-01", "processor": "p", "processors": 2, "load": 0.1}
    results = [
        {"row": "MLP step compiled", "peer": peer, "seconds": seconds, **line}
        for peer, seconds in [("headrace", [9.0]), ("headrace", [1e-3, 2e-3, 1e-3]), ("tensorflow", [3e-3, 5e-3, 3e-3]),
                              ("torch", [2e-3, 2e-3, 2e-3]), ("torch.compile", [1e-3, 1e-3, 1e-3])]
    ]  # fmt: skip
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    code = f"""
import json, pathlib, report
rows = report.read(pathlib.Path({str(path)!r}))
print(json.dumps([report.workload_table(rows), report.exponent([1, 10, 100], [3, 300, 30000])]))
"""
    (table, missed), exponent = in_benchmarks(code)
    (row,) = table.splitlines()[2:]
    assert "| 1 ms | 3 ms | 1 ms (compile) | 3.00 (goal 2.2) | 1.00 (goal 1.5) **missed** | 100 / 100 / 100 |" in row
    assert missed == ["MLP step compiled"]
    assert exponent == pytest.approx(2)


def test_scripts_are_judged_by_their_time_and_by_their_longest_step(tmp_path):
    line = {"row": "script MLP, busy", "memory": 100}
    peers = [("tensorflow", [4.0], 9.0), ("headrace", [2.0], 3.0), ("headrace again", [1.0], 5.5)]
    path = tmp_path / "results.jsonl"
    results = [{**line, "peer": peer, "seconds": seconds, "longest": longest} for peer, seconds, longest in peers]
    path.write_text("".join(json.dumps(result) + "\n" for result in results))
    code = f"""
import json, pathlib, report
print(json.dumps(report.script_table(report.read(pathlib.Path({str(path)!r})))))
"""
    table, missed = in_benchmarks(code)
    expected = "| MLP | busy | 4 s | 2 s | 1 s | 2.00 (goal 1.5) | 4.00 (goal 1.5) | 9.0 / 3.0 / 5.5 **missed** |"
    assert table.splitlines()[2].startswith(expected)
    assert missed == ["script MLP, busy"]


def test_the_page_of_predicted_scaling_has_what_its_commands_print():
    page = (ROOT / "docs" / "predicted_scaling.md").read_text()
    commands = re.findall(r"`python (benchmarks/predicted_scaling\.py [^`]+)`", page)
    assert len(commands) == 2
    for command in commands:
        done = subprocess.run([sys.executable, *command.split()], cwd=ROOT, capture_output=True, text=True)
        assert done.stdout in page, command
