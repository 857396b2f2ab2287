"""Spark that does not start, as users of the command see it: a message, and never a page of Java or Python."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

TINY = ".decl p(x: number)\np(1).\n.output p\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "p.dl").write_text(TINY)
    return tmp_path / "p.dl"


def run(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, and no copy of this one, which may have Spark."""
    command = [sys.executable, "-m", "tidelog", "run", str(program), *options]
    return subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=False)


def failing(program: Path, *options: str) -> str:
    """What the command says, which is all there is."""
    done = run(program, *options)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "\tat " not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2, done.stderr
    return done.stderr


def test_a_java_home_that_is_not_there(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere/jdk")
    said = failing(program)
    assert "error[TL1213]: JAVA_HOME is /nowhere/jdk, and there is no Java: /nowhere/jdk/bin/java cannot be run" in said
    assert "--local" in said
    assert "master" not in said


def test_no_java_at_all(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(program.parent))
    assert "error[TL1213]: Spark needs Java 17 or newer, and there is none on this machine" in failing(program)


def test_a_java_that_is_too_old(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = program.parent / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        "#!/bin/sh\n"
        "echo 'Error: LinkageError occurred while loading main class org.apache.spark.launcher.Main' >&2\n"
        "echo '\tjava.lang.UnsupportedClassVersionError: org/apache/spark/launcher/Main has been compiled by a more "
        "recent version of the Java Runtime (class file version 61.0), this version of the Java Runtime only "
        "recognizes class file versions up to 55.0' >&2\nexit 1\n"
    )
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(java.parents[1]))
    assert f"error[TL1213]: Spark needs Java 17 or newer, and {java} is Java 11" in failing(program)


def test_a_java_that_fails_for_another_reason_leaves_what_it_wrote(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = program.parent / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'Error: Could not find or load main class org.apache.Nobody' >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(java.parents[1]))
    said = failing(program)
    assert "error[TL1215]: Spark did not start on local[*]: Error: Could not find or load main class" in said
    log = Path(said.partition("all that Spark wrote is in ")[2].partition(";")[0])
    assert "org.apache.Nobody" in log.read_text()
    log.unlink()


def test_a_port_at_which_nobody_listens_is_known_at_once(program: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    said = failing(program, "--master", f"spark://127.0.0.1:{port}")
    assert f"error[TL1215]: Spark did not start: no master answers at 127.0.0.1:{port} (connection refused)" in said


@pytest.mark.parametrize("master", ["", "spark://host", "spark://:7077", "spark://host:port"])
def test_what_is_no_address_of_a_master(program: Path, master: str) -> None:
    assert f"error[TL1215]: Spark did not start: `{master}` is no master" in failing(program, "--master", master)


def test_a_master_that_spark_does_not_know(program: Path) -> None:
    said = failing(program, "--master", "nonsense")
    assert "error[TL1215]: Spark did not start: `nonsense` is no master that it knows" in said
    assert "spark://host:7077" in said


def test_a_wrong_program_does_not_wait_for_spark(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere/jdk")
    program.write_text("p(1).\n")
    assert "TL1213" not in run(program).stderr
