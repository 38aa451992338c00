"""Predicts the time of a training step on many devices, from what was measured on one and what a step exchanges.

    python benchmarks/predicted_scaling.py --compute-ms 106 --bytes 3429508 --messages 1

`--compute-ms` is a step of one device with its own part of the batch, without exchange; `--bytes` and `--messages` are
what `headrace collectives` counts. Prints the table of docs/predicted_scaling.md.
"""

import argparse

DEVICES = (8, 32, 128, 512, 1024, 4096)
# By name: bytes per second of each device in each direction, and seconds until a message arrives.
NETWORKS = {
    "10 Gbit/s Ethernet": (1.25e9, 30e-6),
    "100 Gbit/s Ethernet": (12.5e9, 10e-6),
    "400 Gbit/s with RDMA": (50e9, 3e-6),
}


def exchange_seconds(size, messages, devices, bandwidth, latency):
    """How long all-reduces take by halving and doubling, which sends each byte almost twice.

    Args:
        size: bytes of all messages of a step together.
        messages: how many there are.
        devices: how many take part.
        bandwidth: bytes per second.
        latency: seconds until a message arrives.
    """
    # Halves, quarters and so on are exchanged and added up, and then put together again.
    rounds = 2 * (devices - 1).bit_length()
    return 2 * (devices - 1) / devices * size / bandwidth + messages * rounds * latency


def rows(compute, size, messages):
    """The table, as lines of Markdown."""
    yield "| devices | " + " | ".join(NETWORKS) + " |"
    yield "|---|" + "---|" * len(NETWORKS)
    for devices in DEVICES:
        cells = []
        for bandwidth, latency in NETWORKS.values():
            step = compute + exchange_seconds(size, messages, devices, bandwidth, latency)
            cells.append(f"{step * 1e3:.1f} ms, {compute / step:.0%}")
        yield f"| {devices:,} | " + " | ".join(cells) + " |"


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compute-ms", type=float, required=True)
    parser.add_argument("--bytes", type=int, required=True)
    parser.add_argument("--messages", type=int, default=1)
    options = parser.parse_args()
    for line in rows(options.compute_ms / 1e3, options.bytes, options.messages):
        print(line)


if __name__ == "__main__":
    main()
