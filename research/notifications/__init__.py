"""Notifications about runs, by webhook and e-mail.

`outbox` stores them in the transaction that changes a run, `dispatcher` delivers them, `webhooks`
and `emails` are what people choose.
"""
