"""Addresses of PostgreSQL: what is libpq's, what is ours, and that a password shows nowhere."""

import pytest

from understudy.data.engines.postgres.address import parse
from understudy.errors import ParameterError, UnderstudyError
from understudy.pipeline.sources.registry import kind_of

SERVER = "postgresql://reader:s3cret@db.example.org:5433/town"


@pytest.mark.parametrize(
    ("written", "table"),
    [
        ("#people", ("people",)),
        ("#census.people", ("census", "people")),
        ("?table=census.people", ("census", "people")),
        ("?sslmode=require&table=people", ("people",)),
        ("?sslmode=require#people", ("people",)),
        ('#"a.b"."c""d"', ("a.b", 'c"d')),
        ("#caf%C3%A9", ("café",)),
        ("#a%20b%25c", ("a b%c",)),
        ("#People", ("People",)),
        ("#drop table x; --", ("drop table x; --",)),
    ],
)
def test_a_table_is_named_after_a_hash_or_as_a_setting(written: str, table: tuple[str, ...]) -> None:
    found = parse(SERVER + written)
    assert found.table == table
    assert found.name == table[-1]
    assert "table" not in found.uri and "#" not in found.uri
    assert ("sslmode=require" in found.uri) == ("sslmode" in written)


def test_a_query_is_taken_to_the_end_as_it_is() -> None:
    query = "SELECT * FROM people WHERE note = 'a&b=c#d?' AND tags @> '{x}'"
    found = parse(f"{SERVER}?sslmode=disable&query={query} ; ")
    assert found.query == query and not found.table
    with pytest.raises(ParameterError, match="--name"):
        _ = found.name


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("SELECT * FROM t WHERE x LIKE '%ad%00%25'", "SELECT * FROM t WHERE x LIKE '%ad%00%25'"),
        ("SELECT%20*%20FROM%20t", "SELECT * FROM t"),
    ],
)
def test_a_percent_in_a_query_means_itself_unless_the_whole_query_is_escaped(
    written: str, meant: str
) -> None:
    assert parse(f"{SERVER}?query={written}").query == meant


@pytest.mark.parametrize("address", ["postgres://h/d#t", "postgresql:///d?host=%2Frun#t", "postgresql://#t"])
def test_addresses_that_libpq_knows_are_known(address: str) -> None:
    assert kind_of(address).name == "postgresql"
    assert parse(address).table == ("t",)


def test_several_servers_and_addresses_of_numbers_are_known() -> None:
    assert parse("postgresql://u@[::1]:5432/d#t").server == "postgresql://[::1]:5432/d"
    assert parse("postgresql://u@a:1,b:2/d#t").server == "postgresql://a:1,b:2/d"


@pytest.mark.parametrize("data", ["people.csv", b"postgresql://", None, 3, "duckdb:postgresql.db"])
def test_other_data_is_not_taken_for_an_address(data: object) -> None:
    assert kind_of(data).name != "postgresql"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql:town#people",
        "postgresql://h/d",
        "postgresql://h/d#",
        "postgresql://h/d#a.b.c",
        "postgresql://h/d#a.",
        "postgresql://h/d#.a",
        'postgresql://h/d#"a',
        "postgresql://h/d?table=a#b",
        "postgresql://h/d?query=",
        "postgresql://h/d?query=%20;",
        "postgresql://h/d?tabel=x",
        "postgresql://h/d?novalue#t",
        "postgresql://h/d#nul%00",
    ],
)
def test_an_address_that_names_no_one_table_is_refused_before_anything_is_opened(address: str) -> None:
    with pytest.raises(ParameterError, match=r"Hint: "):
        parse(address)


@pytest.mark.parametrize(
    "secret", ["hun#ter2", "hun/ter2", "hun?ter2", "hun@ter2", "12#34", "12/34", "12?34"]
)
def test_a_password_with_characters_of_their_own_meaning_is_refused_and_not_shown(secret: str) -> None:
    for tail in ("#people", "?table=people", ""):
        with pytest.raises(UnderstudyError) as caught:
            parse(f"postgresql://reader:{secret}@db.example.org/town{tail}")
        for part in (secret, "ter2", "34", "hun"):
            assert part not in str(caught.value)


def test_a_password_shows_in_no_text_of_an_address() -> None:
    for address in (SERVER + "#people", "postgresql://h/d?user=u&password=s3cret#people"):
        found = parse(address)
        assert "s3cret" in found.uri
        assert "s3cret" not in f"{found} {found!r} {found.server} {found.name}"


def test_a_name_longer_than_any_is_refused_before_it_is_matched() -> None:
    longest = '"' + "a" * 998 + '"'
    assert parse(f"postgresql://reader@host/town#{longest}").table == ("a" * 998,)
    with pytest.raises(ParameterError, match="2,000,002 characters"):
        parse('postgresql://reader@host/town#"' + "a" * 2_000_000 + '"')
