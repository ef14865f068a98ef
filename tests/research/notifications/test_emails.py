"""E-mails through a real mail server on loopback."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from django.contrib.auth.models import AbstractUser

from research.models import Delivery, Report, Run
from research.notifications import subscriptions
from research.notifications.composing import write_mail
from research.notifications.dispatcher import Dispatcher
from research.services.errors import ServiceError
from tests.research.collections import apart
from tests.research.notifications.conftest import Clock, end_run, only_delivery
from tests.support.serving import closed_place

pytestmark = pytest.mark.django_db(transaction=True)


class MailServer:
    """Collects messages; refuses with `refusal` if it is set."""

    def __init__(self) -> None:
        self.messages: list[email.message.EmailMessage] = []
        self.refusal = ""

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refusal:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        self.messages.append(email.message_from_bytes(content, policy=email.policy.default))
        return "250 OK"


def use_server(settings: Any, place: str) -> None:
    host, _, port = place.partition(":")
    settings.EMAIL_URL = f"smtp://{place}"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = host, int(port)
    settings.DEFAULT_FROM_EMAIL = "Plumbline <research@example.org>"


@pytest.fixture
def mail_server(settings: Any) -> Iterator[MailServer]:
    handler = MailServer()
    port = int(closed_place().partition(":")[2])
    controller = Controller(handler, hostname="127.0.0.1", port=port)
    controller.start()
    use_server(settings, f"127.0.0.1:{port}")
    yield handler
    controller.stop()


def choose_own(ada: AbstractUser, *events: str) -> None:
    """Mail to the account's own address, which needs no confirmation."""
    ada.email = "ada@example.org"
    subscriptions.choose_emails(ada, ada.email, events)


@pytest.fixture
def ended(ada: AbstractUser, run: Run) -> Run:
    choose_own(ada, "run.finished", "run.asks")
    Report.objects.create(
        run=run, number=1, markdown="# Eggs", short_answer="Gently, <b>over</b> low heat.",
        evidence_digest="0",
    )  # fmt: skip
    return end_run(run)


async def deliver(dispatcher: Dispatcher) -> None:
    await dispatcher.step()
    await dispatcher.settle()


@pytest.mark.requirement("F28")
async def test_a_finished_run_is_mailed_as_text_and_html(
    dispatcher: Dispatcher, ended: Run, mail_server: MailServer, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://research.example.org/"
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert row.state == "delivered", row.attempts
    [message] = mail_server.messages
    assert message["To"] == "ada@example.org"
    assert message["Subject"] == "Research finished: How are eggs scrambled?"
    assert message["Message-ID"] == f"<{row.public_id}@example.org>"
    text, html = (part.get_content() for part in message.iter_parts())
    link = f"https://research.example.org/runs/{ended.public_id}/"
    for part in (text, html):
        assert link in part and "Nothing found" in part and "How are eggs scrambled?" in part
    assert "Gently, <b>over</b> low heat." in text
    assert "Gently, &lt;b&gt;over&lt;/b&gt; low heat." in html


async def test_a_server_that_is_away_is_shown_and_tried_again(
    dispatcher: Dispatcher, ended: Run, settings: Any, clock: Clock
) -> None:
    use_server(settings, closed_place())
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert row.state == "pending"
    assert row.attempts[0]["error"] == "no connection to the mail server could be made"
    assert row.due_at > clock.now


async def test_a_refused_address_is_shown_and_not_tried_again(
    dispatcher: Dispatcher, ended: Run, mail_server: MailServer
) -> None:
    mail_server.refusal = "550 No such user here"
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert row.state == "failed"
    assert row.attempts[0]["status"] == 550
    assert row.attempts[0]["error"] == "the address was refused: No such user here"


async def test_a_full_mailbox_is_tried_again(
    dispatcher: Dispatcher, ended: Run, mail_server: MailServer, clock: Clock
) -> None:
    mail_server.refusal = "452 Mailbox full"
    await deliver(dispatcher)
    mail_server.refusal = ""
    clock.forward(60)
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert [each["status"] for each in row.attempts] == [452, None]
    assert row.state == "delivered" and len(mail_server.messages) == 1


async def test_without_a_mail_server_the_log_says_so(dispatcher: Dispatcher, ended: Run) -> None:
    await deliver(dispatcher)
    assert "EMAIL_URL" in (await apart(only_delivery)).attempts[0]["error"]


async def test_whoever_stops_e_mails_gets_none_that_are_waiting(
    dispatcher: Dispatcher, ada: AbstractUser, ended: Run, mail_server: MailServer
) -> None:
    await apart(subscriptions.stop_emails, ada)
    await deliver(dispatcher)
    assert (await apart(only_delivery)).state == "failed" and not mail_server.messages


async def test_a_test_is_mailed(
    dispatcher: Dispatcher, ada: AbstractUser, mail_server: MailServer
) -> None:
    await apart(choose_own, ada, "run.finished")
    await apart(subscriptions.send_test, ada)
    await deliver(dispatcher)
    assert mail_server.messages[0]["Subject"] == "Test from Plumbline"


@pytest.mark.requirement("F28")
async def test_an_address_gets_a_link_and_nothing_else_until_it_is_confirmed(
    dispatcher: Dispatcher, ada: AbstractUser, ended: Run, mail_server: MailServer, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://research.example.org/"
    await apart(subscriptions.choose_emails, ada, "other@example.org", ["run.finished"])
    await deliver(dispatcher)
    await apart(end_run, ended, "failed")
    await deliver(dispatcher)
    states = await apart(lambda: dict(Delivery.objects.values_list("event", "state")))
    assert states == {"run.finished": "failed", "test": "delivered"}
    [message] = mail_server.messages
    assert message["To"] == "other@example.org"
    assert message["Subject"] == "Confirm your e-mail address"
    for part in message.iter_parts():
        link = "https://research.example.org/notifications/email/confirm/?token="
        assert link in part.get_content()


async def test_a_link_is_mailed_only_to_the_address_that_it_confirms(
    dispatcher: Dispatcher, ada: AbstractUser, mail_server: MailServer
) -> None:
    await apart(subscriptions.choose_emails, ada, "victim@example.org", ["run.finished"])
    first = await apart(only_delivery)
    await apart(subscriptions.choose_emails, ada, "mine@example.org", ["run.finished"])
    await apart(Delivery.objects.exclude(pk=first.pk).delete)
    await deliver(dispatcher)
    await apart(subscriptions.redeliver, first)
    await deliver(dispatcher)
    assert [each["To"] for each in mail_server.messages] == ["mine@example.org"] * 2
    await apart(subscriptions.choose_emails, ada, "victim@example.org", ["run.finished"])
    for message in mail_server.messages:
        told = message.get_body(("plain",)).get_content()
        token = told.partition("?token=")[2].split()[0]
        with pytest.raises(ServiceError):
            await apart(subscriptions.confirm_address, ada, token)


async def test_a_question_has_what_is_asked(
    dispatcher: Dispatcher, ada: AbstractUser, run: Run, mail_server: MailServer
) -> None:
    await apart(choose_own, ada, "run.asks")
    plan = {"questions": ["Which eggs?"]}
    await apart(lambda: end_run(run, "awaiting_clarification", plan=plan))
    await deliver(dispatcher)
    [message] = mail_server.messages
    assert message["Subject"].startswith("Your decision is needed")
    assert "- Which eggs?" in message.get_body(("plain",)).get_content()


def mail_of_schedule(new: list[dict[str, str]] | None, **run: object) -> Any:
    facts = {
        "question": "Q?", "status": "completed", "trust": "answered", "answer": "The answer.",
        "analyst": "extractive",
        "text": "", "questions": [], "url": "http://here/runs/a/", **run,
    }  # fmt: skip
    schedule = {"only_new": True, "new": new, "url": "http://here/schedules/b/"}
    body = {"type": "schedule.result", "data": {"run": facts, "schedule": schedule}}
    return write_mail(body)


def test_a_mail_shows_code_without_its_backticks() -> None:
    mail = mail_of_schedule(None, question="Is `a` set?", answer="Yes, `a` is.")
    assert mail.subject == "Research finished: Is a set?"
    assert "Yes, a is." in mail.text and "`" not in mail.text + mail.html


def test_only_what_is_new_is_mailed() -> None:
    found = {"claim": "A claim.", "quote": "A quote.", "title": "T", "url": "https://t.example/"}
    new = mail_of_schedule([found])
    assert new.subject == "New findings: Q?"
    assert "A claim." in new.text and "“A quote.”" in new.html
    assert "The answer." not in new.text + new.html
    assert mail_of_schedule([]).subject == "Nothing new: Q?"
    first = mail_of_schedule(None)
    assert first.subject == "Research finished: Q?" and "The answer." in first.text
    failed = mail_of_schedule(None, status="failed", text="It broke.", trust=None, answer="")
    assert failed.subject == "Research failed: Q?" and "It broke." in failed.html
