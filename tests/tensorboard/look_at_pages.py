"""Start TensorBoard on a log folder, look at its pages in headless Chromium, and check what they show.

    python look_at_pages.py LOGS PICTURES

Runs in an environment with headrace, tensorboard, xprof and selenium; `scripts/tensorboard_pages` makes one. A picture
of each page is left in PICTURES, to be looked at. A line is printed for each page; the exit code is 1 if one lacks
something.
"""

import contextlib
import gzip
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

SECONDS = 90  # how long a page may take on a busy machine
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1500,1300"
).split()

# Pages are made of elements inside of elements with roots of their own, and of frames.
JAVASCRIPT = """
function all(root, out) {
    for (const e of root.querySelectorAll('*')) {
        out.push(e);
        if (e.shadowRoot) all(e.shadowRoot, out);
        if (e.nodeName === 'IFRAME') { try { all(e.contentDocument, out) } catch (x) { } }
    }
    return out;
}
function text(node) {
    if (node.nodeType === 3) return node.textContent + ' ';
    if (['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT'].includes(node.nodeName)) return '';
    let s = '';
    if (node.nodeName === 'IFRAME') { try { s += text(node.contentDocument.body) } catch (x) { } }
    if (node.shadowRoot) for (const c of node.shadowRoot.childNodes) s += text(c);
    for (const c of node.childNodes) s += text(c);
    return s;
}
const found = (selector) => all(document, []).filter(e => e.matches(selector));
"""
TEXT = JAVASCRIPT + "return text(document.body).replace(/\\s+/g, ' ');"
COUNT = JAVASCRIPT + "return found(arguments[0]).length;"
IMAGES = JAVASCRIPT + "return found('img').map(e => [e.naturalWidth, e.naturalHeight]);"
CLICK = JAVASCRIPT + """
const fitting = found(arguments[0]).filter(e => (e.textContent || '').trim() === arguments[1]);
if (fitting.length) fitting[fitting.length - 1].click();
return fitting.length;
"""


class Board:
    """A TensorBoard, and a browser."""

    def __init__(self, url, browser, pictures):
        self.url, self.browser, self.pictures = url, browser, pathlib.Path(pictures)

    def data(self, path):
        """What TensorBoard answers to its own pages, as JSON."""
        with urllib.request.urlopen(self.url + path) as answer:
            content = answer.read()
        return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)

    def open(self, page, query=""):
        self.browser.get(f"{self.url}?{query}&page={time.monotonic_ns()}#{page}")

    def wait(self, what, condition):
        """Until the condition holds; otherwise an error that says what is missing."""
        end = time.monotonic() + SECONDS
        while True:
            missing = condition()
            if not missing:
                return
            if time.monotonic() > end:
                raise AssertionError(f"{what}: {missing}")
            time.sleep(0.5)

    def shows(self, *words):
        """Wait until the page has these texts."""

        def missing():
            there = self.browser.execute_script(TEXT)
            return [word for word in words if word not in there]

        self.wait("the page does not show", missing)

    def has(self, selector, count):
        """Wait until the page has so many elements."""

        def missing():
            there = self.browser.execute_script(COUNT, selector)
            return None if there >= count else f"{there} of {count} {selector}"

        self.wait("the page has", missing)

    def click(self, selector, text):
        self.wait("nothing to click", lambda: None if self.browser.execute_script(CLICK, selector, text) else text)

    def picture(self, name):
        time.sleep(2)  # what is drawn comes after what is said
        self.browser.save_screenshot(str(self.pictures / f"{name}.png"))


def time_series(board):
    board.open("timeseries")
    board.shows("decay", "epoch_accuracy", "training/train", "search/run-7", "summaries")


def scalars(board):
    board.open("scalars")
    board.shows("decay", "inside", "epoch_accuracy", "epoch_loss", "epoch_learning_rate", "training/validation")
    values = board.data("data/plugin/scalars/scalars?tag=decay&run=summaries")
    assert [step for _, step, _ in values] == list(range(20)), values
    assert abs(values[5][2] - 0.36787945) < 1e-6, values[5]


def images(board):
    board.open("images")
    board.shows("gradients", "sample: 3 of 3", "sequential/hidden/kernel/image")
    board.wait("pictures", lambda: None if [48, 48] in board.browser.execute_script(IMAGES) else "none of 48 by 48")


def audio(board):
    board.open("audio")
    board.shows("tone", "summaries")
    board.has("audio", 1)


def histograms(board):
    board.open("histograms")
    board.shows("spread", "sequential/hidden/kernel/histogram", "sequential/words/embeddings/histogram")
    board.has("svg path", 20)


def distributions(board):
    board.open("distributions")
    board.shows("spread", "sequential/hidden/kernel/histogram")


def texts(board):
    board.open("text")
    board.shows("note", "A text in Markdown about headrace", "table", "second", "16")


def graph_of_function(board):
    board.open("graphs")
    board.click("paper-item", "function")
    board.shows("my_func_trace", "Main Graph", "product", "Relu")


def graph_of_training(board):
    board.open("graphs")
    board.click("paper-item", "training/train")
    board.shows("batch_6", "Main Graph", "StatefulPartitio", "Functions", "one_step_on_dat")


def graph_of_layers(board):
    board.open("graphs")
    board.click("paper-item", "training/train")
    board.click("paper-item", "keras")
    board.shows("sequential")


def hyperparameters(board):
    board.open("hparams")
    board.shows("num_units", "dropout", "optimizer", "Accuracy", "0.85000", "adam", "sgd")


def projector(board):
    board.open("projector")
    board.shows("Points: 30", "Dimension: 8", "training/train", "words.tsv")


def projector_of_checkpoint(board):
    runs = board.data("data/plugin/projector/runs")
    assert sorted(runs) == ["projector", "training/train"], runs
    information = board.data("data/plugin/projector/info?run=projector")
    (embedding,) = [e for e in information["embeddings"] if e["tensorName"] == "embedding/.ATTRIBUTES/VARIABLE_VALUE"]
    assert embedding["tensorShape"] == [50, 6], embedding
    board.open("projector")
    board.click("paper-item", "projector")
    board.shows("Points: 50", "Dimension: 6", "metadata.tsv")


def _profile(board, run):
    (name,) = [name for name in board.data("data/plugin/profile/runs") if name.startswith(f"{run}/")]
    tools = board.data(f"data/plugin/profile/run_tools?run={urllib.parse.quote(name)}")
    assert {"overview_page", "trace_viewer@", "framework_op_stats", "input_pipeline_analyzer"} <= set(tools), tools
    return name


def _tool(board, run, tool):
    name = _profile(board, run)
    host = board.data(f"data/plugin/profile/hosts?run={urllib.parse.quote(name)}&tag={tool}")[0]["hostname"]
    board.open("profile", f"run={name}&tag={tool}&host={host}")
    return board.data(f"data/plugin/profile/data?run={urllib.parse.quote(name)}&tag={tool}&host={host}")


def profile_overview(board):
    _tool(board, "training/train", "overview_page")
    board.shows("Performance Summary", "Host Compute Time", "Input Time", "training/train/")
    assert "No step marker" not in board.browser.execute_script(TEXT)


def profile_time_line(board):
    data = _tool(board, "training/train", "trace_viewer@")
    names = {event.get("name") for event in data["traceEvents"]}
    assert {"Profiled batch 1", "Profiled batch 5", "multi_step_on_iterator"} <= names, sorted(map(str, names))
    board.shows("/host:CPU", "python", "Trace Viewer")


def profile_ops(board):
    # The tables of this page are drawn by a library that comes from the network; its data is ours.
    data = json.dumps(_tool(board, "training/train", "framework_op_stats"))
    for name in ("MatMul", "sequential_1/hidden_1/MatMul", "GatherV2", "AssignSubVariableOp"):
        assert name in data, name
    board.shows("Framework Op Stats")


def profile_of_function(board):
    data = json.dumps(_tool(board, "function", "trace_viewer@"))
    for name in ("my_func", "product/MatMul:MatMul"):
        assert name in data, name
    board.shows("/host:CPU")


def profile_of_compiled(board):
    data = _tool(board, "compiled", "trace_viewer@")
    names = {event.get("name") for event in data["traceEvents"]}
    assert {"train 0", "train 2", "update", "XlaLaunch", "XLA compile here"} <= names, sorted(map(str, names))
    threads = [e["args"]["name"] for e in data["traceEvents"] if e.get("name") == "thread_name"]
    assert any(name.startswith("XLA: ") for name in threads), threads  # what XLA itself recorded
    board.shows("/host:CPU", "python", "XLA: ")


PAGES = [
    time_series, scalars, images, audio, histograms, distributions, texts, graph_of_function, graph_of_training,
    graph_of_layers, hyperparameters, projector, projector_of_checkpoint, profile_overview, profile_time_line,
    profile_ops, profile_of_function, profile_of_compiled,
]  # fmt: skip


@contextlib.contextmanager
def started(logs):
    """A TensorBoard; its address."""
    command = [sys.executable, "-m", "headrace", "tensorboard", "--logdir", logs, "--port", "0", "--host", "127.0.0.1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    lines = []
    try:
        for line in process.stderr:
            lines.append(line)
            address = re.search(r"TensorBoard .* at (http://\S+)", line)
            if address:
                break
        else:
            raise RuntimeError("TensorBoard did not start:\n" + "".join(lines))
        threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True).start()
        yield address[1]
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def browsing():
    """A headless Chromium. `CHROMIUM` and `CHROMEDRIVER` name other programs than Debian's."""
    webdriver = importlib.import_module("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    with tempfile.TemporaryDirectory() as folder:
        for flag in [*FLAGS, f"--user-data-dir={folder}"]:
            options.add_argument(flag)
        service = webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"))
        browser = webdriver.Chrome(service=service, options=options)
        try:
            yield browser
        finally:
            browser.quit()


def main(logs, pictures):
    os.makedirs(pictures, exist_ok=True)
    failed = 0
    with started(logs) as url, browsing() as browser:
        board = Board(url, browser, pictures)
        runs = {"summaries", "function", "training/train", "training/validation", "search/run-7", "projector"}
        board.wait("TensorBoard has not read", lambda: runs - set(board.data("data/runs")))
        for page in PAGES:
            try:
                page(board)
                print(f"{page.__name__}: shown", flush=True)
            except Exception as error:
                failed += 1
                print(f"{page.__name__}: {type(error).__name__}: {error}", flush=True)
            board.picture(page.__name__)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
