"""`understudy verify`: recompute a release's epsilon from its certificate alone."""

from __future__ import annotations

import sys

import click

from understudy.cli import options
from understudy.cli.console import show_json


@click.command(
    "verify", short_help="Recompute a release's epsilon from its certificate; check its signature."
)
@click.argument("release", type=click.Path())
@click.option(
    "--key", type=click.Path(), help="The holder's public key: check that they signed this very file."
)
@options.as_json
def command(release: str, key: str | None, as_json: bool) -> None:
    """Recompute what RELEASE cost from the charges its certificate lists, and compare with its claim.

    That also says whether the release holds only what was charged for. Whether the certificate is true, only who
    made it knows: with their public key, their signature is checked too.

    Leaves with 1 when the claim does not hold, the noise was not private, or the signature is not the key's.

    \b
    Examples:
      understudy verify people.release
      understudy verify people.release --json
      understudy verify people.release --key holder.pub
    """
    from understudy.errors import SignatureError
    from understudy.pipeline import load, release_file

    try:
        loaded = load(release, key=key)
        signature = "holds" if key else "not checked" if release_file.read(release).signed else "none"
    except SignatureError as error:
        loaded, signature = load(release), f"does not hold: {error}"
    verdict, forged = loaded.verify(), bool(key) and signature != "holds"
    if as_json:
        show_json(verdict.to_dict() | {"signature": signature})
    else:
        click.echo(f"claimed   epsilon {verdict.claimed_epsilon:g}, delta {verdict.claimed_delta:g}")
        if verdict.epsilon is not None:
            click.echo(f"computed  epsilon {verdict.epsilon:.6f} at that delta, from the charges alone")
        click.echo("noise     " + ("from the operating system" if verdict.private else "SEEDED: NOT PRIVATE"))
        if not forged:
            click.echo(f"signature {signature}")
        click.echo("the claim holds" if verdict.holds else f"THE CLAIM DOES NOT HOLD: {verdict.why}")
        if forged:
            click.echo(f"THE SIGNATURE {signature.upper()[:13]}{signature[13:]}")
    if not (verdict.holds and verdict.private) or forged:
        sys.exit(1)
