"""How much the web holds on a question: what a world is made with, beside its seed.

Most rules of a stop matter only where something is scarce. Each supply is one kind of scarcity,
for all questions of a world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Second = Literal["own", "copy", "none"]


@dataclass(frozen=True)
class Supply:
    """`second` is the page that states the same facts again: one of its own, a near-copy of the
    first on another site, or none; only where it is one of its own do further pages repeat a part,
    disagree or fail. `around` says whether pages talk around a subject. No page states the last of
    several things asked for where `one_missing`, and none can be read where not `readable`.
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
