"""A holder's signature on a release: that it is the one the holder made, byte for byte, and that nobody changed it.

A certificate says what a release cost, and anyone may recompute that; whether it is true, only who held the records
knows. The holder signs with a private key (Ed25519, RFC 8032) that never leaves them; whoever has the public key can
check. Keys are PEM files, as other tools write and read them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from understudy.data.files.atomic import check_writable, whole_file
from understudy.errors import FileError, OperatorError, SignatureError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

BYTES = 64  # of a signature
MOST = 1 << 16  # bytes of a key file
# What is signed begins so, and so is never mistaken for something that the key signed elsewhere.
CONTEXT = b"UNDERSTUDY RELEASE SIGNATURE 1\n"


def new_key(path: str | os.PathLike[str]) -> Path:
    """A new pair of keys, to sign releases with: the private one in a file, the public one beside it.

    A file that is there is not replaced: what it signed could never be signed again.

    Parameters:
        path: where the private key goes, readable by its owner alone; the public key ends in .pub. Keep the
            first where the records are kept, publish the second.

    Returns:
        The path of the public key.

    Raises:
        FileError: one of the files is there already, or cannot be written.
        OperatorError: the package `cryptography` is not installed (understudy[sign]).
    """
    made = _keys().Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    private, public = Path(path), Path(path).with_suffix(".pub")
    for file in (private, public):
        check_writable(file)
        if file.exists() or file.is_symlink():
            raise FileError(f"{str(file)!r} is there already.", hint="name another file for the new key.")
    if private == public:
        raise FileError(f"{str(private)!r} ends like a public key.", hint="end it in .key.")
    key = made.generate()
    with whole_file(private, confidential=True) as out:
        out.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with whole_file(public) as out:
        out.write(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return public


def sign(digest: bytes, key: str | os.PathLike[str]) -> bytes:
    """The signature, by the private key in a file, of what has this SHA-256 digest."""
    return _private(key).sign(CONTEXT + digest)


def check(digest: bytes, signature: bytes, key: str | os.PathLike[str]) -> None:
    """Refuse (SignatureError) what has this digest unless the holder of the key signed it.

    Either key of the pair will do.
    """
    known = _public(key)
    from cryptography.exceptions import InvalidSignature

    try:
        known.verify(signature, CONTEXT + digest)
    except InvalidSignature:
        raise SignatureError(
            f"the signature is not that of {str(key)!r}: another key signed, or the file was changed.",
            hint="ask who made the release for it and for their public key.",
        ) from None


def check_key(key: str | os.PathLike[str]) -> None:
    """Refuse a file that holds no private key, before anything is spent."""
    _private(key)


def _private(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    text, kind = _read(path), _keys().Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key: Ed25519PrivateKey | None = _loaded(lambda: load_pem_private_key(text, password=None), kind)
    if key is None:
        raise FileError(
            f"{os.fspath(path)!r} is no private Ed25519 key.", hint="make one: understudy key holder.key"
        )
    return key


def _public(path: str | os.PathLike[str]) -> Ed25519PublicKey:
    text, kind = _read(path), _keys().Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if b"PRIVATE KEY" in text:
        return _private(path).public_key()
    key: Ed25519PublicKey | None = _loaded(lambda: load_pem_public_key(text), kind)
    if key is None:
        raise FileError(f"{os.fspath(path)!r} is no Ed25519 key.", hint="give the holder's public key.")
    return key


def _loaded(load: Callable[[], Any], kind: type[Any]) -> Any:
    """The key, or None where there is none of this kind."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        key = load()
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, kind) else None


def _read(path: str | os.PathLike[str]) -> bytes:
    _keys()
    try:
        with open(path, "rb") as file:
            return file.read(MOST)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is none"
        raise FileError(f"cannot read the key {os.fspath(path)!r}: {reason}.") from None


def _keys() -> ModuleType:
    """The module of the keys, where the package is installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise OperatorError(
            "signatures need the package cryptography.", hint='pip install "understudy[sign]"'
        ) from None
    return ed25519
