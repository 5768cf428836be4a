"""The native part of the package."""

from typing import Any, Callable, Optional, Protocol, Union, final, type_check_only

__all__ = ["Engine", "ExtPillar", "Facts", "__version__"]

__version__: str

#: The entries of a dict that were set, and the keys that are gone.
_Changed = tuple[dict[Any, Any], list[Any]]

@type_check_only
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
    def local(opts: dict[Any, Any], version: Optional[str] = None) -> Engine:
        """An engine over the directories that options of Salt name.

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
        hide: Optional[Callable[[Any], Any]] = None,
        **kwargs: Any,
    ) -> dict[Any, Any]:
        """
        ``map.data``: the configuration of a formula.

        ``hide`` is called with each dict or list of the result that is a piece of the pillar, and returns what takes
        its place.
        """

    def stack(
        self,
        facts: Facts,
        tpldir: str,
        sources: Union[list[str], tuple[str, ...]],
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
        hide: Optional[Callable[[Any], Any]] = None,
        **kwargs: Any,
    ) -> Any:
        """``map.stack``: the layers of some definitions; ``hide`` as above."""

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

    def map(
        self,
        facts: Facts,
        formula: str,
        template: Optional[str] = None,
        variable: Optional[str] = None,
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
    ) -> Any:
        """What a formula's ``map.jinja``, or another ``template`` in its directory, exports.

        Without ``variable`` it is ``mapdata``; else the name that the formula's own templates import most often; else the
        formula's name; else the only mapping.
        """

    def pillar(
        self,
        facts: Facts,
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
        pillarenv: Optional[str] = None,
        pillar_override: Optional[dict[Any, Any]] = None,
    ) -> dict[Any, Any]:
        """The pillar that a master with the engine's options compiles for a minion, of its id and its grains: top files,
        sls and external pillars. Options that were not given have a master's defaults. For engines over directories.

        What goes wrong is in the list ``_errors`` of the pillar, as in Salt; what ends a compile in Salt is an exception.
        """

    def render(
        self,
        facts: Facts,
        path: str,
        template: Optional[str] = None,
        context: Optional[dict[str, Any]] = None,
        defaults: Optional[dict[str, Any]] = None,
        name: Optional[str] = None,
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
    ) -> str:
        """The text of a file of the file server: of an sls what its templates print, of any other what ``file.managed``
        writes with this ``template``, ``context`` and ``defaults``. ``name`` is the path of the managed file.
        """

    def sls(
        self,
        facts: Facts,
        path: str,
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
    ) -> Any:
        """The states that an sls amounts to, before a state run processes them further."""

    def jinja(
        self,
        facts: Facts,
        source: str,
        variables: dict[str, Any],
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
    ) -> tuple[str, Optional[_Changed], Optional[_Changed]]:
        """What a template prints, and its changes of the grains and the pillar."""

    def explain(
        self,
        facts: Facts,
        formula: str,
        path: list[Any],
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
    ) -> dict[str, Any]:
        """Where each value of a formula's configuration at or below a path comes from.

        The answer is what ``mapstack explain -o json`` prints, whose JSON Schema is ``docs/explain.schema.json``.
        """

    def sources(
        self,
        facts: Facts,
        formula: str,
        caller: Optional[Caller] = None,
        saltenv: Optional[str] = None,
    ) -> list[dict[str, Any]]:
        """What a formula's configuration looks for, as ``mapstack sources -o json`` prints it."""

    def lint(self, formula: str, saltenv: str = "base", caller: Optional[Caller] = None) -> dict[str, Any]:
        """What is wrong with a formula, on every platform that is built in, and what was not checked.

        The answer is what ``mapstack lint -o json`` prints. No function of Salt is called. An engine over remote files
        asks the caller for them.
        """

@final
class ExtPillar:
    """An external pillar with its arguments, and what was parsed of its files. Minions and threads share it."""

    def __new__(cls, name: str, arguments: Any, version: Optional[str] = None) -> ExtPillar:
        """``arguments`` are what stands behind the name in ``ext_pillar``; ``version`` is the version of Salt."""

    def give(
        self, facts: Facts, caller: Optional[Caller] = None
    ) -> tuple[Any, Optional[Exception], Optional[_Changed]]:
        """What it returns for a minion, or the exception that it ends in, and what it changed in the pillar in place."""
