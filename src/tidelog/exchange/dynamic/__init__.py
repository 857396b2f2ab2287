"""Dynamic data exchange: materialisation on many workers without rounds, no fact stored twice, no instance fired twice.

Algorithms 1 and 2 of "Datalog Materialisation in Distributed RDF Stores with Dynamic Data Exchange" (Ajileye, Motik,
Horrocks), in batches, over columnar stores; `docs/dynamic-exchange.md` sets their lines beside ours. To read it:
`bits`, `clocks`, `occurrences`, `partition` and `graph_partition` (what a worker holds), `given_sizes` (join orders),
`messages`, `known_places`; `partial_matches` (PAR), `owned_facts` (FCT) and `tours` (who is told first); `termination`
with `termination_ring` and `dijkstra_scholten`; `gathering` (what one worker evaluates for all); `server`, which puts
them together; `loading` and `materialise` for all workers in one process, `introductions` and `async_worker` for
workers in their own.
"""
