"""The execution module `map` in a real Salt, beside that of saltext-formula in the same process."""

import contextlib
import gc
import os
import threading

import pytest
import salt.exceptions
import salt.fileclient

PARAMETERS = {
    "web/parameters/defaults.yaml": "values: {pkg: nginx, ports: [80], user: {name: www}, n: {{ 1 + 1 }}}\n",
    "web/parameters/map_jinja.yaml": "values: {sources: [Y!G@os_family, C@web, I@roles:SUB, Y!G@id]}\n",
    "web/parameters/os_family/Debian.yaml": "merge_lists: true\nvalues: {ports: [443], os: {{ grains.os }}}\n",
    "web/parameters/id/web1.yaml.jinja": """
values:
  version: {{ salt['test.echo']('1.2') }}
  had: {{ mapdata.ports | json }}
  python: {{ salt['test.arg'](1, a='b').kwargs.a }}
  by_os: {{ salt['grains.filter_by']({'Debian': {'x': 1}}) | json }}
  there: {{ 'test.ping' in salt }} {{ 'no.such' in salt }}
  wanted: {{ salt['pillar.get']('web:secret') }}
""",
    "web/post-map.jinja": "{% do mapdata.update({'after': mapdata.pkg ~ tplroot}) %}",
}
PILLAR = {"web": {"user": {"uid": 33}, "secret": "hush"}}


@pytest.fixture
def web(tree):
    for path, text in PARAMETERS.items():
        tree(path, text)


@pytest.fixture
def both(minion):
    """The two implementations."""
    pytest.importorskip("saltext.formula")
    ours, theirs = minion(pillar=PILLAR), minion(ours=False, pillar=PILLAR)
    assert ours["map.data"].__module__.endswith("mapstack_map")
    assert not theirs["map.data"].__module__.endswith("mapstack_map")
    return ours, theirs


def test_it_steps_aside(minion):
    pytest.importorskip("saltext.formula")
    assert minion(ours=False)["map.data"].__globals__["__name__"].endswith(".map")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"config_get_strategy": "merge"},
        {"sources": ["C@web", "Y!P@id/web1.yaml.jinja"], "default_merge_strategy": "overwrite"},
        {"post_map": False, "default_merge_lists": True},
        {"parameter_dirs": ["elsewhere"], "cache": False, "post_map": False},
    ],
)
def test_data_is_that_of_saltext_formula(web, both, options):
    ours, theirs = (modules["map.data"]("web/sub", **options) for modules in both)
    assert ours == theirs
    assert repr(ours) == repr(theirs)


def test_stack_is_that_of_saltext_formula(web, both):
    sources = ["defaults.yaml", "U@mine", "Y!G@os_family"]
    ours, theirs = (
        modules["map.stack"]("web", sources, default_values={"z": 1}, custom_data={"mine": {"ports": [1]}})
        for modules in both
    )
    assert repr(ours) == repr(theirs)


HIDDEN = {
    "web": {
        "own": {"on": True, "size": 9},
        "user": {"uid": 33, "groups": ["www-data"]},
        "ports": [8080],
        "late": {"word": "from the pillar", "n": 7, "more": [{"a": "b"}]},
    }
}

HIDING = [
    {},
    {"web/parameters/map_jinja.yaml": "values: {sources: [C@web]}\n"},
    {"web/parameters/id/web1.yaml": "merge_lists: true\nvalues: {own: {later: 1}, ports: [1], user: {groups: [x]}}\n"},
    {"web/parameters/map_jinja.yaml": "values: {sources: [C@web], config_get_strategy: recurse}\n"},
    {
        "web/parameters/map_jinja.yaml": "values: {sources: [defaults.yaml]}\n",
        "web/post-map.jinja": "{% do mapdata.update({'p': pillar.web.late, 'o': pillar.web.own, 'l': pillar.web.ports + [1]}) %}",
    },
]


@pytest.mark.parametrize("files", HIDING)
def test_pieces_of_a_hidden_pillar_stay_hidden_as_those_of_saltext_formula(tree, minion, files):
    secret = pytest.importorskip("salt.utils.secret")
    pytest.importorskip("saltext.formula")
    tree("web/parameters/defaults.yaml", "values: {pkg: nginx, user: {name: www}, ports: [80]}\n")
    for path, text in files.items():
        tree(path, text)
    ours, theirs = (minion(own, pillar=secret.hide(HIDDEN))["map.data"]("web") for own in (True, False))
    assert ours == theirs
    assert repr(secret.mask_output(ours)) == repr(secret.mask_output(theirs))
    assert "****" in repr(secret.mask_output(ours))
    plain = minion(pillar=HIDDEN)["map.data"]("web")
    assert secret.mask_output(plain) == plain


def test_the_stack_of_a_hidden_pillar_hides_its_pieces(tree, minion):
    secret = pytest.importorskip("salt.utils.secret")
    tree("web/parameters/defaults.yaml", "values: {pkg: nginx}\n")
    modules = minion(pillar=secret.hide(HIDDEN))
    stack = modules["map.stack"]("web", ["defaults.yaml", "C@web", "I@web:late"])
    assert type(stack) is dict and type(stack["late"]) is secret.MaskedDict and type(stack["ports"]) is secret.MaskedList
    # Templates see what is there.
    assert stack["late"]["word"] == "from the pillar" and stack["ports"] == [8080]


def test_tofs_is_that_of_saltext_formula(web, both):
    for options in ({}, {"use_subpath": True}, {"include_query": False, "files_dir": "f"}):
        ours, theirs = (
            modules["map.tofs"]("web/a/b", ["x.conf", "y.conf"], **options) for modules in both
        )
        assert ours == theirs


def test_a_result_is_kept_for_the_run(web, minion):
    modules = minion()
    assert modules["map.data"]("web") is modules["map.data"]("web/other")
    assert modules["map.data"]("web", cache=False) is not modules["map.data"]("web", cache=False)


def test_post_map_templates_in_python_run_in_salts_own_python(tree, minion):
    tree("web/parameters/defaults.yaml", "values: {a: 1}\n")
    tree(
        "web/post.py",
        "import os\ndef run():\n    mapdata['pid'] = os.getpid()\n    return ''\n",
    )
    import os

    result = minion()["map.data"]("web", post_map="post.py", post_map_template="py")
    assert result["pid"] == os.getpid()


def test_errors_are_salts_and_name_the_place(tree, minion):
    for text, place in (
        (b"values:\n  a: {{ salt['test.no_such']() }}\n", "2:9"),
        (b"values: {a: '\xff'}\n", "1:14"),
        (b"values: [\n", "2:1"),
    ):
        file = tree("web/parameters/defaults.yaml", "")
        file.write_bytes(text)
        with pytest.raises(salt.exceptions.SaltRenderError) as caught:
            minion()["map.data"]("web")
        assert str(caught.value).startswith(f"{file}:{place}: ")
        assert str(caught.value).count(str(file)) == 1


def test_a_replaced_function_is_called_as_it_is(web, minion, tmp_path):
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "grains.py").write_text("def filter_by(*a, **kw):\n    return 'replaced'\n")
    result = minion(module_dirs=[str(modules)])["map.data"]("web")
    assert result["by_os"] == "replaced"


def test_files_come_through_the_file_client(web, minion):
    direct, modules = minion(pillar=PILLAR), minion(pillar=PILLAR, mapstack={"files": "client"})
    assert modules["map.data"]("web") == direct["map.data"]("web")


class Counted:
    """A file client that notes what it is asked."""

    def __init__(self, opts):
        self.client = salt.fileclient.get_file_client(opts)
        self.opts = self.client.opts
        self.asked = []

    def file_list(self, saltenv):
        self.asked.append("list")
        return self.client.file_list(saltenv)

    def get_file(self, path, *args):
        self.asked.append(path)
        return self.client.get_file(path, *args)


def test_a_file_client_is_asked_once_for_each_file_and_for_one_list(web, minion):
    from saltext.mapstack.files import Files
    from saltext.mapstack.live import Live

    opts = minion().opts
    client = Counted(opts)
    for wrapped in (client, salt.fileclient.ContextlessFileClient(client)):
        live = Live({}, Files(opts, wrapped))
        assert live.cache_file("web/post-map.jinja", "base")
        assert live.cache_file("web/nope", "base") is None
        assert live.cache_file("web/nope2", "base") is None
    assert client.asked == ["list", "salt://web/post-map.jinja"]


def test_what_a_file_client_said_ends_with_it(web, tree, minion):
    from saltext.mapstack.files import Files

    opts = minion().opts
    assert not Files(opts).cached("web/later", "base")
    tree("web/later", "x")
    assert Files(opts).cached("web/later", "base")
    known = len(files_answers())
    client = salt.fileclient.get_file_client(opts)
    Files(opts, client).listed("base")
    assert len(files_answers()) == known + 1
    del client
    assert len(files_answers()) == known


class OfMaster:
    """A client of a master with one file."""

    def __init__(self, opts):
        self.opts = opts
        self.asked = 0
        self.is_closed = False

    def file_list(self, saltenv):
        self.asked += 1
        if saltenv == "broken":
            raise OSError("no answer")
        return ["web/x"]

    def destroy(self):
        self.is_closed = True


@pytest.fixture
def opened(monkeypatch):
    """The clients that are opened in a test."""
    from saltext.mapstack import files

    clients = []

    def open_(opts):
        clients.append(OfMaster(opts))
        return clients[-1]

    monkeypatch.setattr(salt.fileclient, "get_file_client", open_)
    monkeypatch.setattr(files, "_of_thread", threading.local())
    return clients


def asked(opts, saltenv="base"):
    """What a call asks a master."""
    from saltext.mapstack.files import Files

    with contextlib.closing(Files(opts)) as files:
        return files.listed(saltenv), files.listed(saltenv)


def test_calls_share_a_masters_client_but_not_what_it_says(opened):
    opts = {"master_uri": "tcp://a", "file_roots": {}}
    assert asked(opts) == ({"web/x"}, {"web/x"})
    asked(dict(opts))
    (client,) = opened
    assert (client.asked, client.is_closed) == (2, False)
    opts["master_uri"] = "tcp://b"
    asked(opts)
    gc.collect()
    assert [client.is_closed for client in opened] == [True, False]


def test_a_client_that_failed_is_not_used_again(opened):
    opts = {"master_uri": "tcp://a"}
    with pytest.raises(OSError, match="no answer"):
        asked(opts, "broken")
    gc.collect()
    asked(opts)
    assert [client.is_closed for client in opened] == [True, False]


def test_a_client_of_local_files_is_opened_for_each_call(opened):
    for _ in range(2):
        asked({"file_client": "local"})
    assert [client.is_closed for client in opened] == [True, True]


def test_each_thread_has_its_own_client_which_ends_with_it(opened):
    for _ in range(2):
        thread = threading.Thread(target=asked, args=({"master_uri": "tcp://a"},))
        thread.start()
        thread.join()
    gc.collect()
    assert [client.is_closed for client in opened] == [True, True]


def test_a_child_neither_uses_nor_closes_its_parents_client(opened):
    opts = {"master_uri": "tcp://a"}
    asked(opts)
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            asked(opts)
            gc.collect()
            os._exit(0 if len(opened) == 2 and not opened[0].is_closed else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    asked(opts)
    assert opened[0].asked == 2


def files_answers():
    from saltext.mapstack import files

    gc.collect()
    return files._answers


@pytest.mark.parametrize(
    "given, said",
    [
        ("client", "the option `mapstack` is 'client', not a mapping of `files` or `command`"),
        ({"take_over": True}, "the option `mapstack` has no 'take_over'; it has `files` or `command`"),
        ({"files": "cleint"}, "the option `mapstack: files` is 'cleint', not `auto` or `client`"),
        ({"command": ["a"]}, "the option `mapstack: command` is ['a'], not a path"),
    ],
)
def test_an_option_that_there_is_not_is_an_error(web, minion, given, said):
    with pytest.raises(salt.exceptions.CommandExecutionError) as caught:
        minion(pillar=PILLAR, mapstack=given)["map.data"]("web")
    assert str(caught.value) == said


def test_functions_see_the_pillar_as_templates_do(tree, minion):
    secret = pytest.importorskip("salt.utils.secret")
    tree("web/parameters/defaults.yaml", "values: {a: {{ salt['pillar.items']().web.secret }}}\n")
    modules = minion(pillar=secret.hide(PILLAR))
    assert modules["map.data"]("web")["a"] == "hush"
    assert secret.mask_pillar.get() is True


def test_a_function_gets_copies(tree, minion, tmp_path):
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "spoil.py").write_text("def it(data):\n    data.append(1)\n    return len(data)\n")
    tree(
        "web/parameters/defaults.yaml",
        "{% set x = [] %}\nvalues: {a: {{ salt['spoil.it'](x) }}, b: {{ x | length }}}\n",
    )
    result = minion(module_dirs=[str(modules)])["map.data"]("web")
    assert (result["a"], result["b"]) == (1, 0)


def test_changes_of_facts_end_with_the_call(tree, minion):
    tree(
        "web/parameters/defaults.yaml",
        "{% do grains.update({'new': 1}) %}\nvalues: {a: {{ salt['grains.get']('new') }}}\n",
    )
    modules = minion()
    assert modules["map.data"]("web")["a"] == 1
    assert modules["grains.get"]("new") == ""


def test_sdb_texts_stay(minion, tree):
    modules = minion(web={"pw": "sdb://vault/pw"})
    assert modules["map.stack"]("web", ["C@web"]) == {"pw": "sdb://vault/pw"}
