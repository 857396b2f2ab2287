"""`python -m tidelog …`, and what spark-submit is given: `spark-submit …/tidelog/__main__.py run program.dl`."""

from tidelog.cli.main import main

main()
