"""The only room that sees private counts: the `curator`, its questions, and the certificate of what it did.

`session` is the door through which every answer leaves. `verification` recomputes a certificate from itself alone.
Proofs: docs/privacy.md, "The curator".
"""
