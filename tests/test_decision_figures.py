"""Numbers that pages of decisions state are those of the code: who changes one is told which page says otherwise."""

import pathlib

import pytest

from headrace._src.core import limits
from headrace._src.data.service import credentials, messages, reading, shards, workers
from headrace._src.formats import image_data, jpeg_images, png_images, webp_images
from headrace._src.graph.compiling import compilation, program_store, queue
from headrace._src.graph.control import loops
from headrace._src.graph.running import plan
from headrace._src.op.convert import MAX_RANK
from headrace._src.ops.math import special

DECISIONS = pathlib.Path(__file__).resolve().parents[1] / "docs" / "decisions"
WORDS = dict(enumerate("no one two three four five six seven eight nine ten".split()))
ORDINALS = {2: "second", 3: "third"}


def megabytes(size):
    assert size % (1 << 20) == 0
    return size >> 20


def power(size):
    """Such as 2^20."""
    assert size == 1 << (size.bit_length() - 1)
    return f"2^{size.bit_length() - 1}"


# By page: what it must say.
STATED = {
    "0019": [
        f"Each is {megabytes(limits._DEFAULT)} MB",
        f"`{limits.VARIABLE}` sets it",
        *(f"| `{name}` |" for name in limits.MEANINGS),
        f"ValueError beyond {MAX_RANK} levels",
    ],
    "0028": [
        f"({compilation._FEW}, any loop, or a convolution of at least {power(compilation._LARGE_CONVOLUTION)} elements",
        f"a graph of more than {compilation._MOST_OPERATIONS:,} operations",
        {2: "A shape that is seen twice is compiled"}[compilation._SEEN],
        f"Of a function's shapes {WORDS[compilation._PROGRAMS]} are compiled",
        f"more than {compilation._SLOWER} times as long as the interpreter",
        f"is given up after {WORDS[compilation._TRIALS]} calls",
        f"no more than {compilation._NOTICEABLE * 1000:g} ms",
        f"the {compilation._SEEDED}nd call",
        f"of more than {compilation._SEEDED * compilation._OPERATIONS_PER_CALL} operations",
        {8: "an eighth of them"}[compilation._OPERATIONS_PER_CALL],
        f"of loops the {ORDINALS[compilation._SEEDED_LOOP]}",
        f"the interpreter has taken {compilation._WORTH_WAITING:g} s",
        f"for {compilation._PATIENCE:g} s and {compilation._PATIENCE_PER_OPERATION * 1000:g} ms for each operation",
        f"a loop that has run {loops._MANY} times",
        f"the {plan._INTERPRETED_RUNS}th waited",
        f"more than {megabytes(compilation._MOST_TO_TRY)} MB to copy",
        f"`{program_store.SIZE_VARIABLE}` says how many megabytes of them ({program_store._MEGABYTES};",
        {2: "is given to one more process"}[queue._ATTEMPTS],
        f"`betainc` are beyond {special._LARGE:.0e}".replace("e+0", "e"),
    ],
    "0029": [
        {8 * 64: "a JPEG needs a bit for a block (of 64 pixels;"}[jpeg_images._PIXELS_PER_BYTE],
        f"a byte for {power(jpeg_images._PIXELS_PER_BYTE_ARITHMETIC)} pixels in arithmetic coding",
        f"for {power(jpeg_images._PIXELS_PER_BYTE_TRUNCATED)} where a truncated one is to be recovered",
        f"a PNG a byte for {png_images._MOST_PER_BYTE} inflated ones",
        f"WebP a byte for {power(webp_images._MOST_PER_BYTE)} pixels",
        f"at most {power(image_data.ALWAYS_FINE)} pixels may promise what they like",
        f"is {megabytes(limits._DEFAULT)} MB of pixels of four bytes",
        f"which are {limits._DEFAULT // 4 // 10**6} million",
        f"an image of more than {power(limits._DEFAULT // 4)} pixels",
        f"more than {jpeg_images._MOST_SCANS} scans",
    ],
    "0035": [
        f"at most {megabytes(messages._LONGEST_TEXT)} MiB of JSON and {messages._LARGEST >> 30} GiB of bytes",
        f"(`{messages.LIMIT_VARIABLE}`)",
        f"`{credentials.SECRET_VARIABLE}`, or a file",
        f"`{credentials.FILE_VARIABLE}` names",
        f"`{credentials.FORMER_VARIABLE}`, the former name",
        f"the first words have {WORDS[credentials._SECONDS]} seconds",
        f"at most {messages._MOST_STRANGERS} connections",
        f"{WORDS[reading._WAITING]} ahead of the reader",
        f"a thousandth at a time, but at most {shards.chunk(10**9, 0)[1]}",
        f"UnavailableError after {workers._DISPATCHER_SECONDS:g} s",
        f"{megabytes(workers._CACHED_BYTES)} MB of elements",
    ],
}


@pytest.mark.parametrize("number", STATED)
def test_pages_state_the_numbers_of_the_code(number):
    (page,) = DECISIONS.glob(f"{number}-*.md")
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert [stated for stated in STATED[number] if stated not in text] == []
