"""A script and a notebook that make a run again: the same job under the same label, so it costs nothing more."""

from __future__ import annotations

import json

from understudy.pipeline.sources.registry import is_address
from understudy.studio.workspace import Run

ADDRESS = "UNDERSTUDY_DATA"  # the variable that holds an address, which may hold a password


def script(run: Run) -> str:
    """The run as a Python script."""
    return "\n\n".join(["\n".join(f"# {line}" for line in _about(run)), *_cells(run)]) + "\n"


def notebook(run: Run) -> str:
    """The run as a Jupyter notebook."""
    cells: list[dict[str, object]] = [_cell("markdown", "\n".join(_about(run)))]
    cells += [{**_cell("code", text), "execution_count": None, "outputs": []} for text in _cells(run)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _cell(kind: str, text: str) -> dict[str, object]:
    return {
        "cell_type": kind,
        "id": f"{kind}-{len(text)}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }


def _about(run: Run) -> list[str]:
    return [
        f"Makes the synthetic records of {run.settings['name']!r} again, exactly.",
        "The ledger knows this run by its label: it answers what it answered before, and charges nothing more.",
    ]


def _cells(run: Run) -> list[str]:
    said = run.settings
    data = f'os.environ["{ADDRESS}"],  # where the table is: not written here, as it may hold a password'
    imports = "import understudy as us"
    if is_address(said["data"]):
        imports = f"import os\n\n{imports}"
    else:
        data = f"{said['data']!r},"
    lines = "\n".join(f"    {line!r}" for line in run.schema.to_toml().splitlines(keepends=True))
    return [
        imports,
        f"# What is publicly said of the table.\nschema = us.Schema.from_toml(\n{lines}\n)",
        "\n".join(
            [
                "release = us.fit(",
                f"    {data}",
                "    schema,",
                f"    epsilon={said['epsilon']!r},",
                f"    delta={said['delta']!r},",
                f"    mechanism={said['mechanism']!r},",
                *([f"    ledger={said['ledger']!r},"] if said["ledger"] else []),
                f"    job={said['label']!r},",
                ")",
                'release.save("again.release")',
            ]
        ),
        f"# Sampling is free; this seed draws the records that the studio showed.\n"
        f'synthetic = release.with_kind("arrow").sample(seed={said["seed"]!r})\nsynthetic',
    ]
