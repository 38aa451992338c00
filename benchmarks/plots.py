"""Draws the figures that docs/performance.md shows: reads them as JSON, and needs matplotlib and nothing else.

    python benchmarks/plots.py FOLDER < FIGURES
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"headrace": "#0072b2", "tensorflow": "#e69f00", "torch": "#d55e00"}


def ratios(figure):
    """A bar for each row and library, on a logarithmic axis that begins at 1."""
    bars = figure["bars"][::-1]
    drawing, axes = plt.subplots(figsize=(8, 1 + 0.3 * len(bars)))
    for place, bar in enumerate(bars):
        for offset, (value, goal, peer) in enumerate(zip(bar["ratios"], bar["goals"], ("tensorflow", "torch"))):
            height = place + (0.2 if offset == 0 else -0.2)
            if value is not None:
                axes.barh(height, value - 1, 0.38, left=1, color=COLOURS[peer])
                axes.text(value, height, f" {value:.3g}", va="center", ha="left" if value >= 1 else "right", fontsize=6)
                if goal is not None:
                    axes.plot([goal, goal], [height - 0.19, height + 0.19], color="black", linewidth=1.5)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(bars)), [bar["name"] for bar in bars], fontsize=7)
    axes.set_ylim(-0.7, len(bars) - 0.3)
    axes.set_xlabel("time of TensorFlow (above) and of PyTorch (below) / time of headrace; black: the goal", fontsize=8)
    return drawing


def growth(figure):
    """Time and memory against size, one line for each library; the exponents stand in the legend."""
    panels = figure["panels"]
    drawing, all_axes = plt.subplots(1, len(panels), figsize=(4 * len(panels), 3), squeeze=False)
    for axes, panel in zip(all_axes[0], panels):
        for line in panel["lines"]:
            label = f"{line['peer']}: {line['exponent']:.2f}"
            axes.plot(line["sizes"], line["values"], "o-", markersize=3, color=COLOURS[line["peer"]], label=label)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(figure["size"], fontsize=8)
        axes.set_title(panel["title"], fontsize=9)
        axes.tick_params(labelsize=7)
        axes.legend(fontsize=7)
    return drawing


def main(folder):
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for figure in json.load(sys.stdin):
        drawing = {"ratios": ratios, "growth": growth}[figure["kind"]](figure)
        drawing.tight_layout()
        drawing.savefig(place / figure["file"], dpi=90)
        plt.close(drawing)


if __name__ == "__main__":
    main(*sys.argv[1:])
