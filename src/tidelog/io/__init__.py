"""Facts in, tuples out: files and Python data as Arrow tables, and Arrow tables as words of the store.

    bad = BadRows(skip=False)
    table = read_facts(info, types, directive, folder, bad)     # a pyarrow.Table, one column per attribute
    read_inputs([(info, directive), …], types, folder, bad)     # many, one by one; all errors of all files at once
    table = table_of(rows_or_columns_or_data_frame, info, types)
    table = given_table(path_or_data, info, types, directive, bad)
    words = encode(table, info, types, database)                # int64[n, arity]
    table = decode(words, info, types, database)
    warnings = write_relation(info, types, table, directive, folder)
    bad.report()                                                # what was skipped, and other warnings
    size_line(name, count)                                      # .printsize

A column is int64, uint64 or float64 for number, unsigned and float; text for symbols, and for records and ADTs in
Soufflé's syntax. The facts of a relation without attributes are a table without columns that has one row or none.

To be read in this order:

- Where facts are: `place.py`, `folders.py`, `streams.py` (`formats.py`, beside this folder, has all formats).
- Facts of files: `read.py`; `text_read.py` with `text_lines.py` for what is malformed, `arrow_files.py`,
  `json_facts.py`, `sqlite_facts.py`; `ahead.py` reads the next while one is entered; `arrow_memory.py` sees to it that
  threads of Arrow hold no memory of Python's.
- Facts of Python: `given.py`, `tables.py`, `record_values.py`. Whatever has names goes through `columns.py`, and what
  is wrong into `bad_rows.py`.
- Values: `numbers.py`, `record_text.py`, `flat_records.py`, `distinct.py`; `codec.py`, from tables to words and back.
- Results: `write.py`, `order.py`, `text_write.py`, `sizes.py`, `atomic.py`.
"""

from tidelog.io.bad_rows import BadRows, FactLine
from tidelog.io.codec import decode, encode
from tidelog.io.given import given_table
from tidelog.io.read import empty_table, read_facts, read_inputs
from tidelog.io.sizes import size_line
from tidelog.io.tables import nullary_table, table_of
from tidelog.io.write import write_relation

__all__ = [
    "BadRows",
    "FactLine",
    "decode",
    "empty_table",
    "encode",
    "given_table",
    "nullary_table",
    "read_facts",
    "read_inputs",
    "size_line",
    "table_of",
    "write_relation",
]
