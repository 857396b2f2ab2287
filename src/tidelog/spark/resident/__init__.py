"""The columnar executor on Spark: a store that lives in a task of a background job.

```
 driver:  columnar_session ── rendezvous (commands, heartbeats) ──┐
             │ submits                                            ▼
             └── job ── barrier task ── worker: LocalSession, exchange (puts and gets)
 other tasks: push facts, fetch rows ──────────────────────────────▲
```

To be read in this order (`parts.py` is for several workers): `commands.py` is what the driver tells a worker, and
`transfers.py` what tasks say to its exchange; how these travel is in `tidelog.wire`. `worker.py` carries out
commands. `exchange.py` is where it takes facts from tasks (`gathering.py` enters those of files as they come) and
hands rows to them; `tasks.py` is what those tasks run. On the driver, `job.py` submits and watches the Spark job (of
which `bars.py` hides the bar on a terminal), `own_process.py` has the workers of a Spark that a command has started
for itself, which are no tasks; `crew.py` starts and replaces workers, `common_place.py` sees to it that driver and
worker mean one place by a state directory, and `history.py` is what a worker that was lost has done. `results.py`
makes DataFrames of what a worker holds, and `columnar_session.py` is the session in front of it all.
"""
