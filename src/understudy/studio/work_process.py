"""The process that does one piece of work: `python -m understudy.studio.work_process FOLDER`.

What to do stands in the folder and not on the command line, which every user of the machine can read.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def main() -> None:
    """Do the work of the folder that is named, and write down what came of it."""
    # As for the command line: matrices here are small, and NumPy reads this when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.umask(0o077)
    from understudy.errors import UnderstudyError
    from understudy.studio.work_folder import WorkFolder

    folder = Path(sys.argv[1])
    work = WorkFolder(folder)
    warnings.simplefilter("ignore")  # what a release warns of stands in its certificate
    try:
        WORK[work.settings["work"]](folder, work.settings, work.say)
    except UnderstudyError as error:  # its words hold no value of a record
        work.finish({"state": "failed", "message": error.message, "hint": error.hint})
    except Exception as error:
        # The words of any other may quote one, so only its type is kept.
        message = f"an error that should not be ({type(error).__name__})."
        work.finish({"state": "failed", "message": message, "hint": "please report it."})
    else:
        work.finish({"state": "done"})


def fit(folder: Path, settings: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """A release of the table, its report, and synthetic records. Begun again, nothing is charged or drawn anew."""
    import understudy as us
    from understudy.pipeline.drawing.sample_file import sample_to_file

    kept = folder / "table.release"
    if not kept.exists():
        release = us.fit(
            settings["data"],
            folder / "schema.toml",
            epsilon=settings["epsilon"],
            delta=settings["delta"],
            mechanism=settings["mechanism"],
            ledger=settings["ledger"],
            job=settings["label"],
            stage=say,
        )
        say("writing the release")
        release.save(kept)
    release = us.load(kept)
    say("writing the report")
    release.report(folder / "report.html")
    say("generating records")
    sample_to_file(release, folder / "synthetic.parquet", seed=settings["seed"])


def compare(folder: Path, settings: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """The confidential comparison of the synthetic records with the private ones."""
    import understudy as us

    run = folder.parent
    found = us.evaluate(
        settings["data"], run / "synthetic.parquet", us.load(run / "table.release").schema, stage=say
    )
    say("writing the comparison")
    found.report(folder / "confidential.html")


WORK = {"fit": fit, "compare": compare}

if __name__ == "__main__":
    main()
