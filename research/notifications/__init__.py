"""Notifications about runs, by webhook and e-mail.

`outbox` stores them in the transaction that changes a run, `dispatcher` delivers them, and
`subscriptions` are what people choose.
"""
