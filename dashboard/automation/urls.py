"""URL routes of the pages Notifications and Schedules."""

from __future__ import annotations

from django.urls import path

from dashboard.automation import notification_views as notifications
from dashboard.automation import schedule_views as schedules

urlpatterns = [
    path("notifications/", notifications.show_notifications, name="notifications"),
    path("notifications/email/", notifications.show_emails, name="emails"),
    path("notifications/email/log/", notifications.show_email_log, name="email_log"),
    path("notifications/email/confirm/", notifications.confirm_email, name="confirm_email"),
    path("notifications/email/test/", notifications.test_emails, name="test_emails"),
    path("notifications/email/stop/", notifications.stop_emails, name="stop_emails"),
    path("notifications/email/redeliver/", notifications.redeliver, name="email_redeliver"),
    path("notifications/<slug:public_id>/", notifications.show_webhook, name="webhook"),
    path("notifications/<slug:public_id>/log/", notifications.show_webhook_log, name="webhook_log"),
    *(
        path(f"notifications/<slug:public_id>/{name}/", view, name=f"webhook_{name}")
        for name, view in notifications.ACTIONS.items()
    ),
    path("schedules/", schedules.show_schedules, name="schedules"),
    path("schedules/<slug:public_id>/", schedules.show_schedule, name="schedule"),
    path("schedules/<slug:public_id>/pause/", schedules.pause_schedule, name="pause_schedule"),
    path("schedules/<slug:public_id>/delete/", schedules.delete_schedule, name="delete_schedule"),
]
