"""The columnar executor on Spark: a store that lives in a task of a background job.

```
 driver:  session ── rendezvous (commands, heartbeats) ──┐
             │ submits                                    ▼
             └── job ── barrier task ── worker: LocalSession, exchange (puts and gets)
 other tasks: push facts, fetch rows ──────────────────────▲
```

`rendezvous.py` is the driver's end of the socket and `worker.py` the task's; `messages.py` is what they say, `keys.py`
who may say it. `exchange.py` is where the worker takes encoded facts from tasks and hands rows to them; `tasks.py` is
what those tasks run. `job.py` submits and watches the Spark job, `session.py` is the session in front of it all.
"""
