"""Titles of the pages of one site."""

import pytest

from research.engine.evidence.titles import shorten_titles

MANUAL = "PostgreSQL 15.19 Documentation"


def shortened(site: str, *titles: str) -> list[str]:
    return list(shorten_titles(dict(enumerate_as_urls(titles)), site).titles.values())


def enumerate_as_urls(titles: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(f"https://a.example/{n}", title) for n, title in enumerate(titles)]


@pytest.mark.parametrize(
    ("site", "titles", "short"),
    [
        (
            "",
            (f"{MANUAL}: 25.1 Routine Vacuuming", f"{MANUAL}: 20.10 Autovacuum", f"{MANUAL}: 28"),
            ["25.1 Routine Vacuuming", "20.10 Autovacuum", "28"],
        ),
        (
            MANUAL,
            (f"{MANUAL}: 25.1 Routine Vacuuming — {MANUAL}", f"20.10 Autovacuum — {MANUAL}"),
            ["25.1 Routine Vacuuming", "20.10 Autovacuum"],
        ),
        (
            "",
            ("Docs :: Guide: First | Site", "Docs :: Guide: Second | Site", "Docs :: Third | Site"),
            ["Guide: First", "Guide: Second", "Third"],
        ),
        # two pages have no part in common by chance, nor a minority
        ("", ("Re: Oaks", "Re: Elms"), ["Re: Oaks", "Re: Elms"]),
        ("", ("Re: Oaks", "Re: Elms", "Limes", "Firs"), ["Re: Oaks", "Re: Elms", "Limes", "Firs"]),
        # what differs stays different, and no title becomes empty
        ("Site", ("Site: Oaks", "Oaks"), ["Site: Oaks", "Oaks"]),
        (MANUAL, (MANUAL, MANUAL, f"{MANUAL}: Index"), [MANUAL, MANUAL, "Index"]),
    ],
)
def test_what_titles_have_in_common_is_cut(
    site: str, titles: tuple[str, ...], short: list[str]
) -> None:
    assert shortened(site, *titles) == short


def test_the_common_part_names_the_work() -> None:
    titles = enumerate_as_urls((f"{MANUAL}: One", f"{MANUAL}: Two", f"{MANUAL}: Three"))
    assert shorten_titles(dict(titles)).common == MANUAL
    assert shorten_titles({}).common == ""
