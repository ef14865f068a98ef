"""Sends one delivery, by signed HTTP request or e-mail; every failure is an `Outcome`.

Signatures are as described by Standard Webhooks.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import smtplib
import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parseaddr
from functools import cached_property
from http import HTTPStatus

import httpx
from django.conf import settings
from django.core import mail

from research.engine.ports import FetchFailedError
from research.fetch.network import USER_AGENT, CheckedTransport, failures_named, system_resolve
from research.fetch.rate_limit import retry_after_seconds
from research.fetch.url_policy import AddressRules, check_url
from research.models import Delivery, EmailChoice, Event
from research.notifications.composing import confirm_url, write_mail

TIMEOUT_SECONDS = 15.0
CONNECTIONS = 16
NO_ADDRESS = "no e-mail address is set"
NOT_CONFIRMED = "the e-mail address is not confirmed"
NO_SERVER = "no mail server is set up (EMAIL_URL)"
PREFIX = "whsec_"
SECRET_BYTES = 32


@dataclass(frozen=True)
class Outcome:
    """Result of one attempt; `error` is '' on success. A `permanent` failure is not retried.

    `retry_after` are the seconds for which the receiver wants nothing.
    """

    status: int | None = None
    error: str = ""
    permanent: bool = False
    seconds: float = 0.0
    retry_after: float = 0.0

    @property
    def is_gone(self) -> bool:
        return self.status == HTTPStatus.GONE


def address_rules() -> AddressRules:
    """Return the rules for addresses of webhooks: those for pages."""
    return AddressRules(frozenset(settings.FETCH_ALLOW_PRIVATE_HOSTS))


class Channels:
    """Sends deliveries; belongs to one event loop. `timeout_seconds` limits an HTTP request."""

    def __init__(self, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self.timeout_seconds = timeout_seconds

    async def send(self, delivery: Delivery, choice: EmailChoice | None, now: datetime) -> Outcome:
        """Send a delivery to its webhook, or by e-mail to the address of `choice`."""
        began = time.monotonic()
        if delivery.webhook is not None:
            outcome = await self._post(delivery, now)
        else:
            outcome = await asyncio.to_thread(send_mail, delivery, choice)
        return replace(outcome, seconds=round(time.monotonic() - began, 3))

    async def aclose(self) -> None:
        if "_client" in self.__dict__:
            await self._client.aclose()

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=CheckedTransport(address_rules(), system_resolve, connections=CONNECTIONS),
            headers={"User-Agent": USER_AGENT, "Content-Type": "application/json"},
            timeout=httpx.Timeout(self.timeout_seconds),
            follow_redirects=False,
            trust_env=False,
        )

    async def _post(self, delivery: Delivery, now: datetime) -> Outcome:
        hook = delivery.webhook
        assert hook is not None
        body = delivery.body
        headers = signed_headers(hook.secrets(now), f"msg_{delivery.public_id}", now, body)
        try:
            target = check_url(hook.url, address_rules())
            with failures_named():
                async with asyncio.timeout(self.timeout_seconds):
                    response = await self._request(target.url, headers, body)
        except FetchFailedError as failure:
            return Outcome(error=failure.reason)
        status = response.status_code
        if 200 <= status < 300:
            return Outcome(status)
        return Outcome(
            status,
            f"status {status}",
            permanent=status == HTTPStatus.GONE,
            retry_after=retry_after_seconds(response, now) or 0.0,
        )

    async def _request(self, url: str, headers: dict[str, str], body: str) -> httpx.Response:
        """Return the response, whose body is not read."""
        request = self._client.build_request("POST", url, headers=headers, content=body.encode())
        response = await self._client.send(request, stream=True)
        await response.aclose()
        return response


def send_mail(delivery: Delivery, choice: EmailChoice | None) -> Outcome:
    """Send a delivery by e-mail. Its Message-ID is the same for all attempts."""
    if choice is None:
        return Outcome(error=NO_ADDRESS, permanent=True)
    if not choice.confirmed and delivery.event != Event.TEST:
        return Outcome(error=NOT_CONFIRMED, permanent=True)
    if not settings.EMAIL_URL:
        return Outcome(error=NO_SERVER)
    link = "" if choice.confirmed else confirm_url(choice)
    written = write_mail(json.loads(delivery.body), link)
    host = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    message = mail.EmailMultiAlternatives(
        written.subject,
        written.text,
        to=[choice.address],
        headers={
            "Message-ID": f"<{delivery.public_id}@{host}>",
            "Auto-Submitted": "auto-generated",
        },
    )
    message.attach_alternative(written.html, "text/html")
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused as error:
        code, text = next(iter(error.recipients.values()))
        return Outcome(code, _said("the address was refused", text), permanent=code >= 500)
    except smtplib.SMTPResponseException as error:
        said = _said("the mail server refused it", error.smtp_error)
        return Outcome(error.smtp_code, said)
    except (ssl.SSLError, smtplib.SMTPException):
        return Outcome(error="the mail server and Plumbline could not agree on how to talk")
    except TimeoutError:
        return Outcome(error="the mail server took too long to answer")
    except OSError:
        return Outcome(error="no connection to the mail server could be made")
    return Outcome()


def _said(what: str, text: bytes | str) -> str:
    told = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"{what}: {' '.join(told.split())[:200]}"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(
    secrets: Iterable[str], message_id: str, sent_at: datetime, body: str
) -> dict[str, str]:
    """Return the headers of a delivery, with one signature for each secret.

    A receiver computes the HMAC-SHA256 of `id.timestamp.body`, and rejects old timestamps.
    """
    timestamp = str(int(sent_at.timestamp()))
    content = f"{message_id}.{timestamp}.{body}".encode()
    signatures = [f"v1,{_signature(secret, content)}" for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
