"""The bars of stages that Spark draws on a terminal, without one for a task that never ends.

Spark shows the stages that were submitted some time ago (`spark.ui.showConsoleProgress`), and has no way to leave one
out but to know no such time. So the time is taken from the stages of a resident job while it serves, and given back
before it ends; Spark's page calls them pending meanwhile. This is done only where Spark draws bars. None of it is
public: whatever goes wrong, the bar stays.
"""

from __future__ import annotations

import contextlib
from typing import Any


class HiddenStages:
    """The stages of a job that Spark draws no bar for, until they are shown again."""

    def __init__(self) -> None:
        self._hidden: list[tuple[Any, Any]] = []  # what Spark knows of a stage, and the time that it knew

    def hide(self, context: Any, tag: str) -> None:
        """Draw no bars of jobs with a tag, if Spark draws any."""
        if context is None:
            return
        with contextlib.suppress(Exception):
            scala = context._jsc.sc()
            if not scala.progressBar().isDefined():
                return
            for info in running_stages(scala, tag):
                self._hidden.append((info, info.submissionTime()))
                _set_time(info, context._jvm.scala.Option.empty())
            scala.progressBar().get().finishAll()  # clears the line

    def show(self) -> None:
        """Let Spark know again when they were submitted."""
        for info, time in self._hidden:
            with contextlib.suppress(Exception):
                _set_time(info, time)
        self._hidden.clear()


def running_stages(scala: Any, tag: str) -> list[Any]:
    """What Spark knows of the stages of jobs with a tag."""
    tracker, known = scala.statusTracker(), scala.dagScheduler().stageIdToStage()
    stages = [stage for job in tracker.getJobIdsForTag(tag) for stage in tracker.getJobInfo(job).get().stageIds()]
    return [known.get(stage).get().latestInfo() for stage in stages if known.get(stage).isDefined()]


def _set_time(info: Any, time: Any) -> None:
    getattr(info, "submissionTime_$eq")(time)
