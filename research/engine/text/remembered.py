"""Remember what was found in texts, as many as fit into a number of characters.

`functools.lru_cache` counts texts; a page may have a hundred characters or a million, and many runs
at once read more pages than any fixed number that would be safe for long ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def remember_texts(
    most_characters: int, size_of: Callable[[Any], int]
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that keeps the results used last, of first arguments whose sizes add up
    to at most this many characters. One that is larger alone is not kept. Arguments have to be
    hashable, and the first one positional.

    Like `lru_cache` it has `cache_clear`. If threads call the function at once, it may be computed
    twice.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        lock, held = Lock(), 0

        @wraps(function)
        def remembering(*arguments: P.args, **named: P.kwargs) -> T:
            nonlocal held
            key = (arguments, *sorted(named.items())) if named else arguments
            with lock:
                if (known := kept.get(key)) is not None:
                    kept.move_to_end(key)
                    return known[0]
            found, size = function(*arguments, **named), size_of(arguments[0])
            if size <= most_characters:
                with lock:
                    if key not in kept:
                        kept[key] = (found, size)
                        held += size
                    while held > most_characters:
                        held -= kept.popitem(last=False)[1][1]
            return found

        def cache_clear() -> None:
            nonlocal held
            with lock:
                kept.clear()
                held = 0

        remembering.cache_clear = cache_clear  # type: ignore[attr-defined]
        return remembering

    return decorate
