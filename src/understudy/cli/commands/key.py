"""`understudy key`: a pair of keys, to sign releases with."""

from __future__ import annotations

import click


@click.command("key", short_help="Make a pair of keys, to sign releases with.")
@click.argument("file", type=click.Path())
def command(file: str) -> None:
    """Make a new private key in FILE, and the public key that belongs to it beside it, with the ending .pub.

    Keep the private key where the records are kept; you alone can read it (mode 0600). Publish the public key
    where those who receive releases will find it. The keys are Ed25519, as PEM files. Needs understudy[sign].

    \b
    Examples:
      understudy key holder.key
    """
    from understudy.pipeline.signature import new_key

    public = new_key(file)
    click.echo(f"private key: {file} (keep it)")
    click.echo(f"public key:  {public} (publish it)")
