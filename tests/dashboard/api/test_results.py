"""Evidence, sources, reports, exports, versions and threads through the API."""

from django.contrib.auth.models import User
from django.test import Client

from research.models import Run, Source, Verdict
from research.services.api_tokens import Scope
from tests.dashboard.api.conftest import client_with
from tests.dashboard.conftest import QUOTE, add_evidence, make_later


def test_evidence_has_quotes_and_its_last_verdict(api: Client, finished: Run) -> None:
    path = f"/api/v1/runs/{finished.public_id}/evidence"
    for verdict in ("accept", "reject"):
        body = {"verdict": verdict, "note": "Checked"}
        sent = api.post(f"{path}/E1/verdicts", body, content_type="application/json")
        assert sent.status_code == 201 and sent.json()["evidence"] == "E1"
    [record] = api.get(path).json()["items"]
    assert record["review"] == "rejected" and record["sources"][0]["quote"] == QUOTE
    assert record["aspect"] == "Part 1"
    assert Verdict.objects.count() == 2


def test_evidence_is_listed_by_cursor(api: Client, finished: Run) -> None:
    add_evidence(finished, 2)
    path = f"/api/v1/runs/{finished.public_id}/evidence?limit=1"
    page = api.get(path).json()
    following = api.get(f"{path}&cursor={page['next_cursor']}").json()
    assert [page["items"][0]["id"], following["items"][0]["id"]] == ["E1", "E2"]
    assert following["next_cursor"] is None


def test_a_verdict_on_missing_evidence_is_not_found(api: Client, finished: Run) -> None:
    path = f"/api/v1/runs/{finished.public_id}/evidence/E9/verdicts"
    sent = api.post(path, {"verdict": "accept"}, content_type="application/json")
    assert sent.status_code == 404


def test_sources_say_whether_they_were_read(api: Client, finished: Run) -> None:
    Source.objects.create(
        run=finished, url="https://x.test/", url_key="k", domain="x.test", status="read", round=1
    )
    page = api.get(f"/api/v1/runs/{finished.public_id}/sources").json()
    assert [(row["url"], row["status"]) for row in page["items"]] == [("https://x.test/", "read")]


def test_a_report_says_whether_it_is_stale(api: Client, finished: Run) -> None:
    report = api.get(f"/api/v1/runs/{finished.public_id}/report").json()
    assert report["markdown"].startswith("# Oaks") and report["citations"][0]["marker"] == 1
    assert report["stale"] is True


def test_a_report_is_exported(api: Client, finished: Run) -> None:
    path = f"/api/v1/runs/{finished.public_id}/exports"
    exported = api.get(f"{path}/md")
    assert exported.headers["Content-Type"].startswith("text/markdown")
    assert QUOTE in exported.content.decode()
    assert "## Quotes" not in api.get(f"{path}/md?quotes=false").content.decode()
    assert api.get(f"{path}/exe").status_code == 404


def test_a_report_is_shared_and_revoked(api: Client, finished: Run) -> None:
    path = f"/api/v1/runs/{finished.public_id}/share"
    made = api.post(path)
    assert made.status_code == 201 and api.post(path).json() == made.json()
    address = made.json()["url"]
    assert address.startswith("http://testserver/s/") and Client().get(address).status_code == 200
    assert api.delete(path).status_code == 204
    assert Client().get(address).status_code == 404


def test_a_program_shares_only_what_it_may_write(finished: Run) -> None:
    path = f"/api/v1/runs/{finished.public_id}/share"
    assert client_with(finished.owner, Scope.READ).post(path).status_code == 403
    stranger = client_with(User.objects.create_user("bob"))
    assert stranger.post(path).status_code == stranger.delete(path).status_code == 404
    finished.reports.all().delete()
    refused = client_with(finished.owner).post(path)
    assert refused.status_code == 409
    assert refused.json()["detail"] == "Only a finished report can be shared."


def test_without_a_report_there_is_nothing_to_export(api: Client, finished: Run) -> None:
    finished.reports.all().delete()
    path = f"/api/v1/runs/{finished.public_id}"
    assert api.get(f"{path}/exports/md").status_code == 409
    assert api.get(f"{path}/report").status_code == 404


def test_a_version_without_rejected_evidence_is_refused_if_none_was(
    api: Client, finished: Run
) -> None:
    path = f"/api/v1/runs/{finished.public_id}/versions"
    refused = api.post(path, {"kind": "revise"}, content_type="application/json")
    assert refused.status_code == 409 and "rejected" in refused.json()["detail"]


def test_a_report_is_made_a_table(api: Client, finished: Run) -> None:
    path = f"/api/v1/runs/{finished.public_id}/versions"
    sent = api.post(path, {"kind": "reshape", "form": "table"}, content_type="application/json")
    assert sent.status_code == 201 and sent.json()["parent"] == finished.public_id
    assert [row["id"] for row in api.get(path).json()] == [finished.public_id, sent.json()["id"]]


def test_digging_deeper_keeps_the_limit_of_the_request(api: Client, finished: Run) -> None:
    body = {"kind": "deeper", "sub_questions": ["A1"], "max_cost_usd": 0.25}
    path = f"/api/v1/runs/{finished.public_id}/versions"
    sent = api.post(path, body, content_type="application/json")
    made = Run.objects.get(public_id=sent.json()["id"])
    assert made.config["max_cost_usd"] == 0.25


def test_what_was_answered_at_once_is_researched_further(api: Client, finished: Run) -> None:
    path = f"/api/v1/runs/{finished.public_id}/versions"
    refused = api.post(path, {"kind": "further"}, content_type="application/json")
    assert refused.status_code == 409 and "was researched" in refused.json()["detail"]
    config = {**finished.config, "max_cost_usd": 0.1}
    Run.objects.filter(pk=finished.pk).update(termination_reason="known_before", config=config)
    sent = api.post(path, {"kind": "further"}, content_type="application/json")
    made = Run.objects.get(public_id=sent.json()["id"])
    assert (made.origin, made.question) == (finished, finished.question)
    assert (made.kind, made.config["max_cost_usd"]) == ("follow_up", 0.1)


def test_a_follow_up_keeps_the_lower_limit(api: Client, finished: Run) -> None:
    Run.objects.filter(pk=finished.pk).update(config={**finished.config, "max_cost_usd": 0.1})
    path = f"/api/v1/runs/{finished.public_id}/follow-ups"
    sent = api.post(path, {"question": "And yews?"}, content_type="application/json")
    made = Run.objects.get(public_id=sent.json()["id"])
    assert (made.question, made.config["max_cost_usd"]) == ("And yews?", 0.1)


def test_a_thread_has_the_newest_version_of_each_question(api: Client, finished: Run) -> None:
    """A report in another form does not replace the original."""
    later = make_later(finished, kind="reshape")
    [thread] = api.get("/api/v1/threads").json()["items"][-1:]
    assert thread["id"]
    for kind, newest in (("reshape", finished), ("revise", later)):
        Run.objects.filter(pk=later.pk).update(kind=kind)
        whole = api.get(f"/api/v1/threads/{finished.thread.public_id}").json()
        assert [row["id"] for row in whole["questions"]] == [newest.public_id]
