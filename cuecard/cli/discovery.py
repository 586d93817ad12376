"""Finds commands by file: `cli/call.py` is `cuecard call`, `cli/bench/pool.py` is `cuecard bench pool`."""

import ast
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

from cuecard.errors import CuecardError
from cuecard.settings import Settings
from sops import ProcedureInvalid, ProcedureNotFound

_PLUMBING = {"discovery", "output"}
_OURS = (CuecardError, ProcedureInvalid, ProcedureNotFound)


class _Folder(TyperGroup):
    """A group whose commands are the modules of one package; nothing is imported until it is called."""

    def __init__(self, package: str, folder: Path, name: str, doc: str) -> None:
        super().__init__(name=name, help=doc, no_args_is_help=True)
        self.package = package
        self.folder = folder

    def _modules(self) -> dict[str, tuple[str, bool]]:
        return {
            info.name.rstrip("_").replace("_", "-"): (info.name, info.ispkg)
            for info in pkgutil.iter_modules([str(self.folder)])
            if not info.name.startswith("_") and info.name not in _PLUMBING
        }

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self._modules())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module, is_package = self._modules().get(cmd_name, ("", False))
        if not module:
            return None
        if is_package:
            folder = self.folder / module
            return _Folder(f"{self.package}.{module}", folder, cmd_name, _first_line(folder / "__init__.py"))
        app = typer.Typer(add_completion=False)
        app.command(name=cmd_name)(importlib.import_module(f"{self.package}.{module}").command)
        return typer.main.get_command(app)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Promises are read from the files without importing them, so that help is instant."""
        console = Console(highlight=False)
        console.print(f"\n Usage: [bold]{ctx.command_path} COMMAND[/bold] ...\n\n {self.help}\n", markup=True)
        table = Table(box=None, padding=(0, 2), show_header=False)
        for name, (module, is_package) in sorted(self._modules().items()):
            path = self.folder / module / "__init__.py" if is_package else self.folder / f"{module}.py"
            table.add_row(f"[cyan]{name}[/cyan]", _first_line(path))
        console.print(table)
        console.print(f"\n `{ctx.command_path} COMMAND --help` says more.\n", markup=False)


def _first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def main(argv: list[str] | None = None) -> Any:
    """Run the command line; our own errors become one clear line and exit code 2."""
    root = _Folder("cuecard.cli", Path(__file__).parent, "cuecard", "Thinks ahead for a voice that can't wait.")
    try:
        return root(args=argv, prog_name="cuecard")
    except _OURS as error:
        _complain(str(error))
    except ValidationError as error:
        if error.title != Settings.__name__:
            raise
        for wrong in error.errors():
            name = str(wrong["loc"][0])
            variable = name if name.isupper() else f"{Settings.model_config['env_prefix']}{name}".upper()
            _complain(f"{variable}={wrong['input']}: {wrong['msg']}. Mend or unset this environment variable.")
    sys.exit(2)


def _complain(text: str) -> None:
    Console(stderr=True).print(f"cuecard: {text}", style="red", markup=False, highlight=False)
