"""What an installation is made of: a software bill of materials in CycloneDX, and a list of licences.

    python .ci/materials.py build/sbom.json LICENCES.md

Lists the packages that `understudy` needs, and those that each of its extras adds, as they are installed here, with
whatever these need in turn. Those of `dev` and `docs` are tools, and reach nobody who installs the product.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = "understudy"
TOOLS = ("dev", "docs")


def closure(asked: list[str]) -> dict[str, Distribution]:
    """All packages that these requirements name, and what they need in turn, by name."""
    found: dict[str, Distribution] = {}
    left = [Requirement(text) for text in asked]
    seen: set[tuple[str, frozenset[str]]] = set()
    while left:
        one = left.pop()
        name, wanted = canonicalize_name(one.name), frozenset(one.extras)
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # for another system
        for needed in map(Requirement, found[name].requires or ()):
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted)
            ):
                left.append(needed)
    return found


def licence(found: Distribution) -> str:
    """The licence that a package states: an expression, a line, or a classifier."""
    said = found.metadata
    text = said.get("License-Expression") or ""
    if not text:
        classified = [line for line in said.get_all("Classifier") or () if line.startswith("License ::")]
        named = [line.rpartition(" :: ")[2] for line in classified if line != "License :: OSI Approved"]
        text = " and ".join(dict.fromkeys(named))
    if not text:
        text = (said.get("License") or "").strip().partition("\n")[0]
    return text or "not stated"


def bill(packages: dict[str, Distribution], version: str) -> str:
    """The bill of materials as JSON, the same for the same packages."""
    made = LicenseFactory()
    bom = Bom()
    own = Component(name=PRODUCT, version=version, type=ComponentType.APPLICATION, bom_ref=PRODUCT)
    own.licenses.add(made.make_from_string("Apache-2.0"))
    bom.metadata.component = own
    for name, found in sorted(packages.items()):
        part = Component(
            name=name,
            version=found.version,
            type=ComponentType.LIBRARY,
            purl=PackageURL("pypi", name=name, version=found.version),
            licenses=[made.make_from_string(licence(found))],
            bom_ref=name,
        )
        bom.components.add(part)
        bom.register_dependency(own, [part])
    return make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_5).output_as_string(indent=2)


def listed(packages: dict[str, Distribution], core: dict[str, Distribution]) -> str:
    """The licences as a table for people."""
    rows = [
        f"| {name} | {licence(found).replace('|', '/')} | {'always' if name in core else 'with an extra'} |"
        for name, found in sorted(packages.items())
    ]
    return "\n".join(
        [
            "# Licences",
            "",
            "Understudy itself is under Apache-2.0. These are the packages that it needs, always or with one of",
            "its extras, and what each says of its licence. `make sbom` writes this list, and the same with",
            "versions as a bill of materials in CycloneDX (`build/sbom.json`).",
            "",
            "| package | licence | installed |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def main(words: list[str]) -> None:
    """Write both files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed, extras = project["dependencies"], project["optional-dependencies"]
    core = closure(needed)
    packages = closure([*needed, *(text for name in extras if name not in TOOLS for text in extras[name])])
    version = (ROOT / "src" / PRODUCT / "version.py").read_text().split('"')[-2]
    target = Path(words[0])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(bill(packages, version))
    Path(words[1]).write_text(listed(packages, core))


if __name__ == "__main__":
    main(sys.argv[1:])
