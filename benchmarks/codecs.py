"""Times the image and sound codecs on headrace and TensorFlow in turns, and prints the ratios.

    python benchmarks/codecs.py [--tensorflow-python PATH] [--rounds N] [--photos FOLDER] [CASE ...]

Each library runs in one process of its own that stays up; rounds alternate between them, so that a busy machine slows
both. One call codes all files of a case, in one thread or in each of two. PATH is the interpreter that has TensorFlow
(default: this one). FOLDER holds JPEG files, in any depth; without it, some are drawn. The ratio is the median over
rounds of TensorFlow's time / headrace's. Leaves with an error if decoding JPEG loses.
"""

import argparse
import importlib
import json
import pathlib
import statistics
import sys
import threading

import numpy as np
from peers import Worker, measure

CASES = ["decode_jpeg", "decode_jpeg_ratio_2", "decode_png", "decode_png_gray", "decode_png_16", "decode_wav",
         "encode_jpeg", "encode_png"]
GOALS = {"decode_jpeg": 1.0}


def _drawn(count, height=300, width=400):
    """Smooth pictures with some noise, as photos have."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / rng.uniform(9, 40) + y / rng.uniform(9, 40)) for _ in range(3 * count)]
    images = np.stack(waves).reshape(count, 3, height, width).transpose(0, 2, 3, 1)
    return np.clip(128 + 90 * images + rng.normal(0, 6, images.shape), 0, 255).astype(np.uint8)


def build(tf, case, photos):
    """What is timed: one pass over the files of a case."""
    images = _drawn(24)
    if case.startswith("decode_jpeg"):
        files = [path.read_bytes() for path in sorted(pathlib.Path(photos).rglob("*.jpg"))] if photos else []
        files = [tf.constant(data) for data in files] or [tf.io.encode_jpeg(image) for image in images]
        ratio = 2 if case.endswith("2") else 1
        return lambda: [tf.io.decode_jpeg(data, ratio=ratio) for data in files]
    if case.startswith("decode_png"):
        wide = case.endswith("16")
        chosen = images[..., :1] if case.endswith("gray") else images.astype(np.uint16) * 257 if wide else images
        dtype = tf.uint16 if wide else tf.uint8
        files = [tf.io.encode_png(image) for image in chosen]
        return lambda: [tf.io.decode_png(data, dtype=dtype) for data in files]
    if case == "decode_wav":
        sound = np.random.default_rng(0).uniform(-1, 1, (160_000, 1)).astype(np.float32)
        data = tf.audio.encode_wav(sound, 16_000)
        return lambda: [tf.audio.decode_wav(data) for _ in range(10)]
    encode = getattr(tf.io, case)
    tensors = [tf.constant(image) for image in images]
    return lambda: [encode(image) for image in tensors]


def _in_threads(run, count):
    if count == 1:
        return run

    def run_all():
        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run_all


def serve(module, photos):
    tf = importlib.import_module(module)
    print(json.dumps(tf.__version__), flush=True)
    built = {}
    for line in sys.stdin:
        case, threads = line.split()
        if case not in built:
            built[case] = build(tf, case, photos)
            built[case]()
        print(json.dumps(measure(_in_threads(built[case], int(threads)), 0.2, 20)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--photos", default="")
    parser.add_argument("cases", nargs="*", default=CASES)
    options = parser.parse_args()
    ours = Worker(sys.executable, "headrace", options.photos)
    theirs = Worker(options.tensorflow_python, "tensorflow", options.photos)
    print(f"{'':22}threads  TensorFlow    headrace   ratio")
    missed = []
    for case in options.cases:
        for threads in (1, 2):
            rounds = []
            for _ in range(options.rounds):
                rounds.append((theirs.ask(f"{case} {threads}"), ours.ask(f"{case} {threads}")))
            ratio = statistics.median(a / b for a, b in rounds)
            times = [1e3 * statistics.median(column) for column in zip(*rounds)]
            print(f"{case:22}{threads:7}{times[0]:10.1f} ms{times[1]:9.1f} ms{ratio:8.2f}", flush=True)
            if ratio < GOALS.get(case, 0):
                missed.append(case)
    ours.close()
    theirs.close()
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
    else:
        sys.exit(main())
