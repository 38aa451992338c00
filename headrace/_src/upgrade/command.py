"""The command line of `tf_upgrade_v2` and `headrace upgrade`."""

import argparse
import difflib
import os
import sys

from headrace._src.core import operating_system
from headrace._src.upgrade import report, tree
from headrace._src.upgrade.files import Job, Outcome, process, write
from headrace._src.upgrade.rewriting import Options

_EXAMPLES = """Examples:
  tf_upgrade_v2 --infile old.py --outfile new.py
  tf_upgrade_v2 --infile old.ipynb --outfile new.ipynb
  tf_upgrade_v2 --intree old_project --outtree new_project
  tf_upgrade_v2 --intree . --check --diff
"""


def _truth(text):
    if text.lower() in ("true", "1", "yes", "t", "y"):
        return True
    if text.lower() in ("false", "0", "no", "f", "n"):
        return False
    raise argparse.ArgumentTypeError(f"True or False was expected, got {text!r}")


def parser(prog: str = "tf_upgrade_v2") -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(prog=prog, description=f"Turn programs for TensorFlow 1.x into ones for 2.x.\n\n"
                                   f"{_EXAMPLES}", formatter_class=argparse.RawDescriptionHelpFormatter)
    add = made.add_argument
    add("--infile", help="the file to convert, if it is a single one: .py or .ipynb")
    add("--outfile", help="the file to write")
    add("--intree", help="the folder to convert, with all below it")
    add("--outtree", help="the folder to write")
    add("--copyotherfiles", type=_truth, default=True, metavar="BOOL",
        help="whether files that are not Python are copied to the other tree (default: True)")
    add("--inplace", action="store_true", help="write over the files that are read")
    add("--no_import_rename", action="store_true", help="imports are not renamed to compat.v2; they never are")
    add("--no_upgrade_compat_v1_import", action="store_true",
        help="leave files alone that import tensorflow.compat.v1 as tf")
    add("--reportfile", default="report.txt", help="where the report is written (default: report.txt)")
    add("--mode", choices=["DEFAULT", "SAFETY"], default="DEFAULT",
        help="DEFAULT: names of 2.x where they mean the same, tf.compat.v1 elsewhere. SAFETY: leave the code, and "
             "import tensorflow.compat.v1")
    add("--print_all", action="store_true", help="print the whole log, not only what needs attention")
    more = made.add_argument_group("beyond TensorFlow's tool")
    more.add_argument("--diff", action="store_true", help="print what changes, as a patch")
    more.add_argument("--check", action="store_true",
                      help="write nothing but the report; exit code 1 when something would change")
    more.add_argument("--keras", action="store_true", help="tf.layers become tf.keras.layers where that is safe")
    more.add_argument("--graph_mode", action="store_true",
                      help="add tf.compat.v1.disable_v2_behavior() to programs that use sessions")
    more.add_argument("--processes", type=int, default=operating_system.processor_count(), metavar="N",
                      help="how many processes share a large tree (default: one per core)")
    return made


def main(argv: list[str] | None = None, prog: str = "tf_upgrade_v2") -> int:
    """Carry out the command.

    Returns:
        The exit code: 0, also when the report has errors; 1 when a file could not be read, parsed or written, or when
        `--check` found something to change.
    """
    command = parser(prog)
    arguments = command.parse_args(argv)
    if not arguments.infile and not arguments.intree:
        command.print_help()
        return 0
    _refuse_contradictions(command, arguments)
    options = Options(arguments.mode == "SAFETY", not arguments.no_upgrade_compat_v1_import, arguments.keras,
                      arguments.graph_mode)
    if arguments.infile:
        target = None if arguments.check else arguments.infile if arguments.inplace else arguments.outfile
        outcomes = [process(Job(arguments.infile, target, options, arguments.diff))]
        failures, others = [], 0
    else:
        outcomes, failures, others = _tree(arguments, options)
    failures += [(outcome.job.source, outcome.error) for outcome in outcomes if outcome.error is not None]
    return _finish(arguments, outcomes, failures, others)


def _refuse_contradictions(command, arguments):
    if arguments.infile and arguments.intree:
        command.error("--infile and --intree cannot be used together.")
    single = bool(arguments.infile)
    source, target = (arguments.infile, arguments.outfile) if single else (arguments.intree, arguments.outtree)
    word, what = ("--outfile", "a single file") if single else ("--outtree", "a file tree")
    if arguments.inplace and target:
        command.error(f"{word} cannot be used with --inplace.")
    if not arguments.inplace and not target and not arguments.check:
        command.error(f"{word} is required when converting {what}, unless --inplace or --check is given.")
    if target and os.path.realpath(source) == os.path.realpath(target):
        command.error(f"{word} is what is read: use --inplace for that.")
    if not single and not os.path.isdir(source):
        command.error(f"--intree: there is no folder {source!r}.")


def _tree(arguments, options):
    root = arguments.intree
    target = None if arguments.check else root if arguments.inplace else arguments.outtree
    found = tree.plan(root, target, options, arguments.copyotherfiles, arguments.diff)
    outcomes = tree.outcomes(found.jobs, arguments.processes, _progress(len(found.jobs)))
    failures = [*found.errors, *tree.copied(found.copies), *tree.linked(found.links)]
    return outcomes, failures, len(found.copies) + len(found.links)


def _progress(total):
    """What is told how many files are done, and shows it now and then on a terminal."""
    step = max(1, total // 100)

    def show(count):
        if count % step == 0 or count == total:
            sys.stderr.write(f"\r{count} of {total} files" + ("\n" if count == total else ""))
            sys.stderr.flush()

    return show if sys.stderr.isatty() and total > 20 else lambda count: None


def _finish(arguments, outcomes: list[Outcome], failures, others):
    summary = report.summary(outcomes, failures)
    details = report.details(outcomes, failures, arguments.intree)
    code = int(bool(failures) or (arguments.check and any(outcome.changed for outcome in outcomes)))
    ending = f"\nMake sure to read the detailed log {arguments.reportfile!r}\n"
    try:
        write(arguments.reportfile, (summary + details).encode("utf-8", "backslashreplace"))
    except OSError as error:
        sys.stderr.write(f"tf_upgrade_v2: the report {arguments.reportfile!r} cannot be written: {error.strerror}\n")
        code, ending = 1, ""
    out = sys.stdout
    try:
        for outcome in outcomes if arguments.diff else ():
            if outcome.texts is not None:
                out.writelines(_patch(*outcome.texts, outcome.job.source))
        out.write(details if arguments.print_all else "")
        out.write(summary)
        out.write("\n" + report.table(outcomes, failures, others) + ending)
        out.flush()
    except BrokenPipeError:  # who reads has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    return code


def _patch(old, new, path):
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}")
    for line in lines:
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
