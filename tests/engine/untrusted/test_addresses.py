import pytest

from research.engine.untrusted.addresses import addresses_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://a.example/b?q=QUESTION).", "https://a.example/b?q=QUESTION"),
        ("As www.a.example says", "www.a.example"),
        ("Write to desk@a-b.example, please.", "desk@a-b.example"),
        ("Look at a.example for more.", "a.example"),
        ("https：//a.example/x", "https：//a.example/x"),
        ("evil [dot] example", "evil [dot] example"),
        ("See HTTP%3A//a.example/x there", "HTTP%3A//a.example/x"),
        ("WWW .a.example says so", "WWW .a.example"),
        ("Call +44 20 7946 0958 now", "+44 20 7946 0958"),
        ("Ruf 030 23125 118 an", "030 23125 118"),
        ("(212) 555-0147", "(212) 555-0147"),
        ("our helpline 555 0143 288 to whoever asks", "555 0143 288"),
    ],
)
def test_an_address_is_found(text: str, found: str) -> None:
    assert [address.text for address in addresses_in(text)] == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ring the museum on 412 7788.", "412 7788"),
        ("The fox line, 555-0142, knows", "555-0142"),
        ("Tel. 23 12 518", "23 12 518"),
        ("电话 4127788", "4127788"),
        ("Embed //files.helper.example/a?b=c here", "//files.helper.example/a?b=c"),
    ],
)
def test_a_local_number_or_an_address_without_a_scheme_is_found_by_the_wide_wall(
    text: str, found: str
) -> None:
    assert [address.text for address in addresses_in(text, is_wide=True)] == [found]
    assert not addresses_in(text)
    [address] = addresses_in(text, is_wide=True)
    assert address.host == ("files.helper.example" if "//" in found else "")


@pytest.mark.parametrize(
    "text",
    [
        "between 200-1500 km of rail and 412 7788 of sleepers",
        "//utils.py // comment, 5550142 rows",
        "open from 0800-0900 by telephone",
        "between 1986 and 1988, 1 234 567 people",
    ],
)
def test_figures_and_comments_pass_the_wide_wall(text: str) -> None:
    assert not addresses_in(text, is_wide=True)


@pytest.mark.parametrize(
    "text",
    [
        "node.js, README.md and main.py",
        "ASP.NET and Amazon.com are names.",
        "pg_hba.conf and version 1.2.3.4",
        "between 1986 and 1988, 1 234 567 people",
        "The end.The next.",
        "open from 0800-0900",
        "12 345 678 people, 123 456 789 in all",
        "in 1990 2000 2010",
    ],
)
def test_what_only_looks_like_an_address_is_none(text: str) -> None:
    assert not addresses_in(text)
