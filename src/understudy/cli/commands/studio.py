"""`understudy studio`: the whole way from a private table to synthetic records, in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from understudy.errors import OperatorError


@click.command("studio", short_help="Do all of it in the browser, on this machine.")
@click.argument("data", required=False, type=click.Path())
@click.option("--demo", is_flag=True, help="Start on a simulated town of people who never lived.")
@click.option(
    "--folder", type=click.Path(), default=".", help="Where to look for tables and keep files. Default: here."
)
@click.option(
    "--ledger", type=click.Path(), help="The file that records what is spent. Default: one for this user."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), help="The port to listen on. Default: 8500, or a free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--allow-network", is_flag=True, help="Accept a --host that other machines can reach.")
@click.option(
    "--certificate", type=click.Path(), help="A TLS certificate (PEM), for a --host on the network."
)
@click.option("--key", type=click.Path(), help="The private key that belongs to it (PEM).")
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
def command(
    data: str | None,
    *,
    demo: bool,
    folder: str,
    ledger: str | None,
    port: int | None,
    host: str,
    allow_network: bool,
    certificate: str | None,
    key: str | None,
    no_browser: bool,
) -> None:
    """Open the studio in a browser: choose a table, say what is public of it, plan, spend, and take records away.

    It serves this machine alone, and whoever has the address that it prints, which holds a secret token. Its
    files lie in the folder understudy-studio, which you alone can read. Interrupt it (Ctrl-C) to end it: a run
    that is under way goes on, and is there when the studio is started again. Needs understudy[studio].

    \b
    Examples:
      understudy studio
      understudy studio people.csv
      understudy studio --demo
    """
    try:
        import starlette  # noqa: F401 - to see whether it is there
        import uvicorn  # noqa: F401 - likewise
    except ImportError as missing:
        raise OperatorError(
            f"the studio needs the package {missing.name!r}.", hint="pip install 'understudy[studio]'."
        ) from None
    from understudy.studio.opening import opened
    from understudy.studio.server import serve

    here, path = opened(Path(folder), data, demo=demo, ledger=ledger)
    serve(
        here,
        path=path,
        host=host,
        port=port,
        allow_network=allow_network,
        certificate=certificate,
        key=key,
        open_browser=not no_browser,
        tell=_tell,
    )


def _tell(address: str) -> None:
    click.echo(
        f"The studio is open, for you alone, at\n\n  {address}\n\nEnd it with Ctrl-C; runs go on without it."
    )
