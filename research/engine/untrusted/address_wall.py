"""Addresses of pages that a run may repeat: the layer behind the prompt injection filter.

A URL, host, mailbox or phone number appears in a statement only if the question asks for one or
names it, two independent sources give it, its owner's domain does, or it is one of the asker's own
network. No other address leaves a page, whatever it instructs and whoever obeys: neither a prompt
nor a statement contains it. Quotes keep it as text, never as a link.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from research.engine.ports import Page
from research.engine.text.folding import folded
from research.engine.untrusted.addresses import Address, addresses_in, is_own_network, owner_of

ELISION = "[…]"
ENOUGH_SOURCES = 2

_NOUNS = (
    r"urls?|web\s?(?:site|page|seite|address|adresse)s?|home\s?pages?|landing pages?|e-?mails?"
    r"|mailbox|(?:tele)?phone numbers?|hotlines?|contact (?:details|address|data|person)"
    r"|domain names?|host ?names?|links? to"
    r"|internet ?adressen?|e-?mail-?adressen?|telefon(?:nummer|n|o)?|rufnummer|kontaktdaten"
    r"|site (?:web|internet)|adresse (?:web|internet|electronique|e-?mail)|courriel"
    r"|numero (?:de|di) (?:telephone|telefono|telefone)|sitio web|pagina web|correo electronico"
    r"|direccion (?:web|de correo|electronica)|endereco (?:web|eletronico|de e-?mail)"
    r"|site oficial|indirizzo (?:web|e-?mail)|telefoonnummer|webadres"
)
_ASKING = r"which|what|whose|welche[rs]?|wie lautet die|quelle|cual es la|que|qual [eo]"
_ADDRESS = r"address|addresses|link|adresse|lien|direccion|enlace|endereco"
_ASKED_FOR = re.compile(
    rf"(?<!\w)(?:{_NOUNS}|(?:{_ASKING}) (?:\w+ ){{0,3}}(?:{_ADDRESS}))(?!\w)"
    r"|(?<!\w)(?:адрес|сайт|ссылк|телефон|электронн\w* почт)"
    r"|عنوان (?:الموقع|البريد)|البريد الإلكتروني|رقم (?:ال)?هاتف|موقع إلكتروني|رابط"
    r"|网址|网站|链接|邮箱|电子邮件|电话|联系方式|域名"
    r"|アドレス|サイト|リンク|メール|電話番号|連絡先"
)
"""Words for what a question may ask for, such as "which address"; compared after folding."""


@lru_cache(maxsize=256)
def asks_for_address(question: str) -> bool:
    """Return whether a question asks for a web address, a mailbox or a phone number."""
    return bool(_ASKED_FOR.search(folded(question)))


@dataclass(frozen=True)
class AddressWall:
    """Addresses of these pages that may appear in an answer to a question; `is_wide` finds
    telephone numbers without an area and addresses without a scheme, too.
    """

    question: str
    pages: Collection[Page]
    is_wide: bool = True

    def masked(self, text: str) -> str:
        """Return the text with an elision for each address that is not admitted."""
        return mask(text, self.foreign(text))

    def foreign(self, text: str) -> list[Address]:
        """Return the addresses of a text that are not admitted."""
        found = addresses_in(text, is_wide=self.is_wide)
        if not found or asks_for_address(self.question):
            return []
        return [address for address in found if not self._is_given(address)]

    def _is_given(self, address: Address) -> bool:
        asked = self.question.lower()
        if is_own_network(address.host):
            return True
        if address.text.lower() in asked or (address.host and owner_of(address.host) in asked):
            return True
        wanted = address.text.lower()
        givers = [page for page in self.pages if wanted in page.text.lower()]
        if address.host and any(_owns(page, address.host) for page in givers):
            return True
        return len({page.independence_key for page in givers}) >= ENOUGH_SOURCES


def _owns(page: Page, host: str) -> bool:
    """Return whether a page belongs to the domain of a host."""
    return bool(page.domain) and owner_of(page.domain) == owner_of(host)


def mask(text: str, addresses: Iterable[Address]) -> str:
    """Return the text with an elision in the place of these addresses."""
    for address in sorted(addresses, key=lambda each: -each.start):
        text = text[: address.start] + ELISION + text[address.end :]
    return text
