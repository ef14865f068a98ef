"""The pages of webhooks and e-mails."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from research.models import Delivery, EmailChoice, Webhook
from research.notifications import subscriptions
from research.notifications.composing import compose_body, confirm_url
from tests.dashboard.conftest import make_run

URL = "https://hooks.example.org/in"
TYPED = {"url": URL, "events": ["run.finished", "run.failed"]}


@pytest.fixture
def hook(admin: User) -> Webhook:
    return subscriptions.add_webhook(admin, URL, ["run.finished"])


def test_a_secret_is_shown_once(client: Client, admin: User) -> None:
    page = client.post("/notifications/", TYPED)
    made = Webhook.objects.get()
    assert made.owner == admin and made.events == TYPED["events"]
    assert made.secret in page.content.decode() and page.headers["Cache-Control"]
    shown = client.get(f"/notifications/{made.public_id}/").content.decode()
    assert made.secret not in shown and URL in shown
    assert URL in client.get("/notifications/").content.decode()


def test_the_form_of_a_webhook_is_shown_on_request(client: Client, hook: Webhook) -> None:
    assert "New webhook" not in client.get("/notifications/").content.decode()
    assert "New webhook" in client.get("/notifications/?new=webhook").content.decode()
    page = client.get("/notifications/").content.decode()
    assert f'action="/notifications/{hook.public_id}/test/"' in page, "tried from the list"


def test_each_way_says_its_state(client: Client, admin: User, settings: Any) -> None:
    def states() -> list[str]:
        page = BeautifulSoup(client.get("/notifications/").content, "html.parser")
        return [each.get_text(strip=True) for each in page.select(".channel > .state")]

    assert states() == ["No mail server", "Off"]
    settings.EMAIL_URL = "smtp://127.0.0.1:25"
    hook = subscriptions.add_webhook(admin, URL, ["run.finished"])
    assert states() == ["Off", "On"]
    subscriptions.change_webhook(hook, enabled=False)
    choice = subscriptions.choose_emails(admin, "ada@example.org", ["run.asks"])
    assert states() == ["Not confirmed yet", "Disabled"]
    EmailChoice.objects.filter(pk=choice.pk).update(confirmed=True)
    assert states()[0] == "On"


@pytest.mark.parametrize(
    ("change", "field"),
    [({"url": "http://127.0.0.1/"}, "url"), ({"url": ""}, "url"), ({"events": []}, "events")],
)
def test_a_mistake_is_named_at_its_field(
    client: Client, change: dict[str, Any], field: str
) -> None:
    page = client.post("/notifications/", {**TYPED, **change})
    assert page.status_code == 422 and list(page.context["form"].errors) == [field]
    assert not Webhook.objects.exists()


def test_the_log_shows_each_attempt(client: Client, admin: User, hook: Webhook) -> None:
    run = make_run(admin, "completed")
    attempts = [
        {"at": "2026-11-20T08:00:00+00:00", "status": 500, "seconds": 0.2, "error": "status 500"},
        {"at": "2026-11-20T08:00:10+00:00", "status": None, "seconds": 15, "error": "no answer"},
    ]
    row = Delivery.objects.create(
        owner=admin, webhook=hook, event="run.finished", run=run, attempts=attempts, tries=2,
        due_at=timezone.now() + timedelta(hours=1),
    )  # fmt: skip
    page = client.get(f"/notifications/{hook.public_id}/").content.decode()
    assert "20 November 2026, 08:00:00" in page and "status 500 · 0.2 s<" in page
    assert "no answer" in page and "Will be tried again" in page and run.question in page
    assert "every 1s" not in page, "nothing is about to happen"
    Delivery.objects.filter(pk=row.pk).update(state="failed")
    sent = client.post(f"/notifications/{hook.public_id}/redeliver/", {"delivery": row.public_id})
    assert sent.status_code == 302
    row.refresh_from_db()
    assert (row.state, row.tries) == ("pending", 0)
    assert "every 1s" in client.get(f"/notifications/{hook.public_id}/log/").content.decode()


def test_a_webhook_is_tested_rotated_switched_changed_and_deleted(
    client: Client, hook: Webhook
) -> None:
    place = f"/notifications/{hook.public_id}/"
    client.post(f"{place}test/")
    assert Delivery.objects.get().event == "test"
    page = client.post(f"{place}rotate/").content.decode()
    hook.refresh_from_db()
    assert hook.secret in page and hook.previous_secret not in page
    client.post(f"{place}switch/", {"disable": "1"})
    assert "Disabled by its owner." in client.get(place).content.decode()
    client.post(f"{place}switch/", {"enable": "1"})
    changed = client.post(place, {"url": f"{URL}/other", "events": ["run.asks"]})
    assert changed.status_code == 302
    hook.refresh_from_db()
    assert (hook.url, hook.events, hook.disabled_reason) == (f"{URL}/other", ["run.asks"], "")
    assert client.get(f"{place}delete/").status_code == 302, "a bookmark deletes nothing"
    client.post(f"{place}delete/")
    assert not Webhook.objects.exists() and not Delivery.objects.exists()


def test_webhooks_of_others_are_not_found(client: Client) -> None:
    other = User.objects.create(username="other")
    hook = subscriptions.add_webhook(other, URL, ["run.finished"])
    row = subscriptions.send_test(other, hook)
    place = f"/notifications/{hook.public_id}/"
    assert client.get(place).status_code == 404
    for action in ("test", "rotate", "switch", "delete", "redeliver"):
        sent = client.post(f"{place}{action}/", {"delivery": row.public_id})
        assert sent.status_code == 404
    mine = client.post("/notifications/email/redeliver/", {"delivery": row.public_id})
    assert mine.status_code == 404


def test_e_mails_are_chosen_tested_and_stopped(client: Client, admin: User, settings: Any) -> None:
    page = client.get("/notifications/email/").content.decode()
    assert "EMAIL_URL" in page
    settings.EMAIL_URL = "smtp://127.0.0.1:25"
    typed = {"address": "ada@example.org", "events": ["run.asks"]}
    assert client.post("/notifications/email/", typed).status_code == 302
    assert subscriptions.email_choice(admin).events == ["run.asks"]  # type: ignore[union-attr]
    assert "Not confirmed yet" in client.get("/notifications/").content.decode()
    row = Delivery.objects.get()
    assert (
        row.webhook is None
        and "Waiting" in client.get("/notifications/email/log/").content.decode()
    )
    assert "token" not in compose_body(row), "the log shows the body to whoever chose the address"
    link = confirm_url(EmailChoice.objects.get())
    place = link[link.index("/notifications/") :]
    stranger = Client()
    stranger.force_login(User.objects.create(username="stranger"))
    for who, address in ((stranger, place), (client, f"{place}x")):
        assert who.get(address).status_code == 302
        assert not subscriptions.email_choice(admin).confirmed  # type: ignore[union-attr]
    client.get(place)
    assert subscriptions.email_choice(admin).confirmed  # type: ignore[union-attr]
    assert "ada@example.org" in client.get("/notifications/").content.decode()
    client.post("/notifications/email/", {**typed, "events": ["run.failed"]})
    assert subscriptions.email_choice(admin).confirmed  # type: ignore[union-attr]
    client.post("/notifications/email/", {**typed, "address": "eve@example.org"})
    client.get(place)
    assert not subscriptions.email_choice(admin).confirmed  # type: ignore[union-attr]
    client.post("/notifications/email/stop/")
    assert not EmailChoice.objects.exists()
    refused = client.post("/notifications/email/", {"address": "ada", "events": ["run.asks"]})
    assert refused.status_code == 422
    for _ in range(subscriptions.MOST_TEST_MAILS):
        client.post("/notifications/email/redeliver/", {"delivery": row.public_id})
    assert Delivery.objects.count() == subscriptions.MOST_TEST_MAILS
    assert client.post("/notifications/email/", typed).status_code == 422
    assert not EmailChoice.objects.exists()
