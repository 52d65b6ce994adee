"""Damages to a ledger file, as hypothesis may draw them, and what may be seen of a ledger afterwards."""

import contextlib
import functools
import os
import shutil
import sqlite3
import tempfile

from hypothesis import strategies as st

from sklearn_ada.exceptions import LedgerError
from sklearn_ada.ledger import (
    SQLiteLedger,
    canonical_json,
    chain_hash,
    elsewhere,
    secret_digest,
    transactions,
)
from tests.support.ledger.ledger_backends import Tally, fill

SIZE = 12
FEW = 5  # records of the fixture `ledger`
SECRET = b"fixed"


def genesis(secret, fingerprint="f" * 64):
    """Fixes the secret, as the genesis of a holdout does."""
    return {"schema": 1, "fingerprint": fingerprint, "secret_digest": secret_digest(secret)}


def another_genesis(secret):
    return genesis(secret, "e" * 64)


def opened(path, start=genesis):
    return SQLiteLedger.create_or_open(path, start, Tally, SECRET)


@functools.cache
def content(size=SIZE, start=genesis):
    """The bytes of the file of a ledger with so many records."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ledger.db")
        fill(opened(path, start), size)
        forget()
        return read(path)


def forget():
    """Go on as a process would that has never used any ledger."""
    for kept in (transactions._connections, transactions._seen, transactions.opened, elsewhere._entries):
        kept.clear()


def forget_connections():
    """Go on as one that has read the ledger, but does not have it open."""
    transactions._connections.clear()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def overwrite(path, data):
    """Write into the same inode, as ``cp`` does."""
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()


def replace(path, data):
    """Put another file in its place."""
    with open(path + ".other", "wb") as file:
        file.write(data)
    os.replace(path + ".other", path)


def run(path, *statements):
    """Run SQL on the file, past the ledger; a statement may come with its parameters."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(*([statement] if isinstance(statement, str) else statement))
        db.commit()


def rows_of(path):
    """Return the number, key, subject, body and hash of each record."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT seq, key, subject, body, hash FROM records ORDER BY seq").fetchall()


def chained(seq, key, subject, body, before):
    """Return a row with the hash that the ledger would have given it after another row."""
    text = body if isinstance(body, str) else canonical_json(body)
    return seq, key, subject, text, chain_hash(before[4] if before else "", seq, key, text)


def with_rows(path, rows, *, head=False):
    """Put rows in the place of all records, and perhaps make the head good."""
    run(path, "DELETE FROM records", *(("INSERT INTO records VALUES (?, ?, ?, ?, ?)", row) for row in rows))
    if head:
        run(path, ("UPDATE head SET count = ?, hash = ?", (len(rows), rows[-1][4] if rows else "")))


def contents(ledger):
    return [(record.seq, record.key, record.body) for record in ledger.records()]


def expected(size=SIZE, start=genesis):
    numbers = range(1, size + 1)
    return [(0, None, start(SECRET)), *((n, f"k{n}", {"number": n, "subject": f"s{n}"}) for n in numbers)]


def outcome(look):
    """What is seen, or "refused"."""
    try:
        return look()
    except LedgerError:
        return "refused"


# --- what can happen to the bytes ---------------------------------------------------------------------

places = st.floats(0.0, 1.0, exclude_max=True)


def changed_bytes(path, change):
    data = bytearray(read(path))
    change(data)
    overwrite(path, bytes(data))


@st.composite
def flipped_bits(draw):
    flips = draw(st.lists(st.tuples(places, st.integers(1, 255)), min_size=1, max_size=4))

    def flip(data):
        for place, mask in flips:
            data[int(place * len(data))] ^= mask

    return lambda path: changed_bytes(path, flip)


@st.composite
def flipped_bits_of_records(draw):
    """Where it hurts: in the text of the records, keys and hashes."""
    mark = draw(st.sampled_from([b'{"number"', b'"subject"', b"k1", b"s2", b"fixed", b"records"]))
    nth, shift, mask = draw(st.integers(0, 30)), draw(st.integers(-70, 30)), draw(st.integers(1, 255))

    def flip(data):
        found = [i for i in range(len(data)) if data.startswith(mark, i)]
        data[max(found[nth % len(found)] + shift, 0) % len(data)] ^= mask

    return lambda path: changed_bytes(path, flip)


@st.composite
def cut_tail(draw):
    keep = draw(places)
    return lambda path: os.truncate(path, int(keep * os.path.getsize(path)))


@st.composite
def moved_pages(draw):
    """A part of the file is written over by zeros, or by another part of it."""
    start, source, length = draw(places), draw(st.none() | places), draw(st.sampled_from([1, 64, 512, 4096]))

    def move(data):
        first, origin = (int((part or 0) * len(data)) // length * length for part in (start, source))
        part = bytes(length) if source is None else data[origin : origin + length]
        data[first : first + len(part)] = part

    return lambda path: changed_bytes(path, move)


@st.composite
def other_files(draw):
    """Another ledger, an older copy or anything else comes where the file was, in its place or its inode."""
    put = draw(st.sampled_from([replace, overwrite]))
    size = draw(st.integers(0, SIZE + 3))
    data = draw(
        st.sampled_from([content(size), content(size, another_genesis), content()])
        | st.binary(max_size=200)
        | st.integers(1, len(content())).map(lambda end: content()[:end])
    )
    return lambda path: put(path, data)


@st.composite
def lost_journals(draw):
    """The file is copied in the middle of a transaction, without the journal that would undo it."""
    touched, size = draw(st.integers(0, SIZE)), draw(st.integers(1, 30_000))

    def damage(path):
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA cache_size = 1")
            db.execute("BEGIN IMMEDIATE")
            for change in ("body = ? WHERE seq >= ?", "key = ? WHERE seq = ?"):
                db.execute(f"UPDATE records SET {change}", ("x" * size, touched))
            shutil.copy(path, path + ".copy")
            db.execute("ROLLBACK")
        os.replace(path + ".copy", path)

    return damage


# --- what can happen to the rows ----------------------------------------------------------------------

seqs = st.integers(0, SIZE)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
repairs = st.booleans()
COLUMNS = ("seq", "key", "subject", "body", "hash")


def exchanged(path, one, other, columns):
    """Let two records exchange some of what they hold."""
    before, rows = rows_of(path), rows_of(path)
    for n, source in ((one, other), (other, one)):
        taken = [COLUMNS.index(name) for name in columns]
        rows[n] = tuple(before[source][i] if i in taken else value for i, value in enumerate(before[n]))
    with_rows(path, rows)


@st.composite
def swapped_rows(draw):
    one, other = draw(st.lists(seqs, min_size=2, max_size=2, unique=True))
    columns = draw(st.sampled_from(["seq", "body", "hash", "body hash", "key subject body", "key"])).split()
    return lambda path: exchanged(path, one, other, columns)


@st.composite
def duplicated_rows(draw):
    """A row once more, at the end, perhaps with a hash that continues the chain there, and a head for it."""
    source, keyless, in_chain, head = draw(seqs), draw(st.booleans()), draw(repairs), draw(repairs)

    def damage(path):
        rows = rows_of(path)
        _, key, subject, body, digest = rows[source]
        row = chained(SIZE + 1, None if keyless else f"{key} again", subject, body, rows[-1])
        with_rows(path, [*rows, row if in_chain else (*row[:4], digest)])
        if head:
            end = rows[-1][4] if in_chain else digest
            run(path, ("UPDATE head SET count = ?, hash = ?", (SIZE + 2, end)))

    return damage


@st.composite
def deleted_rows(draw):
    """Rows go from the middle or the end, perhaps with the numbers closed up or the head made good."""
    first, size, closed, head = draw(seqs), draw(st.integers(1, SIZE)), draw(repairs), draw(repairs)

    def damage(path):
        rows = rows_of(path)
        del rows[first : first + size]
        with_rows(path, [(n if closed else row[0], *row[1:]) for n, row in enumerate(rows)], head=head)

    return damage


@st.composite
def edited_fields(draw):
    of_records = [("records", name) for name in ("key", "subject", "body", "hash", "seq")]
    others = [("head", "count"), ("head", "hash"), ("secret", "value")]
    table, column = draw(st.sampled_from(of_records + others))
    value = draw(
        texts | st.none() | st.integers(-5, 50) | st.binary(max_size=8) | st.floats(0, 9)
        | st.sampled_from(["{}", "[]", '{"number":7,"subject":"s2"}'])
    )  # fmt: skip
    where = f"WHERE seq = {draw(seqs)}" if table == "records" else ""

    def damage(path):
        with contextlib.suppress(sqlite3.IntegrityError):  # the file itself refuses some of them
            run(path, (f"UPDATE {table} SET {column} = ? {where}", (value,)))

    return damage


@st.composite
def rewritten_records(draw):
    """A body is edited and its own hash made good, but not those after it."""
    seq, number, fingerprint = draw(seqs), draw(st.integers(100, 200)), draw(texts)

    def damage(path):
        rows = rows_of(path)
        of_genesis = {**genesis(SECRET), "fingerprint": fingerprint}
        body = {"number": number, "subject": f"s{seq}"} if seq else of_genesis
        rows[seq] = chained(*rows[seq][:3], body, rows[seq - 1] if seq else None)
        with_rows(path, rows)

    return damage


DAMAGES = {
    kind.__name__.replace("_", " "): kind()
    for kind in (
        *(flipped_bits, flipped_bits_of_records, cut_tail, moved_pages, other_files, lost_journals),
        *(swapped_rows, duplicated_rows, deleted_rows, edited_fields, rewritten_records),
    )
}
