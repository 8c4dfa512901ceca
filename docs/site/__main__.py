"""Builds the site from the documents: `python docs/site`, which is what `make docs` runs.

It gathers the pages in build/pages, has Zensical build them into build/site, makes search work without a network, and
fails where Zensical warns or a link, an anchor or a picture leads nowhere. `python docs/site --unrun` leaves
notebooks without what their cells show: for a look at the rest.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from site_check import faults
from stage import ROOT, stage

PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
# Zensical loads this from elsewhere, so that search works where pages are opened as files. `worker.js` does the same.
SHIM = "https://unpkg.com/iframe-worker/shim"


def main() -> None:
    """Build the site, or leave with the list of what is broken."""
    stage(PAGES, run="--unrun" not in sys.argv[1:])
    done = subprocess.run(
        [Path(sys.executable).parent / "zensical", "build", "--clean", "--strict"], cwd=ROOT, check=False
    )
    if done.returncode:
        sys.exit("The site was not built: see above.")
    for page in SITE.rglob("*.html"):
        up = "../" * (len(page.relative_to(SITE).parts) - 1)
        page.write_text(page.read_text().replace(SHIM, f"{up}site/worker.js"))
    found = list(dict.fromkeys(faults(SITE)))
    sys.stdout.writelines(f"{line}\n" for line in found)
    if found:
        sys.exit(f"{len(found)} faults in the site.")
    sys.stdout.write(f"The site: {(SITE / 'index.html').relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
