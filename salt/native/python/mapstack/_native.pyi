"""The native part of the package."""

from typing import Any, Optional, Protocol, Union, final

__version__: str

#: The entries of a dict that were set, and the keys that are gone.
Changed = tuple[dict[Any, Any], list[Any]]

class Caller(Protocol):
    """What Rust asks on the way, on the thread of the caller."""

    def has(self, name: str) -> bool:
        """Whether Salt has a function."""

    def has_module(self, module: str) -> bool:
        """Whether Salt has any function of a module."""

    def replaces(self, name: str) -> bool:
        """Whether Salt's own function, or module, answers although it is built in."""

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of Salt. ``NotImplemented`` means that there is none."""

    def change(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a post-map template that is not Jinja, and return ``mapdata`` as it leaves it."""

    def cache_file(self, path: str, saltenv: str) -> Optional[str]:
        """The path on disk of a file of the master, or ``None``. Only engines over remote files ask."""

    def list_files(self, saltenv: str) -> list[str]:
        """All files of a saltenv. Only engines over remote files ask."""

    def envs(self) -> list[str]:
        """All saltenvs. Only engines over remote files ask."""

    def warn(self, message: str) -> None:
        """Hear a warning."""

@final
class Facts:
    """A minion's grains, pillar and options, converted once."""

    def __new__(
        cls,
        grains: dict[Any, Any],
        pillar: dict[Any, Any],
        opts: dict[Any, Any],
        id: Optional[str] = None,
        like: Optional[Facts] = None,
    ) -> Facts:
        """``like`` are earlier facts: what did not change since is not converted again."""

    @property
    def left_out(self) -> list[str]:
        """The paths of what is not data, and is missing."""

@final
class Engine:
    """A file server and what was parsed of its files. Minions and threads share it."""

    @staticmethod
    def local(opts: dict[Any, Any], functions: bool = True, version: Optional[str] = None) -> Engine:
        """An engine over the directories that options of Salt name. Without ``functions``, it calls none of Salt.

        ``version`` is the version of Salt to follow, such as ``3006.9``; by default the latest.
        """

    @staticmethod
    def remote(version: Optional[str] = None) -> Engine:
        """An engine over the files that its callers fetch."""

    @property
    def warnings(self) -> list[str]:
        """What there is to say about the options that name the files."""

    def data(
        self,
        facts: Facts,
        tpldir: str,
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
        **kwargs: Any,
    ) -> dict[Any, Any]:
        """``map.data``: the configuration of a formula."""

    def stack(
        self,
        facts: Facts,
        tpldir: str,
        sources: Union[list[str], tuple[str, ...]],
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
        **kwargs: Any,
    ) -> Any:
        """``map.stack``: the layers of some definitions."""

    def tofs(
        self,
        facts: Facts,
        tpldir: str,
        source_files: Any,
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
        **kwargs: Any,
    ) -> list[str]:
        """``map.tofs``: the candidates for a managed file."""

    def jinja(
        self,
        facts: Facts,
        source: str,
        variables: dict[str, Any],
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
    ) -> tuple[str, Optional[Changed], Optional[Changed]]:
        """What a template prints, and its changes of the grains and the pillar."""

    def explain(
        self,
        facts: Facts,
        formula: str,
        path: list[Any],
        caller: Optional[Caller] = None,
        saltenv: str = "base",
    ) -> dict[str, dict[str, Any]]:
        """Where each value of a formula's configuration at or below a path comes from."""

    def sources(
        self,
        facts: Facts,
        formula: str,
        caller: Optional[Caller] = None,
        saltenv: str = "base",
    ) -> list[dict[str, Any]]:
        """What a formula's configuration looks for."""

    def lint(self, formula: str, saltenv: str = "base") -> list[dict[str, Any]]:
        """What is wrong with a formula, on every platform that is built in. For engines over directories."""

@final
class ExtPillar:
    """An external pillar with its arguments, and what was parsed of its files. Minions and threads share it."""

    def __new__(cls, name: str, arguments: Any, version: Optional[str] = None) -> ExtPillar:
        """``arguments`` are what stands behind the name in ``ext_pillar``; ``version`` is the version of Salt."""

    def give(
        self, facts: Facts, caller: Optional[Caller] = None
    ) -> tuple[Any, Optional[Exception], Optional[Changed]]:
        """What it returns for a minion, or the exception that it ends in, and what it changed in the pillar in place."""
