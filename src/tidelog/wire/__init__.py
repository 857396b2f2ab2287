"""Between processes: who may speak, what is said, who is alive, and how a process is started.

```
 rendezvous ◀── questions and answers, signs of life ──▶ worker (a child, or a task of Spark)
                                                          ▲
                                    others of the session ┘ (each worker listens at an address of its own)
```

To be read in this order: `keys.py` is who may speak; `sockets.py` are a process's sockets, all behind these keys.
`codec.py` makes JSON of dataclasses and back, `problems.py` diagnostics and `tables.py` Arrow tables that travel;
`messages.py` is what they are put together to. `rendezvous.py` is the end that workers connect to, `life.py` the sign
of life that a worker gives, `children.py` starts workers that are processes of this one.

Which messages there are beyond those that everybody understands is said by who uses this: `spark/resident/commands.py`,
`net/runtime/messages.py`.
"""
