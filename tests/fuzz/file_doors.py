"""Doors for records: damaged tables in every form that is read. No message may tell a record's value."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from random import Random

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from mutations import mutated_bytes, mutated_text

import understudy as us

SECRET = "CANARY"
NUMBER = 73197319
SCHEMA = us.Schema(
    {
        "name": us.Category((f"{SECRET}0", "b")),
        "sex": us.Category(("F", "M")),
        "age": us.Integer(0, 99),
        "income": us.Number(0, 1e6, bins=8),
        "born": us.Date(),
    },
    name="people",
)
HEADER = b"name,sex,age,income,born\n"
ROWS = 40


def columns() -> dict[str, list[object]]:
    """A few people, each with values that are known when they are seen again."""
    return {
        "name": [f"{SECRET}{i}" if i % 3 else None for i in range(ROWS)],
        "sex": ["FM"[i % 2] for i in range(ROWS)],
        "age": [NUMBER + i if i % 5 == 0 else i for i in range(ROWS)],
        "income": [i * 1000.5 for i in range(ROWS)],
        "born": [f"19{50 + i}-01-02" for i in range(ROWS)],
    }


def use(path: Path, random: Random) -> None:
    """What a person does with a file of records: draft a schema, open it, learn from it."""
    match random.randrange(8):
        case 0 | 1:
            us.draft_schema(path)
        case 2 | 3 | 4:
            us.table(path, SCHEMA)
        case 5:
            us.evaluate(path, path, SCHEMA)
        case 6:
            folder = path.with_name("part")  # what is in a folder is streamed
            folder.mkdir(exist_ok=True)
            for other in folder.iterdir():
                other.unlink()
            (folder / path.name).write_bytes(path.read_bytes())
            _fit(folder, random)
        case _:
            _fit(path, random)


def _fit(place: Path, random: Random) -> None:
    schema = SCHEMA if random.random() < 0.5 else None
    ledger = place.with_name(f"{random.getrandbits(60)}.ledger")
    try:
        us.fit(
            place,
            schema,
            epsilon=1,
            delta=1e-6,
            mechanism=us.Independent(),
            ledger=ledger,
            name="people",
            check=False,
        )
    finally:
        for left in ledger.parent.glob(f"{ledger.name}*"):
            left.unlink()


def csv_text() -> bytes:
    rows = [
        ",".join("" if cell is None else str(cell) for cell in row)
        for row in zip(*columns().values(), strict=True)
    ]
    return HEADER + "\n".join(rows).encode() + b"\n"


def text_door(random: Random, folder: Path) -> None:
    """Bytes of a text file after its header line, in several encodings."""
    data = mutated_bytes(random, csv_text(), keep=len(HEADER))
    if random.random() < 0.2:
        data = data.decode("latin-1").encode(
            random.choice(("utf-16", "utf-8-sig", "utf-16-le", "cp1252")), "replace"
        )
    path = folder / "people.csv"
    path.write_bytes(data)
    use(path, random)


def header_door(random: Random, folder: Path) -> None:
    """Texts whose header line is changed too; nobody's values are in it."""
    text = mutated_text(random, "name,sex,age\n" + "x,F,3\n" * 5)
    path = folder / "people.csv"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    use(path, random)


def packed_door(random: Random, folder: Path) -> None:
    """Packed text: damaged before or after it was packed."""
    inside = csv_text()
    if random.random() < 0.5:
        data = gzip.compress(mutated_bytes(random, inside, keep=len(HEADER)))
    else:
        data = mutated_bytes(random, gzip.compress(inside))
    path = folder / "people.csv.gz"
    path.write_bytes(data)
    use(path, random)


def _table() -> pa.Table:
    return pa.table(columns())


def parquet_door(random: Random, folder: Path) -> None:
    """Bytes of a Parquet file, packed in several ways."""
    held = io.BytesIO()
    pq.write_table(
        _table(),
        held,
        compression=random.choice(("none", "snappy", "zstd", "gzip")),
        row_group_size=random.choice((7, 100)),
        use_dictionary=random.random() < 0.5,
        data_page_version=random.choice(("1.0", "2.0")),
    )
    path = folder / "people.parquet"
    path.write_bytes(mutated_bytes(random, held.getvalue(), keep=4))
    use(path, random)


def arrow_door(random: Random, folder: Path) -> None:
    """Bytes of an Arrow file or stream."""
    held = io.BytesIO()
    table = _table()
    if random.random() < 0.5:
        table = table.set_column(0, "name", table["name"].dictionary_encode())
    packed = pa.ipc.IpcWriteOptions(compression=random.choice((None, "lz4", "zstd")))
    new = pa.ipc.new_file if random.random() < 0.5 else pa.ipc.new_stream
    with new(held, table.schema, options=packed) as writer:
        writer.write_table(table, 7)
    path = folder / "people.arrow"
    path.write_bytes(mutated_bytes(random, held.getvalue(), keep=8))
    use(path, random)


def json_lines_door(random: Random, folder: Path) -> None:
    """Bytes of JSON lines; the first names the columns and stays."""
    first = b'{"name": "b", "sex": "F", "age": 3, "income": 1.5, "born": "1999-01-01"}\n'
    rest = b"".join(
        f'{{"name": "{SECRET}{i}", "sex": "F", "age": {NUMBER + i}, "income": {i}.5, "born": null}}\n'.encode()
        for i in range(20)
    )
    path = folder / "people.jsonl"
    path.write_bytes(mutated_bytes(random, first + rest, keep=len(first)))
    use(path, random)


def excel_door(random: Random, folder: Path) -> None:
    """Bytes of a workbook."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    table = columns()
    sheet.append(list(table))
    for row in zip(*table.values(), strict=True):
        sheet.append(list(row))
    held = io.BytesIO()
    book.save(held)
    path = folder / "people.xlsx"
    path.write_bytes(mutated_bytes(random, held.getvalue(), keep=4))
    use(path, random)
