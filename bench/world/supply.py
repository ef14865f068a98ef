"""The amount of information on the web: a parameter of a world in addition to its seed.

Most stop rules matter only if something is scarce. Each supply is one kind of scarcity, for all
questions of a world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Second = Literal["own", "copy", "none"]


@dataclass(frozen=True)
class Supply:
    """One kind of scarcity.

    `second` is the page that states the same facts again: an independent one, a near-duplicate of
    the first on another site, or none; only with an independent one do further pages repeat a part,
    disagree or fail. `around` adds pages that are on topic without facts. With `one_missing`, no
    page states the last of several facts asked for; unless `readable`, no page can be read.
    """

    sites: int = 8
    second: Second = "own"
    around: bool = True
    one_missing: bool = False
    readable: bool = True


AMPLE = "ample"
SUPPLIES: dict[str, Supply] = {
    AMPLE: Supply(),
    "copied": Supply(second="copy"),
    "lone pages": Supply(second="none", around=False),
    "one site": Supply(sites=1),
    "one thing missing": Supply(one_missing=True),
    "unreadable": Supply(readable=False),
}
