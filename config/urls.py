"""URL routes of the pages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, URLResolver, path
from django.urls.resolvers import RoutePattern
from django.views.i18n import set_language

from dashboard import sharing
from dashboard.automation import views as automation
from dashboard.views import (
    account,
    ask,
    citation,
    documents,
    errors,
    evidence,
    history,
    installation,
    review,
    run,
    sources,
    threads,
    what_if,
    work,
)

handler400 = "dashboard.views.errors.bad_request"
handler404 = "dashboard.views.errors.not_found"

CITATION = "runs/<slug:public_id>/citations/<int:number>"


class LateRoutes(URLResolver):
    """Routes whose module is imported by the first request below their prefix.

    The API takes as long to import as everything else. Neither commands nor Django's system checks
    need its routes, and no page reverses one of them.
    """

    def __init__(self, prefix: str, module: str, namespace: str) -> None:
        super().__init__(RoutePattern(prefix), module, app_name="ninja", namespace=namespace)
        self.url_patterns: list[URLPattern | URLResolver] = []

    def resolve(self, path: str) -> Any:
        if not self.url_patterns and self.pattern.match(path):
            self.url_patterns = import_module(self.urlconf_name).urlpatterns
        return super().resolve(path)


urlpatterns = [
    # replaces the admin's own form, which would ask for a password that the account may lack
    path("admin/login/", account.sign_in_to_admin),
    # before the other routes, since the admin's lists resolve a URL for each of their links
    path("admin/", admin.site.urls),
    LateRoutes("api/v1/", "dashboard.api.app", "api"),
    path("api/<path:rest>", errors.unknown_api_path),
    LateRoutes("v1/", "dashboard.openai_api.app", "openai"),
    path("", ask.ask_question, name="ask"),
    path("settings/", ask.ask_with_settings, name="ask_settings"),
    path("samples/<slug:slug>/", ask.try_sample, name="sample"),
    path("samples/<slug:slug>/report/", ask.read_sample, name="sample_report"),
    path("runs/", history.list_runs, name="runs"),
    path("runs/asked-before/", ask.suggest_questions, name="asked_before"),
    path("runs/<slug:public_id>/", run.show_run, name="run"),
    path("runs/<slug:public_id>/research/", run.show_research, name="run_research"),
    path("runs/<slug:public_id>/activity/", run.show_activity, name="activity"),
    path("runs/<slug:public_id>/evidence/", evidence.show_evidence, name="evidence"),
    path("runs/<slug:public_id>/sources/", sources.show_sources, name="sources"),
    path("runs/<slug:public_id>/what-if/", what_if.show_run, name="what_if_run"),
    path("queue/", work.show_work, name="work"),
    path("retry-runs/", work.retry_runs, name="work_retry"),
    path("what-if/", what_if.show_runs, name="what_if"),
    path("what-if/replay/", what_if.replay_runs, name="what_if_replay"),
    path("review/", review.list_evidence, name="review"),
    path("review/<int:pk>/", review.judge_evidence, name="judge_evidence"),
    path("sites/", sources.show_sites, name="sites"),
    path("sites/never/", sources.block_site, name="never_site"),
    path("sites/allow/", sources.unblock_site, name="allow_site"),
    path("documents/", documents.list_collections, name="collections"),
    path("documents/folder/", documents.add_folder, name="add_folder"),
    path("documents/<slug:public_id>/", documents.show_collection, name="collection"),
    path("documents/<slug:public_id>/state/", documents.show_state, name="collection_state"),
    path("documents/<slug:public_id>/file/", documents.show_file, name="show_file"),
    path("documents/<slug:public_id>/add/", documents.add_files, name="add_files"),
    path("documents/<slug:public_id>/remove/", documents.remove_file, name="remove_file"),
    path(
        "documents/<slug:public_id>/change/", documents.change_collection, name="change_collection"
    ),
    path("documents/<slug:public_id>/look/", documents.look_again, name="look_again"),
    path(
        "documents/<slug:public_id>/delete/", documents.delete_collection, name="delete_collection"
    ),
    path("runs/<slug:public_id>/desk/", run.show_actions, name="desk"),
    path("runs/<slug:public_id>/action/", run.show_action, name="action"),
    path("runs/<slug:public_id>/call/", run.show_call, name="call"),
    path("runs/<slug:public_id>/again/", threads.ask_again, name="ask_again"),
    path("runs/<slug:public_id>/answer/", run.answer_questions, name="answer"),
    path("runs/<slug:public_id>/approve/", run.approve_plan, name="approve"),
    path("runs/<slug:public_id>/send-back/", run.send_back, name="send_back"),
    path("runs/<slug:public_id>/stop/", run.stop, name="stop"),
    path("runs/<slug:public_id>/plan-by-code/", run.plan_by_code, name="plan_by_code"),
    path("runs/<slug:public_id>/finish-by-code/", run.finish_by_code, name="finish_by_code"),
    path("runs/<slug:public_id>/pause/", run.pause, name="pause"),
    path("runs/<slug:public_id>/resume/", run.resume, name="resume"),
    path("runs/<slug:public_id>/retry/", run.retry, name="retry"),
    path("runs/<slug:public_id>/dig-deeper/", run.dig_deeper, name="dig_deeper"),
    path("runs/<slug:public_id>/add-topic/", run.add_topic, name="add_topic"),
    path("runs/<slug:public_id>/drop-topic/", run.drop_topic, name="drop_topic"),
    path("runs/<slug:public_id>/instruct/", run.instruct, name="instruct"),
    path("runs/<slug:public_id>/drop-instruction/", run.drop_instruction, name="drop_instruction"),
    path("runs/<slug:public_id>/withdraw-topic/", run.withdraw_topic, name="withdraw_topic"),
    path("runs/<slug:public_id>/cancel/", run.cancel_run, name="cancel"),
    path("runs/<slug:public_id>/delete/", run.delete_run, name="delete_run"),
    path("runs/<slug:public_id>/revise/", threads.revise_report, name="revise"),
    path("runs/<slug:public_id>/reshape/", threads.reshape_report, name="reshape"),
    path("runs/<slug:public_id>/dig-further/", threads.dig_further, name="dig_further"),
    path(
        "runs/<slug:public_id>/research-further/", threads.research_further, name="research_further"
    ),
    path("runs/<slug:public_id>/follow-up/", threads.follow_up, name="follow_up"),
    path("runs/<slug:public_id>/topic/", threads.settle_topic, name="settle_topic"),
    path("threads/<slug:public_id>/", threads.show_thread, name="thread"),
    *(
        path(
            f"threads/<slug:public_id>/{change}/",
            history.change_thread,
            {"change": change},
            name=f"{change}_thread",
        )
        for change in history.CHANGES
    ),
    path("runs/<slug:public_id>/export/<slug:extension>", run.export_run, name="export"),
    path("runs/<slug:public_id>/share/", sharing.share_report, name="share"),
    path("runs/<slug:public_id>/share/stop/", sharing.stop_sharing, name="stop_sharing"),
    path("s/<slug:token>/", sharing.show_report, name="shared"),
    path("s/<slug:token>/citations/<int:number>/", sharing.show_citation, name="shared_citation"),
    path("s/<slug:token>/export/<slug:extension>", sharing.download, name="shared_export"),
    path(f"{CITATION}/", citation.show_citation, name="citation"),
    path(f"{CITATION}/judge/", citation.judge_citation, name="judge_citation"),
    path("tokens/", account.show_tokens, name="tokens"),
    path("tokens/<slug:public_id>/revoke/", account.revoke_token, name="revoke_token"),
    path("installation/", installation.show_settings, name="installation"),
    path("installation/disconnect/", installation.disconnect, name="disconnect_model"),
    path("installation/qualify/", installation.qualify_verifier, name="qualify_verifier"),
    path("installation/try/", installation.try_settings, name="try_installation"),
    path("notifications/", automation.show_notifications, name="notifications"),
    path("notifications/email/", automation.show_emails, name="emails"),
    path("notifications/email/log/", automation.show_email_log, name="email_log"),
    path("notifications/email/confirm/", automation.confirm_email, name="confirm_email"),
    path("notifications/email/test/", automation.test_emails, name="test_emails"),
    path("notifications/email/stop/", automation.stop_emails, name="stop_emails"),
    path("notifications/email/redeliver/", automation.redeliver, name="email_redeliver"),
    path("notifications/<slug:public_id>/", automation.show_webhook, name="webhook"),
    path("notifications/<slug:public_id>/log/", automation.show_webhook_log, name="webhook_log"),
    *(
        path(f"notifications/<slug:public_id>/{name}/", view, name=f"webhook_{name}")
        for name, view in automation.ACTIONS.items()
    ),
    path("schedules/", automation.show_schedules, name="schedules"),
    path("schedules/<slug:public_id>/", automation.show_schedule, name="schedule"),
    path("schedules/<slug:public_id>/pause/", automation.pause_schedule, name="pause_schedule"),
    path("schedules/<slug:public_id>/delete/", automation.delete_schedule, name="delete_schedule"),
    path("language/", login_not_required(set_language), name="set_language"),
    path("sign-in/", account.SignIn.as_view(), name="sign_in"),
    path("sign-in/<str:token>", account.sign_in_link, name="sign_in_link"),
    path("sign-out/", account.sign_out, name="sign_out"),
]
