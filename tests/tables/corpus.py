"""Small awkward files, as people really have them: `python tests/tables/corpus.py FOLDER` writes them all.

Each has what its draft must say of every column and what every synthetic cell must look like. Values are drawn from a
fixed seed and are nobody's.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 400
Cells = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Shape:
    """What is expected of a column: its drafted type and fields, and how each synthetic cell is written."""

    type: str
    cell: str  # a pattern that every cell of the real and of the synthetic file matches whole
    said: Mapping[str, Any] = field(default_factory=dict)  # fields of the draft


@dataclass(frozen=True)
class Awkward:
    """One file: its name, how it is written, and the shape of each column in order."""

    name: str
    write: Callable[[Path], None]
    shapes: Mapping[str, Shape]
    text: bool = True  # whether its raw lines can be compared


def numbers(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def days(seed: int, first: str = "2018-01-01", span: int = 1500, rows: int = ROWS) -> list[date]:
    start = date.fromisoformat(first)
    return [start + timedelta(int(d)) for d in numbers(seed).integers(0, span, rows)]


def moments(seed: int, rows: int = ROWS) -> list[datetime]:
    start = datetime(2019, 1, 1)
    return [start + timedelta(seconds=int(s)) for s in numbers(seed).integers(0, 3 * 365 * 86400, rows)]


def picks(seed: int, values: Sequence[Any], rows: int = ROWS, p: Sequence[float] | None = None) -> list[Any]:
    chosen = numbers(seed).choice(len(values), size=rows, p=p)
    return [values[place] for place in chosen]


def amounts(seed: int, rows: int = ROWS, low: float = 10, high: float = 9000) -> np.ndarray:
    return np.round(np.exp(numbers(seed).uniform(np.log(low), np.log(high), rows)), 2)


def delimited(
    cells: Cells,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    quoting: int = csv.QUOTE_MINIMAL,
    ends: str = "\n",
    notes: str = "",
) -> Callable[[Path], None]:
    """A writer of these cells as a text file of that dialect, after some notes."""

    def write(path: Path) -> None:
        text = io.StringIO(newline="")
        text.write(notes)
        writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=ends)  # type: ignore[arg-type]
        writer.writerow(list(cells))
        writer.writerows(zip(*cells.values(), strict=True))
        content = text.getvalue().encode(encoding)
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)

    return write


def lines_of_json(cells: Cells) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)

    return write


def sheet(cells: Cells) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        from openpyxl import Workbook

        book = Workbook()
        book.active.append(list(cells))
        for row in zip(*cells.values(), strict=True):
            book.active.append(list(row))
        book.save(path)

    return write


def one(name: str, column: str, cells: Sequence[Any], shape: Shape, **dialect: Any) -> Awkward:
    """A file with that column beside a plain one."""
    beside = picks(1, ["red", "green", "blue"], len(cells))
    return Awkward(
        name, delimited({column: cells, "colour": beside}, **dialect), {column: shape, "colour": COLOUR}
    )


COLOUR = Shape("category", r"red|green|blue")
WORD = r"[^\W\d_]+"


def european() -> Awkward:
    cells = {
        "Stadt": picks(2, ["München", "Köln", "Düsseldorf", "Berlin"]),
        "Datum": [d.strftime("%d.%m.%Y") for d in days(3)],
        "Betrag": [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in amounts(4)],
        "Mitglied": picks(5, ["ja", "nein"]),
    }
    shapes = {
        "Stadt": Shape("category", "München|Köln|Düsseldorf|Berlin"),
        "Datum": Shape("date", r"\d\d\.\d\d\.\d{4}"),
        "Betrag": Shape("number", r"-?\d{1,3}(\.\d{3})*,\d\d"),
        "Mitglied": Shape("boolean", "ja|nein"),
    }
    return Awkward("european.csv", delimited(cells, delimiter=";", encoding="latin-1", ends="\r\n"), shapes)


def loans() -> Awkward:
    cells = {
        "amount": [f"${x:,.2f}" for x in amounts(6)],
        "rate": [f"{x:.2f}%" for x in numbers(7).uniform(5, 24, ROWS)],
        "term": picks(8, ["36 months", "60 months"]),
        "issued": [d.strftime("%b-%Y") for d in days(9)],
        "zip": [f"{z:05d}" for z in numbers(10).choice([501, 2139, 10001, 94110, 60614], ROWS)],
        "default": picks(11, ["N", "Y"], p=[0.8, 0.2]),
    }
    shapes = {
        "amount": Shape("number", r"\$\d{1,3}(,\d{3})*\.\d\d"),
        "rate": Shape("number", r"\d+\.\d\d%"),
        "term": Shape("category", "36 months|60 months"),
        "issued": Shape("date", r"[A-Z][a-z]{2}-\d{4}"),
        "zip": Shape("category", r"\d{5}"),
        "default": Shape("boolean", "Y|N"),
    }
    return Awkward("loans.csv", delimited(cells), shapes)


def fire_calls() -> Awkward:
    cells = {
        "Call Number": [int(190_000_000 + n) for n in range(ROWS)],
        "Call Date": [d.strftime("%m/%d/%Y") for d in days(12)],
        "Received DtTm": [m.strftime("%m/%d/%Y %I:%M:%S %p") for m in moments(13)],
        "Station": [f"{s:02d}" for s in numbers(14).integers(1, 30, ROWS)],
        "ALS Unit": picks(15, ["true", "false"]),
        "Units": numbers(16).integers(1, 12, ROWS).tolist(),
    }
    shapes = {
        "Call Number": Shape("id", r"\d+"),
        "Call Date": Shape("date", r"\d\d/\d\d/\d{4}"),
        "Received DtTm": Shape("datetime", r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d [AP]M"),
        "Station": Shape("integer", r"\d\d", {"format": "00"}),
        "ALS Unit": Shape("boolean", "true|false"),
        "Units": Shape("integer", r"\d+"),
    }
    return Awkward("fire_calls.csv", delimited(cells), shapes)


def hospital() -> Awkward:
    came = days(17, "2020-01-01", 700)
    stay = numbers(18).integers(0, 20, ROWS)
    first, last = ["Ada", "Ben", "Cleo", "Dan", "Eve"], ["Ash", "Birch", "Cole", "Drew", "Elm"]
    cells = {
        "patient": [f"PT-{n:06d}" for n in numbers(19).permutation(900_000)[:ROWS] + 1000],
        "name": [f"{a} {b}" for a, b in zip(picks(20, first), picks(21, last), strict=True)],
        "phone": [f"555-{n:04d}" for n in numbers(22).permutation(9000)[:ROWS]],
        "admitted": [d.strftime("%d/%m/%Y") for d in came],
        "discharged": [(d + timedelta(int(s))).strftime("%d/%m/%Y") for d, s in zip(came, stay, strict=True)],
        "ward": picks(23, ["0046", "0112", "0007"]),
        "temp": [f"{t:.1f}" for t in numbers(24).normal(37, 0.6, ROWS)],
        "notes": [f"seen by doctor {n} in the morning" for n in range(ROWS)],
    }
    shapes = {
        "patient": Shape("id", r"PT-\d{6}"),
        "name": Shape("fake", r".+"),
        "phone": Shape("id", r"\d{3}-\d{4}"),
        "admitted": Shape("date", r"\d\d/\d\d/\d{4}"),
        "discharged": Shape("date", r"\d\d/\d\d/\d{4}"),
        "ward": Shape("category", "0046|0112|0007"),
        "temp": Shape("number", r"\d{1,3}\.\d"),
        "notes": Shape("fake", r".*"),
    }
    return Awkward("hospital.csv", delimited(cells), shapes)


def stamps() -> Awkward:
    """Moments as other programs print them."""
    cells = {
        "oracle": [d.strftime("%d-%b-%Y").upper() for d in days(80)],
        "lower": [d.strftime("%d %B %Y").lower() for d in days(81)],
        "mail": [m.strftime("%a, %d %b %Y %H:%M:%S GMT") for m in moments(82)],
        "query": [m.strftime("%Y-%m-%d %H:%M:%S UTC") for m in moments(83)],
        "web": [m.strftime("%Y-%m-%dT%H:%M:%S.000Z") for m in moments(84)],
        "sas": [m.strftime("%d%b%Y:%H:%M:%S").upper() for m in moments(104)],
        "server": [m.strftime("%Y-%m-%d %H:%M:%S+00") for m in moments(105)],
        "heure": [m.strftime("%Hh%M") for m in moments(106)],
        "took": [f"{h}:{m:02d}" for h, m in zip(picks(85, range(60)), picks(86, range(60)), strict=True)],
    }
    shapes = {
        "oracle": Shape("date", r"\d\d-[A-Z]{3}-\d{4}", {"format": "%d-%^b-%Y"}),
        "lower": Shape("date", r"\d\d [a-z]+ \d{4}", {"format": "%d %#B %Y"}),
        "mail": Shape("datetime", r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"),
        "query": Shape("datetime", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"),
        "web": Shape("datetime", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
        "sas": Shape("datetime", r"\d\d[A-Z]{3}\d{4}:\d\d:\d\d:\d\d"),
        "server": Shape("datetime", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00"),
        "heure": Shape("time", r"\d\dh\d\d"),
        "took": Shape("category", r"(\d+:\d\d)?"),  # hours above 23 are no times of day
    }
    return Awkward("stamps.csv", delimited(cells), shapes)


def figures() -> Awkward:
    """Numbers with a plus, with words among them, with figures that stand for something else."""
    said = picks(87, ["Refused", "Don't know", ""], p=[0.1, 0.1, 0.8])
    dash = picks(88, ["$-", ""], p=[0.2, 0.8])
    code = picks(89, ["-99", "999", ""], p=[0.05, 0.05, 0.9])
    cells = {
        "change": [f"{x:+.1f}%" for x in numbers(90).normal(0, 3, ROWS)],
        "small": [f"{x:.1f}%" for x in numbers(91).uniform(0, 9, ROWS)],
        "income": [word or f"{x:.0f}" for word, x in zip(said, amounts(92), strict=True)],
        "fee": [word or f"${x:,.2f}" for word, x in zip(dash, amounts(93), strict=True)],
        "hours": [mark or str(h) for mark, h in zip(code, numbers(94).integers(1, 80, ROWS), strict=True)],
        "level": [
            mark or f"{x:.2f}"
            for mark, x in zip(
                picks(107, ["<0.5", r"\N", ""], p=[0.1, 0.1, 0.8]), amounts(108, low=1, high=9), strict=True
            )
        ],
        "warmth": [f"{x:.1f}°C" for x in numbers(109).normal(20, 4, ROWS)],
        "AMT_PAID": numbers(95).integers(100, 99_999, ROWS).tolist(),
    }
    shapes = {
        "change": Shape("number", r"[-+]\d+\.\d%", {"format": "+0.5%"}),
        "small": Shape("number", r"\d\.\d%|10\.0%"),
        "income": Shape("integer", r"Refused|Don't know|\d+", {"missing": ["Don't know", "Refused"]}),
        "fee": Shape("number", r"\$-|\$\d{1,3}(,\d{3})*\.\d\d", {"missing": ["$-"]}),
        "hours": Shape("integer", r"-99|999|\d{1,3}", {"special": [-99, 999]}),
        "level": Shape("number", r"<0\.5|\\N|\d+\.\d\d", {"missing": ["<0.5", r"\N"]}),
        "warmth": Shape("number", r"-?\d+\.\d°C"),
        "AMT_PAID": Shape("integer", r"\d+"),
    }
    return Awkward("figures.csv", delimited(cells), shapes)


def keys() -> Awkward:
    """Codes and keys that would lose a zero, or pass for dates and amounts."""
    digits = numbers(96).integers(0, 10, (ROWS, 20)).tolist()
    cells = {
        "SSN": [f"{n % 899 + 1:03d}-{n % 99 + 1:02d}-{n:04d}" for n in numbers(97).permutation(9000)[:ROWS]],
        "area": [f"{z:03d}xx" for z in numbers(98).integers(0, 1000, ROWS)],
        "tariff": [f"{z // 100:04d}.{z % 100:02d}" for z in numbers(99).integers(10_000, 999_999, ROWS)],
        "account": ["1" + "".join(map(str, row)) for row in digits],
        "pressure": [
            f"{a}/{b}" for a, b in zip(picks(100, range(90, 180)), picks(101, range(50, 110)), strict=True)
        ],
        "machine": [
            f"10.{a}.{b}.7" for a, b in zip(picks(102, range(256)), picks(103, range(256)), strict=True)
        ],
    }
    shapes = {
        "SSN": Shape("id", r"\d{3}-\d\d-\d{4}"),
        "area": Shape("integer", r"\d{3}xx"),
        "tariff": Shape("number", r"\d{4}\.\d\d", {"format": "0000.00"}),
        "account": Shape("id", r"\d{21}"),
        "pressure": Shape("category", r"(\d+/\d+)?"),
        "machine": Shape("fake", r"(\d{1,3}\.){3}\d{1,3}"),
    }
    return Awkward("keys.csv", delimited(cells), shapes)


def measures() -> Awkward:
    """Figures with units, signs and exponents of all sorts."""
    turned = numbers(112).normal(51.5, 0.3, ROWS)
    cells = {
        "Weight": [f"{x:.1f} kg" for x in numbers(110).normal(72, 12, ROWS)],
        "heading": [f"{x}°" for x in numbers(111).integers(0, 360, ROWS)],
        "lat": [f"{x:.6f}N" for x in turned],
        "drift": [f"{x:+.2f}" for x in numbers(113).normal(2, 6, ROWS)],
        "steps": [f"{x:+d}" for x in numbers(114).integers(-9, 10, ROWS)],
        "flow": [f"{x:.3E}" for x in np.exp(numbers(115).normal(-9, 1, ROWS))],
        "minus": [f"{x:.1f}".replace("-", "\u2212") for x in numbers(116).normal(0, 5, ROWS)],
        "year": [f"{x}.0" for x in numbers(117).integers(1950, 2020, ROWS)],
        "ledger": [f"{abs(x):,.2f}{'-' if x < 0 else ''}" for x in numbers(118).normal(0, 900, ROWS)],
        "padded": [f"{x:06.3f}" for x in numbers(119).uniform(0, 99, ROWS)],
    }
    shapes = {
        "Weight": Shape("number", r"-?\d+\.\d kg", {"format": "0.5 kg"}),
        "heading": Shape("integer", r"\d+°", {"format": "0°"}),
        "lat": Shape("number", r"\d+\.\d{6}N"),
        "drift": Shape("number", r"[-+]\d+\.\d\d", {"format": "+0.00"}),
        "steps": Shape("integer", r"[-+]\d", {"format": "+0"}),
        "flow": Shape("number", r"-?\d\.\d{3}E[-+]\d\d", {"format": "1.000E+00"}),
        "minus": Shape("number", "\u2212?\\d+\\.\\d"),
        "year": Shape("number", r"\d+\.0", {"precision": 1}),
        "ledger": Shape("number", r"\d{1,3}(,\d{3})*\.\d\d-?"),
        "padded": Shape("number", r"\d{2,3}\.\d{3}"),
    }
    return Awkward("measures.csv", delimited(cells), shapes)


def invoices() -> Awkward:
    """An Indian sheet: digits in pairs, rupees, financial years, codes with leading zeros."""
    cells = {
        "Taxable Value": [in_pairs(x) for x in amounts(120, low=100, high=9e6)],
        "Total": [f"₹ {in_pairs(x)}" for x in amounts(121, low=100, high=9e6)],
        "Date": [d.strftime("%d-%m-%Y") for d in days(122)],
        "FY": picks(123, ["2022-23", "2023-24"]),
        "HSN": picks(124, ["0401", "8471", "9983"]),
    }
    pairs = r"\d{1,3}|\d{1,2}(,\d\d)*,\d{3}"
    shapes = {
        "Taxable Value": Shape("number", rf"({pairs})\.\d\d", {"format": "12,34,567.50"}),
        "Total": Shape("number", rf"₹ ({pairs})\.\d\d", {"format": "₹ 12,34,567.50"}),
        "Date": Shape("date", r"\d\d-\d\d-\d{4}"),
        "FY": Shape("category", r"202\d-2\d"),
        "HSN": Shape("category", r"\d{4}"),
    }
    return Awkward("invoices.csv", delimited(cells), shapes)


def in_pairs(amount: float) -> str:
    """An amount as it is written in India."""
    whole, _, cents = f"{amount:.2f}".partition(".")
    head, tail = whole[:-3], whole[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)][::-1]
    return ",".join([*pairs, tail]) + "." + cents


def register() -> Awkward:
    """A school's register: weeks, quarters, clocks without a colon, a telephone in another language."""
    weeks = [d.isocalendar() for d in days(125)]
    clock = zip(numbers(126).integers(7, 19, ROWS), numbers(127).integers(0, 60, ROWS), strict=True)
    cells = {
        "Week": [f"{week.year}-W{week.week:02d}" for week in weeks],
        "Term": picks(128, ["2021Q1", "2021Q2", "2021Q3", "2021Q4", "2022Q1"]),
        "Quarter": [f"Q{(d.month + 2) // 3} {d.year}" for d in days(129)],
        "Arrives": [f"{hour:02d}{minute:02d}" for hour, minute in clock],
        "Leaves": [m.strftime("%I:%M %p").lower() for m in moments(130)],
        "Rank": picks(131, ["1st", "2nd", "3rd"]),
        "Ward": ["constant"] * ROWS,
        "Empty": [""] * ROWS,
    }
    shapes = {
        "Week": Shape("date", r"\d{4}-W\d\d", {"format": "%G-W%V"}),
        "Term": Shape("date", r"202\dQ[1-4]", {"format": "%YQ%q"}),
        "Quarter": Shape("date", r"Q[1-4] \d{4}", {"format": "Q%q %Y"}),
        "Arrives": Shape("time", r"([01]\d|2[0-3])[0-5]\d", {"format": "%H%M"}),
        "Leaves": Shape("time", r"\d\d:\d\d [ap]m", {"format": "%I:%M %P"}),
        "Rank": Shape("category", "1st|2nd|3rd"),
        "Ward": Shape("category", "constant"),
        "Empty": Shape("category", ""),
    }
    return Awkward("register.csv", delimited(cells), shapes)


def electors() -> Awkward:
    """A roll of voters: postal codes with letters, telephones and names in German."""
    letters, ends = picks(132, ["SW", "NW", "E", "CB"]), picks(133, ["AA", "BX", "QT", "LP"])
    inner = zip(
        letters, numbers(134).integers(1, 20, ROWS), numbers(135).integers(1, 9, ROWS), ends, strict=True
    )
    cells = {
        "Postcode": [f"{a}{n} {m}{b}" for a, n, m, b in inner],
        "Telefon": [f"0{n % 899 + 30}/{n}" for n in numbers(136).integers(10**5, 10**7, ROWS)],
        "voted": picks(137, ["0", "1"]),
    }
    shapes = {
        "Postcode": Shape("fake", r"[A-Z]{1,2}\d[\dA-Z]? ?\d[A-Z]{2}", {"locale": "en_GB"}),
        "Telefon": Shape("fake", r".+"),
        "voted": Shape("integer", "0|1"),
    }
    return Awkward("electors.csv", delimited(cells), shapes)


def corpus() -> list[Awkward]:
    """Every file of the corpus."""
    iso = [d.isoformat() for d in days(30)]
    return [
        european(),
        loans(),
        fire_calls(),
        hospital(),
        stamps(),
        figures(),
        keys(),
        measures(),
        invoices(),
        register(),
        electors(),
        one("tabs.tsv", "day", iso, Shape("date", r"\d{4}-\d\d-\d\d"), delimiter="\t"),
        one("pipes.csv", "day", iso, Shape("date", r"\d{4}-\d\d-\d\d"), delimiter="|"),
        one(
            "utf16.csv",
            "ort",
            picks(31, ["Zürich", "Genève"]),
            Shape("category", "Zürich|Genève"),
            encoding="utf-16",
        ),
        one(
            "bom.csv",
            "ort",
            picks(32, ["Zürich", "Genève"]),
            Shape("category", "Zürich|Genève"),
            encoding="utf-8-sig",
        ),
        one(
            "latin1.csv",
            "ort",
            picks(33, ["Málaga", "León"]),
            Shape("category", "Málaga|León"),
            encoding="latin-1",
        ),
        one(
            "quoted.csv",
            "x",
            numbers(34).integers(0, 9, ROWS).tolist(),
            Shape("integer", r"\d"),
            quoting=csv.QUOTE_ALL,
        ),
        one("crlf.csv", "x", numbers(35).integers(0, 9, ROWS).tolist(), Shape("integer", r"\d"), ends="\r\n"),
        one("squeezed.csv.gz", "x", numbers(36).integers(0, 9, ROWS).tolist(), Shape("integer", r"\d")),
        one(
            "zip_codes.csv",
            "zip",
            [f"{z:05d}" for z in numbers(37).integers(501, 99951, ROWS)],
            Shape("integer", r"\d{5}"),
        ),
        one("epoch.csv", "at", [int(m.timestamp()) for m in moments(38)], Shape("datetime", r"\d{10}")),
        one(
            "epoch_ms.csv",
            "at",
            [int(m.timestamp()) * 1000 for m in moments(39)],
            Shape("datetime", r"\d{13}"),
        ),
        one(
            "minutes.csv",
            "at",
            [m.strftime("%Y-%m-%d %H:%M") for m in moments(40)],
            Shape("datetime", r"\d{4}-\d\d-\d\d \d\d:\d\d"),
        ),
        one(
            "named_months.csv",
            "day",
            [d.strftime("%d-%b-%Y") for d in days(41)],
            Shape("date", rf"\d\d-{WORD}-\d{{4}}"),
        ),
        one(
            "long_months.csv",
            "day",
            [d.strftime("%B %d, %Y") for d in days(42)],
            Shape("date", rf"{WORD} \d\d, \d{{4}}"),
        ),
        one("compact_dates.csv", "day", [d.strftime("%Y%m%d") for d in days(43)], Shape("date", r"20\d{6}")),
        one(
            "short_years.csv",
            "day",
            [d.strftime("%d/%m/%y") for d in days(44)],
            Shape("date", r"\d\d/\d\d/\d\d"),
        ),
        one("clock.csv", "at", [m.strftime("%H:%M") for m in moments(45)], Shape("time", r"\d\d:\d\d")),
        one(
            "clock12.csv",
            "at",
            [m.strftime("%I:%M %p") for m in moments(46)],
            Shape("time", r"\d\d:\d\d [AP]M"),
        ),
        one(
            "percent.csv",
            "share",
            [f"{x:.1f}%" for x in numbers(47).uniform(0, 100, ROWS)],
            Shape("number", r"\d+\.\d%"),
        ),
        one(
            "books.csv",
            "balance",
            [f"({-x:,.2f})" if x < 0 else f"{x:,.2f}" for x in numbers(48).normal(0, 3000, ROWS)],
            Shape("number", r"\(?\d{1,3}(,\d{3})*\.\d\d\)?"),
        ),
        one(
            "french.csv",
            "prix",
            [f"{x:,.2f}".replace(",", " ").replace(".", ",") + " €" for x in amounts(49)],
            Shape("number", r"\d{1,3}( \d{3})*,\d\d €"),
            delimiter=";",
        ),
        one("yes_no.csv", "smoker", picks(50, ["yes", "no"]), Shape("boolean", "yes|no")),
        one("ones.csv", "dead", picks(51, ["0", "1"]), Shape("integer", "0|1")),
        one("crosses.csv", "absent", picks(52, ["X", ""], p=[0.2, 0.8]), Shape("boolean", "X?")),
        one("shouting.csv", "ok", picks(53, ["TRUE", "FALSE"]), Shape("boolean", "TRUE|FALSE")),
        one(
            "marks.csv",
            "income",
            [
                ("N", "-9", f"{x:.0f}")[k]
                for k, x in zip(picks(54, [0, 1, 2], p=[0.1, 0.1, 0.8]), amounts(55), strict=True)
            ],
            Shape("integer", r"N|-9|\d+"),
        ),
        one("empty_column.csv", "nothing", [""] * ROWS, Shape("category", "")),
        one("constant.csv", "country", ["NL"] * ROWS, Shape("category", "NL")),
        one(
            "spike.csv",
            "hours",
            [
                40 if k else int(h)
                for k, h in zip(picks(56, [True, False]), numbers(57).integers(0, 99, ROWS), strict=True)
            ],
            Shape("integer", r"\d{1,3}"),
        ),
        one(
            "industry.csv",
            "code",
            picks(58, [170, 770, 5790, 8680, 9920]),
            Shape("category", "170|770|5790|8680|9920"),
        ),
        one(
            "uuids.csv",
            "key",
            [f"{n:08x}-0000-4000-8000-{n:012x}" for n in range(ROWS)],
            Shape("id", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ),
        one(
            "mails.csv",
            "email",
            [f"person{n}@example.org" for n in range(ROWS)],
            Shape("fake", r"[^@\s]+@[^@\s]+"),
        ),
        one(
            "cells_of_lines.csv",
            "answer",
            picks(59, ["one\ntwo", 'he said "no"', "a, b"]),
            Shape("category", 'one\ntwo|he said "no"|a, b'),
        ),
        one("science.csv", "level", [f"{x:.2e}" for x in amounts(60) * 1e-6], Shape("number", r"-?\d.*")),
        one(
            "points.csv",
            "ratio",
            [f"{x:.3f}"[1:] for x in numbers(61).uniform(0, 0.999, ROWS)],
            Shape("number", r"[01]?\.\d{3}"),
        ),
        one(
            "notes.csv", "day", iso, Shape("date", r"\d{4}-\d\d-\d\d"), notes="# A statement\n# made, today\n"
        ),
        one("tiny.csv", "x", [1, 2, 3, 4, 5], Shape("integer", r"-?\d+")),
        Awkward(
            "strange names.csv",
            delimited(
                {
                    "a,b": iso,
                    'say "x"': picks(62, ["p", "q"]),
                    "größe (cm)": numbers(63).integers(150, 200, ROWS).tolist(),
                }
            ),
            {
                "a,b": Shape("date", r"\d{4}-\d\d-\d\d"),
                'say "x"': Shape("category", "p|q"),
                "größe (cm)": Shape("integer", r"\d{1,3}"),
            },
        ),
        Awkward("one_column.csv", delimited({"x": picks(64, ["p", "q"])}), {"x": Shape("category", "p|q")}),
        Awkward(
            "lines.jsonl",
            lines_of_json(
                {
                    "day": iso,
                    "n": numbers(65).integers(0, 50, ROWS).tolist(),
                    "ok": picks(66, [True, False]),
                    "x": amounts(67).tolist(),
                }
            ),
            {
                "day": Shape("date", r"\d{4}-\d\d-\d\d"),
                "n": Shape("integer", r"\d+"),
                "ok": Shape("boolean", "True|False"),
                "x": Shape("number", r"\d+(\.\d+)?"),
            },
        ),
        Awkward(
            "lines.jsonl.gz",
            lines_of_json({"n": numbers(68).integers(0, 50, ROWS).tolist(), "c": picks(69, ["u", None])}),
            {"n": Shape("integer", r"\d+"), "c": Shape("category", "u|None")},
        ),
        Awkward(
            "sheet.xlsx",
            sheet(
                {
                    "day": days(70),
                    "n": numbers(71).integers(0, 50, ROWS).tolist(),
                    "name": picks(72, ["u", "v"]),
                    "x": amounts(73).tolist(),
                }
            ),
            {
                "day": Shape("date", r"\d{4}-\d\d-\d\d.*"),
                "n": Shape("integer", r"\d+"),
                "name": Shape("category", "u|v"),
                "x": Shape("number", r"\d+(\.\d+)?"),
            },
            text=False,
        ),
    ]


def main(folder: str) -> None:
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for awkward in corpus():
        awkward.write(target / awkward.name)
        sys.stdout.write(f"{target / awkward.name}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
