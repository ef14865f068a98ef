"""Signatures of deliveries, as described by Standard Webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime

PREFIX = "whsec_"
SECRET_BYTES = 32


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
