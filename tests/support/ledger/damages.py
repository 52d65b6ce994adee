"""Damages to a ledger file, as hypothesis may draw them, and what may be seen of a ledger afterwards."""

import contextlib
import functools
import os
import shutil
import sqlite3
import tempfile

from hypothesis import strategies as st

from sklearn_ada.exceptions import LedgerError
from sklearn_ada.ledger import SQLiteLedger, canonical_json, chain_hash, secret_digest, transactions
from tests.support.ledger.ledger_backends import Tally, count, fill

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


def charge(ledger):
    """Ask one question more."""
    return ledger.charge("new", lambda state: {"before": count(state)})


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
    for kept in (transactions._connections, transactions._seen, transactions.opened):
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


@st.composite
def flipped_bits(draw):
    flips = draw(st.lists(st.tuples(places, st.integers(1, 255)), min_size=1, max_size=4))

    def damage(path):
        data = bytearray(read(path))
        for place, mask in flips:
            data[int(place * len(data))] ^= mask
        overwrite(path, bytes(data))

    return damage


@st.composite
def flipped_bits_of_records(draw):
    """Where it hurts: in the text of the records, keys and hashes."""
    mark = draw(st.sampled_from([b'{"number"', b'"subject"', b"k1", b"s2", b"fixed", b"records"]))
    nth, shift, mask = draw(st.integers(0, 30)), draw(st.integers(-70, 30)), draw(st.integers(1, 255))

    def damage(path):
        data = bytearray(read(path))
        found = [i for i in range(len(data)) if data.startswith(mark, i)]
        data[max(found[nth % len(found)] + shift, 0) % len(data)] ^= mask
        overwrite(path, bytes(data))

    return damage


@st.composite
def cut_tail(draw):
    keep = draw(places)
    return lambda path: os.truncate(path, int(keep * os.path.getsize(path)))


@st.composite
def moved_pages(draw):
    """A part of the file is written over by zeros, or by another part of it."""
    start, source, length = draw(places), draw(st.none() | places), draw(st.sampled_from([1, 64, 512, 4096]))

    def damage(path):
        data = bytearray(read(path))
        first = int(start * len(data)) // length * length
        origin = None if source is None else int(source * len(data)) // length * length
        part = bytes(length) if origin is None else bytes(data[origin : origin + length])
        data[first : first + len(part)] = part
        overwrite(path, bytes(data))

    return damage


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
            for table in (
                "UPDATE records SET body = ? WHERE seq >= ?",
                "UPDATE records SET key = ? WHERE seq = ?",
            ):
                db.execute(table, ("x" * size, touched))
            shutil.copy(path, path + ".copy")
            db.execute("ROLLBACK")
        os.replace(path + ".copy", path)

    return damage


# --- what can happen to the rows ----------------------------------------------------------------------

seqs = st.integers(0, SIZE)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
repairs = st.booleans()


@st.composite
def swapped_rows(draw):
    one, other = draw(st.lists(seqs, min_size=2, max_size=2, unique=True))
    columns = draw(st.sampled_from(["seq", "body", "hash", "body, hash", "key, subject, body", "key"]))

    def damage(path):
        with contextlib.closing(sqlite3.connect(path)) as db:
            rows = {
                n: db.execute(f"SELECT {columns} FROM records WHERE seq = ?", (n,)).fetchone()
                for n in (one, other)
            }
        if columns == "seq":
            steps = [(one, -1), (other, one), (-1, other)]
            run(path, *(("UPDATE records SET seq = ? WHERE seq = ?", (new, old)) for old, new in steps))
        else:
            names = columns.split(", ")
            settings = ", ".join(f"{name} = ?" for name in names)
            empty = [f"UPDATE records SET key = NULL WHERE seq IN ({one}, {other})"] if "key" in names else []
            moves = [((*rows[source], target)) for source, target in ((one, other), (other, one))]
            run(path, *empty, *((f"UPDATE records SET {settings} WHERE seq = ?", values) for values in moves))

    return damage


@st.composite
def duplicated_rows(draw):
    """A row once more, at the end, perhaps with a hash that continues the chain there, and a head for it."""
    source, keyless, chained, head = draw(seqs), draw(st.booleans()), draw(repairs), draw(repairs)

    def damage(path):
        with contextlib.closing(sqlite3.connect(path)) as db:
            row = db.execute(
                "SELECT key, subject, body, hash FROM records WHERE seq = ?", (source,)
            ).fetchone()
            last = db.execute("SELECT hash FROM records WHERE seq = ?", (SIZE,)).fetchone()[0]
        key = None if keyless else f"{row[0]} again"
        digest = chain_hash(last, SIZE + 1, key, row[2]) if chained else row[3]
        insert = "INSERT INTO records VALUES (?, ?, ?, ?, ?)"
        run(path, (insert, (SIZE + 1, key, row[1], row[2], digest)))
        if head:
            run(path, ("UPDATE head SET count = ?, hash = ?", (SIZE + 2, digest if not chained else last)))

    return damage


@st.composite
def deleted_rows(draw):
    """Rows go from the middle or the end, perhaps with the numbers closed up or the head made good."""
    first, count, closed, head = draw(seqs), draw(st.integers(1, SIZE)), draw(repairs), draw(repairs)

    def damage(path):
        last = min(first + count - 1, SIZE)
        run(path, f"DELETE FROM records WHERE seq BETWEEN {first} AND {last}")
        if closed:
            for seq in range(last + 1, SIZE + 1):
                run(path, f"UPDATE records SET seq = seq - {last - first + 1} WHERE seq = {seq}")
        if head:
            run(
                path,
                "UPDATE head SET count = (SELECT count(*) FROM records), "
                "hash = coalesce((SELECT hash FROM records ORDER BY seq DESC LIMIT 1), '')",
            )

    return damage


@st.composite
def edited_fields(draw):
    table, column = draw(
        st.sampled_from(
            [("records", name) for name in ("key", "subject", "body", "hash", "seq")]
            + [("head", "count"), ("head", "hash"), ("secret", "value")]
        )
    )
    value = draw(
        texts | st.none() | st.integers(-5, 50) | st.binary(max_size=8) | st.floats(0, 9)
        | st.sampled_from(["{}", "[]", '{"number":7,"subject":"s2"}'])
    )  # fmt: skip
    row = draw(seqs)

    def damage(path):
        where = f"WHERE seq = {row}" if table == "records" else ""
        with contextlib.suppress(sqlite3.IntegrityError):  # the file itself refuses some of them
            run(path, (f"UPDATE {table} SET {column} = ? {where}", (value,)))

    return damage


@st.composite
def rewritten_records(draw):
    """A body is edited and its own hash made good, but not those after it."""
    seq, number = draw(st.integers(0, SIZE)), draw(st.integers(100, 200))
    fingerprint = draw(texts)

    def damage(path):
        with contextlib.closing(sqlite3.connect(path)) as db:
            before = db.execute("SELECT hash FROM records WHERE seq = ?", (seq - 1,)).fetchone()
            key = db.execute("SELECT key FROM records WHERE seq = ?", (seq,)).fetchone()[0]
        body = (
            {"number": number, "subject": f"s{seq}"}
            if seq
            else {**genesis(SECRET), "fingerprint": fingerprint}
        )
        text = canonical_json(body)
        digest = chain_hash(before[0] if before else "", seq, key, text)
        run(path, ("UPDATE records SET body = ?, hash = ? WHERE seq = ?", (text, digest, seq)))

    return damage


DAMAGES = {
    "flipped bits": flipped_bits(),
    "flipped bits of records": flipped_bits_of_records(),
    "cut tail": cut_tail(),
    "moved pages": moved_pages(),
    "other files": other_files(),
    "lost journals": lost_journals(),
    "swapped rows": swapped_rows(),
    "duplicated rows": duplicated_rows(),
    "deleted rows": deleted_rows(),
    "edited fields": edited_fields(),
    "rewritten records": rewritten_records(),
}
