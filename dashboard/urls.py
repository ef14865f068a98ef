"""The addresses of the pages."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import path

from dashboard.views import (
    account,
    ask,
    citation,
    documents,
    exports,
    installation,
    run,
    sources,
    threads,
)
from dashboard.views.sending import by_form

handler400 = "dashboard.views.errors.bad_request"

CITATION = "runs/<slug:public_id>/citations/<int:number>"

urlpatterns = [
    # In the place of the admin's own form, which asks for a password that nobody may have.
    path("admin/login/", account.sign_in_to_admin),
    # First, for the lists of the admin resolve an address for each of their links.
    path("admin/", admin.site.urls),
    path("", ask.ask, name="ask"),
    path("settings/", ask.ask_with_settings, name="ask_settings"),
    path("samples/<slug:slug>/", ask.try_sample, name="sample"),
    path("runs/", ask.list_runs, name="runs"),
    path("runs/<slug:public_id>/", run.show_run, name="run"),
    path("runs/<slug:public_id>/activity/", run.show_activity, name="activity"),
    path("runs/<slug:public_id>/evidence/", run.show_evidence, name="evidence"),
    path("runs/<slug:public_id>/sources/", sources.show_sources, name="sources"),
    path("sites/", sources.show_sites, name="sites"),
    path("sites/never/", sources.never, name="never_site"),
    path("sites/allow/", sources.allow, name="allow_site"),
    path("documents/", documents.list_collections, name="collections"),
    path("documents/folder/", documents.add_folder, name="add_folder"),
    path("documents/<slug:public_id>/", documents.show_collection, name="collection"),
    path("documents/<slug:public_id>/state/", documents.show_state, name="collection_state"),
    path("documents/<slug:public_id>/add/", documents.add_files, name="add_files"),
    path("documents/<slug:public_id>/remove/", documents.remove_file, name="remove_file"),
    path("documents/<slug:public_id>/change/", documents.change, name="change_collection"),
    path("documents/<slug:public_id>/look/", documents.look_again, name="look_again"),
    path("documents/<slug:public_id>/delete/", documents.delete, name="delete_collection"),
    path("runs/<slug:public_id>/desk/", run.desk, name="desk"),
    path("runs/<slug:public_id>/answer/", run.answer, name="answer"),
    path("runs/<slug:public_id>/approve/", run.approve, name="approve"),
    path("runs/<slug:public_id>/send-back/", run.send_back, name="send_back"),
    path("runs/<slug:public_id>/stop/", run.stop, name="stop"),
    path("runs/<slug:public_id>/pause/", run.pause, name="pause"),
    path("runs/<slug:public_id>/resume/", run.resume, name="resume"),
    path("runs/<slug:public_id>/retry/", run.retry, name="retry"),
    path("runs/<slug:public_id>/dig-deeper/", run.dig_deeper, name="dig_deeper"),
    path("runs/<slug:public_id>/add-topic/", run.add_topic, name="add_topic"),
    path("runs/<slug:public_id>/drop-topic/", run.drop_topic, name="drop_topic"),
    path("runs/<slug:public_id>/cancel/", run.cancel, name="cancel"),
    path("runs/<slug:public_id>/delete/", run.delete, name="delete_run"),
    path("runs/<slug:public_id>/revise/", threads.revise, name="revise"),
    path("runs/<slug:public_id>/reshape/", threads.reshape, name="reshape"),
    path("runs/<slug:public_id>/dig-further/", threads.dig_further, name="dig_further"),
    path("runs/<slug:public_id>/follow-up/", threads.follow_up, name="follow_up"),
    path("runs/<slug:public_id>/topic/", threads.settle_topic, name="settle_topic"),
    path("threads/<slug:public_id>/", threads.show_thread, name="thread"),
    path("runs/<slug:public_id>/export/<slug:extension>", exports.export_run, name="export"),
    path(f"{CITATION}/", citation.show_citation, name="citation"),
    path(f"{CITATION}/judge/", citation.judge_citation, name="judge_citation"),
    path("installation/", installation.show_settings, name="installation"),
    path("installation/try/", installation.try_settings, name="try_installation"),
    path("sign-in/", account.SignIn.as_view(), name="sign_in"),
    path("sign-in/<str:token>", account.sign_in_link, name="sign_in_link"),
    path("sign-out/", by_form(LogoutView.as_view()), name="sign_out"),
]
