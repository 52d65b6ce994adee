"""Seal values that only the holder of a private key can open.

Without a key, sealed values are hidden by the ledger's secret (`sklearn_ada.questions.seals.hidden`), which
whoever opens the ledger has. With the holder's public key, kept in the ledger's first record, each value is
encrypted for it (ECIES): a fresh X25519 key pair is made, HKDF (SHA-256) derives a key from what it shares
with the holder's, and AES-GCM encrypts the value with that. The fresh private key is dropped, so whoever
sealed a value cannot open it again. The record's key and the holdout's fingerprint are authenticated along
with it: nothing that was sealed for one record can be opened as another's. The library `cryptography` does
each of these.

What is sealed has one length for each kind of question, whatever the value is.
"""

from __future__ import annotations

import functools
import os
from types import SimpleNamespace
from typing import Any

from sklearn_ada._validation import bad_parameter
from sklearn_ada.exceptions import LedgerDamagedError
from sklearn_ada.ledger.transactions import Secret

_KEY = 32
_MAKE = (
    "Make a pair: openssl genpkey -algorithm x25519 -out private.pem; "
    "openssl pkey -in private.pem -pubout -out public.pem."
)
_NONCE = bytes(12)  # each key encrypts one value


def check_library() -> None:
    """Raise ImportError without the library: before anything is asked that could not be sealed."""
    _library()


def public_key_text(given: Any, owner: str) -> str:
    """Return the 32 octets of a public key in hexadecimal, as they are recorded.

    Parameters
    ----------
    given : str, bytes, path-like or X25519PublicKey
        A path of a PEM file, the content of one, or a key of the library `cryptography`.
    owner : str
        Whose parameter ``seal_key`` it is, for messages. None shows what was given: it might be private.

    Raises
    ------
    ValueError
        If it is no public X25519 key.
    ImportError
        Without the library.
    """
    expected = "a public X25519 key: the path of a PEM file, its content, or a key of 'cryptography'"
    key = _key(given, "seal_key", owner, expected, is_public=True)
    if key is None:
        fix = (
            "Whoever asks gets the public one: openssl pkey -in private.pem -pubout -out public.pem. Keep "
            "the private one away from here."
        )
        raise bad_parameter("seal_key", owner, expected, "a private key", fix)
    text: str = key.public_bytes_raw().hex()
    try:
        sealed_for(text, b"", "")
    except ValueError:  # a point of small order, with which nothing is shared
        raise bad_parameter("seal_key", owner, expected, "a key of small order", _MAKE) from None
    return text


def check_private_key(given: Any, public: str, owner: str) -> Any:
    """Return the private key of a public one; ValueError if it is another's, or none.

    Parameters
    ----------
    given : str, bytes, path-like or X25519PrivateKey
        A path of a PEM file, the content of one, or a key of the library `cryptography`.
    public : str
        What `public_key_text` returned.
    owner : str
        Whose parameter ``key`` it is, for messages. None shows what was given.
    """
    expected = "the private key of the public one that this ledger was begun with (seal_key)"
    key = _key(given, "key", owner, expected, is_public=False)
    if key is None:
        raise bad_parameter("key", owner, expected, "a public key")
    if key.public_key().public_bytes_raw().hex() != public:
        fix = f"This ledger's begins with {public[:12]}."
        raise bad_parameter("key", owner, expected, "the key of another", fix)
    return key


def sealed_for(public: str, content: bytes, context: str) -> str:
    """Return a message that only the holder of the private key can read.

    Parameters
    ----------
    public : str
        What `public_key_text` returned.
    content : bytes
    context : str
        What it is sealed for; it opens with the same only.
    """
    library = _library()
    once = library.x25519.X25519PrivateKey.generate()
    sender = once.public_key().public_bytes_raw()
    shared = once.exchange(library.x25519.X25519PublicKey.from_public_bytes(bytes.fromhex(public)))
    cipher = _cipher(shared, sender, bytes.fromhex(public))
    envelope: bytes = sender + cipher.encrypt(_NONCE, content, context.encode())
    return envelope.hex()


def opened_with(private: Any, text: str, context: str) -> bytes:
    """Return the message that `sealed_for` sealed.

    Parameters
    ----------
    private : X25519PrivateKey
        What `check_private_key` returned.
    text, context : str

    Raises
    ------
    LedgerDamagedError
        If it was edited, or sealed for something else.
    """
    library = _library()
    try:
        whole = bytes.fromhex(text)
        sender, content = whole[:_KEY], whole[_KEY:]
        shared = private.exchange(library.x25519.X25519PublicKey.from_public_bytes(sender))
        cipher = _cipher(shared, sender, private.public_key().public_bytes_raw())
        opened: bytes = cipher.decrypt(_NONCE, content, context.encode())
        return opened
    except (library.invalid, TypeError, ValueError) as error:
        raise LedgerDamagedError("What a record keeps sealed cannot be opened: it was edited.") from error


def _key(given: Any, name: str, owner: str, expected: str, *, is_public: bool) -> Any:
    """Return the public, or the private, key that was given; None if it is of the other kind."""
    library = _library()
    kind, other = library.x25519.X25519PublicKey, library.x25519.X25519PrivateKey
    if not is_public:
        kind, other = other, kind
    if isinstance(given, (kind, other)):
        return given if isinstance(given, kind) else None
    pem, got = _pem(given, name, owner, expected)
    if (b"PRIVATE KEY" if is_public else b"PUBLIC KEY") in pem:
        return None
    fix = _MAKE if is_public else ""
    try:
        load = library.pem.load_pem_public_key
        key = load(pem) if is_public else library.pem.load_pem_private_key(pem, password=None)
    except Exception as error:  # whatever the library raises on what is no key; it might quote it
        key = None
        if isinstance(error, TypeError) and not is_public:
            got = "one with a password"
            fix = "Load it with the library 'cryptography', and give the key that it returns."
    if not isinstance(key, kind):
        raise bad_parameter(name, owner, expected, got, fix)
    return key


def _pem(given: Any, name: str, owner: str, expected: str) -> tuple[bytes, str]:
    """Return the content of a PEM file, and words for it in error messages.

    The content is given, or the path of the file.
    """
    if isinstance(given, bytes):
        return Secret(given), "octets that are none"
    if isinstance(given, str) and "-----BEGIN" in given:
        return Secret(given.encode()), "a text that is none"
    if not isinstance(given, str | os.PathLike):
        raise bad_parameter(name, owner, expected, type(given).__name__)
    try:
        with open(given, "rb") as file:
            return Secret(file.read()), "a file that is none"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no path"
        raise bad_parameter(name, owner, expected, f"a path that cannot be read ({reason})") from None


def _cipher(shared: bytes, sender: bytes, receiver: bytes) -> Any:
    """Return AES-GCM with the key of one exchange."""
    library, label = _library(), b"sklearn_ada sealed value" + sender + receiver
    derivation = library.kdf.HKDF(library.hashes.SHA256(), _KEY, salt=None, info=label)
    return library.aead.AESGCM(derivation.derive(shared))


@functools.cache
def _library() -> Any:
    """Return what is used of the library `cryptography`, imported when the first key is."""
    try:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import x25519
        from cryptography.hazmat.primitives.ciphers import aead
        from cryptography.hazmat.primitives.kdf import hkdf
    except ImportError as error:
        raise ImportError(
            f"A seal_key needs the library cryptography: pip install cryptography ({error})."
        ) from error
    parts = {"x25519": x25519, "pem": serialization, "hashes": hashes, "aead": aead, "kdf": hkdf}
    return SimpleNamespace(**parts, invalid=InvalidTag)
