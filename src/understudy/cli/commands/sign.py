"""`understudy sign`: a holder's signature on a release."""

from __future__ import annotations

import click

from understudy.cli import options
from understudy.cli.outputs import check_apart
from understudy.cli.running import check_output


@click.command("sign", short_help="Sign a release, so that a forged one is told from it.")
@click.argument("release", type=click.Path())
@click.option("--key", required=True, type=click.Path(), help="The private key, from `understudy key`.")
@click.option(
    "-o", "--output", type=click.Path(), help="Where the signed release goes. Default: in its place."
)
@options.overwrite
def command(release: str, key: str, output: str | None, overwrite: bool) -> None:
    """Sign RELEASE with the holder's private key. One whose claim does not hold, or a test's, is refused.

    Whoever has the public key can then tell it from a forged one: `understudy verify --key holder.pub`.

    \b
    Examples:
      understudy sign people.release --key holder.key
    """
    from understudy.errors import ReleaseError
    from understudy.pipeline import load

    target = output or release
    check_output(target)
    if output is not None:
        check_apart({"-o": output}, files={"the key": key, "the release": release}, overwrite=overwrite)
    loaded = load(release)
    verdict = loaded.verify()
    if not (verdict.holds and verdict.private):
        raise ReleaseError(
            f"{release!r} is not signed: {verdict.why or 'its noise came from a seed.'}",
            hint="sign what you made yourself, from private noise.",
        )
    loaded.save(target, key=key)
    click.echo(f"signed: {target}")
