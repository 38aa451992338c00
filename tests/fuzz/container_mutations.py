"""Changes inside of files that protect their contents: tables and records get the right checksums again.

Without this, nearly every change would be noticed by a checksum, and what is behind it would never be tried.
"""

import struct

from byte_mutations import NUMBERS, any_bytes, same_length, varint

from headrace._src.core import errors
from headrace._src.formats import snappy
from headrace._src.formats.bundle_entries import decode_entry, encode_entry
from headrace._src.formats.bundle_strings import _fixed_lengths, _lengths
from headrace._src.formats.checksums import extend_checksum, masked, masked_crc32c
from headrace._src.formats.sorted_table import MAGIC, Table

# Tables.


def entries_of(data):
    """The entries of a table; None where the data are none."""
    try:
        return list(Table(data, "").items())
    except errors.OpError:
        return None


def _block(rng, entries, lies):
    """The bytes of a block; where `lies` is true, one of its numbers may be wrong."""
    out, restarts, last = bytearray(), [0], b""
    for number, (key, value) in enumerate(entries):
        shared = 0
        if number % 16 == 0:
            if number:
                restarts.append(len(out))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        numbers = [shared, len(key) - shared, len(value)]
        if lies and rng.random() < 0.1:
            numbers[rng.randrange(3)] = rng.choice(NUMBERS)
        out += b"".join(map(varint, numbers)) + key[shared:] + value
        last = key
    restarts.append(len(restarts))
    if lies and rng.random() < 0.2:
        restarts[-1] = rng.choice(NUMBERS)
    return bytes(out) + b"".join(struct.pack("<I", number % (1 << 32)) for number in restarts)


def table_of(rng, entries, lies=False):
    """A table of these entries, in this order, in one to three blocks, some of them compressed."""
    out, places = bytearray(), []
    cuts = sorted(rng.randrange(len(entries) + 1) for _ in range(rng.choice([0, 0, 1, 2])))

    def write(block):
        kind = 0
        if rng.random() < 0.2:
            kind, block = 1, snappy.compress(block)
            if lies and rng.random() < 0.3:
                block = any_bytes(rng, block)
        data = block + bytes([rng.choice(NUMBERS) % 256 if lies and rng.random() < 0.05 else kind])
        places.append(varint(len(out)) + varint(len(block)))
        out.extend(data + struct.pack("<I", masked_crc32c(data)))

    parts = [entries[start:end] for start, end in zip([0, *cuts], [*cuts, len(entries)])]
    for part in parts:
        write(_block(rng, part, lies))
    ends = [part[-1][0] if part else b"" for part in parts]
    index = [(key, place) for key, place in zip(ends, places)]
    if lies and rng.random() < 0.2:
        index[rng.randrange(len(index))] = (ends[-1], varint(rng.choice(NUMBERS)) + varint(rng.choice(NUMBERS)))
    write(_block(rng, [], False))
    write(_block(rng, index, lies))
    return bytes(out + (places[-2] + places[-1])[:40].ljust(40, b"\0") + struct.pack("<Q", MAGIC))


def changed_table(rng, data, change_value, others=()):
    """A table with some entries changed, left out, doubled or exchanged, with right checksums.

    Args:
        rng: a `random.Random`.
        data: the table.
        change_value: from (rng, key, value) to another value.
        others: tables from which entries may come.
    """
    entries = entries_of(data)
    if not entries:
        return any_bytes(rng, data, others)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(entries))
        key, value = entries[at]
        kind = rng.randrange(10)
        if kind == 0 and len(entries) > 1:
            del entries[at]
        elif kind == 1:
            entries.insert(at, entries[at])
        elif kind == 2:
            entries[at] = (any_bytes(rng, key), value)
        elif kind == 3:
            entries[at] = (key, entries[rng.randrange(len(entries))][1])
        elif kind == 4 and others:
            foreign = entries_of(rng.choice(others)) or entries
            entries[at] = rng.choice(foreign)
        else:
            entries[at] = (key, change_value(rng, key, value))
    if rng.random() < 0.85:
        entries = sorted(dict(entries).items())
    return table_of(rng, entries, lies=rng.random() < 0.15)


def repaired_table(rng, data, others=()):
    """A table with some of its bytes changed where they are, and the right checksums of what is in its blocks now."""
    size = len(data)
    if size < 48:
        return any_bytes(rng, data, others)
    changed = bytearray(
        same_length(rng, data[:-48]) + (same_length(rng, data[-48:]) if rng.random() < 0.1 else data[-48:])
    )
    places = _places(data)
    for begin, length in places:
        end = begin + length + 1
        changed[end : end + 4] = struct.pack("<I", masked_crc32c(bytes(changed[begin:end])))
    return bytes(changed)


def _places(data):
    """Where the blocks of a table are."""
    found, at = [], len(data) - 48
    numbers = []
    for _ in range(4):
        number, at = _varint_at(data, at)
        numbers.append(number)
    found += [(numbers[0], numbers[1]), (numbers[2], numbers[3])]
    table = Table(data, "")
    found += [place for _, place in table._index]
    return found


def _varint_at(data, at):
    value = shift = 0
    while data[at] >= 0x80:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
    return value | data[at] << shift, at + 1


# Checkpoints: the entries of the index have the checksums of the data.


def repaired_bundle(index, data):
    """The index with the checksums that its entries have in other data, of one shard; strings are repaired there.

    Returns:
        The index and the data.
    """
    entries, data = entries_of(index), bytearray(data)
    out = []
    for key, value in entries or ():
        try:
            entry = decode_entry(value) if key else None
        except ValueError:
            entry = None
        if entry is not None and not entry.slices and entry.offset + entry.size <= len(data):
            piece = bytes(data[entry.offset : entry.offset + entry.size])
            checksum, piece = _checksum(entry, piece)
            data[entry.offset : entry.offset + entry.size] = piece
            value = encode_entry(entry._replace(checksum=checksum))
        out.append((key, value))
    return (index if entries is None else _plain_table(out)), bytes(data)


def _plain_table(entries):
    class Never:
        """Random numbers that choose nothing special."""

        choice = staticmethod(lambda items: items[0])
        random = staticmethod(lambda: 1.0)
        randrange = staticmethod(lambda *limits: 0)

    return table_of(Never, entries)


def _checksum(entry, piece):
    if entry.dtype._kind != "s":
        return masked(extend_checksum(0, piece)), piece
    count = 1
    for size in entry.shape:
        count *= size
    try:
        lengths, at = _lengths(piece, count)
    except ValueError:
        return entry.checksum, piece
    fixed = _fixed_lengths(lengths, "<")
    middle = masked(extend_checksum(0, fixed)).to_bytes(4, "little")
    piece = piece[:at] + middle + piece[at + 4 :]
    return masked(extend_checksum(0, fixed + piece[at:])), piece


# Records.


def records_of(data):
    """The records of a file, up to the first damaged one."""
    found, at = [], 0
    while at + 16 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        if at + 16 + length > len(data):
            break
        found.append(data[at + 12 : at + 12 + length])
        at += 16 + length
    return found


def framed(record, length=None):
    """A record with its checksums; with another length than its own, if one is given."""
    packed = struct.pack("<Q", (len(record) if length is None else length) % (1 << 64))
    return packed + struct.pack("<I", masked_crc32c(packed)) + record + struct.pack("<I", masked_crc32c(record))


def changed_records(rng, data, change_record, others=()):
    """Records of which some are changed, left out, doubled or have another length, with right checksums."""
    records = records_of(data)
    if not records:
        return any_bytes(rng, data, others)
    lengths = dict.fromkeys(range(0))
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(records))
        kind = rng.randrange(8)
        if kind == 0 and len(records) > 1:
            del records[at]
        elif kind == 1:
            records.insert(at, records[at])
        elif kind == 2:
            lengths[at] = rng.choice(NUMBERS)
        elif kind == 3 and others:
            records[at] = rng.choice(records_of(rng.choice(others)) or records)
        else:
            records[at] = change_record(rng, records[at])
    return b"".join(framed(record, lengths.get(number)) for number, record in enumerate(records))
