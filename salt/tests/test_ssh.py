"""The wrappers of salt-ssh, by a real `salt-ssh` and an sshd on loopback."""

import contextlib
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import time

import pytest
import salt.utils.yaml
import salt.version

#: sshd has to be called by its whole path.
SSHD = shutil.which("sshd", path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/usr/local/sbin"]))

FILES = {
    "top.sls": "base: {}\n",
    "web/parameters/defaults.yaml": "values: {pkg: nginx, ports: [80], n: {{ 1 + 1 }}}\n",
    "web/parameters/map_jinja.yaml": "values: {sources: [Y!G@os_family, C@web, I@roles, Y!G@id]}\n",
    "web/parameters/id/web1.yaml.jinja": """
values:
  remote: {{ salt['test.echo']('from the minion') }}
  attribute: {{ salt.test.echo('by name') }}
  wanted: {{ salt['pillar.get']('web:secret') }}
  grains: [{{ grains.roles | json }}, {{ salt['grains.get']('deep:er') }}]
  os: {{ salt['grains.filter_by']({'other': 1}, default='other') }}
""",
    "web/post-map.jinja": "{% do mapdata.update({'after': mapdata.pkg ~ tplroot}) %}",
    "web/post-map.py": "def run():\n    mapdata['after'] = __grains__['roles']\n    return ''\n",
    "web/init.sls": """#!mapstack|yaml
{%- from 'web/names.jinja' import name %}
{%- set data = salt['map.data'](tpldir) %}
{{ name }}:
  test.configurable_test_state:
    - changes: false
    - result: true
    - comment: {{ data | json | yaml_dquote }}
""",
    "web/names.jinja": "{% set name = 'an imported name' %}",
    "broken/parameters/defaults.yaml": "values:\n  a: {{ grains.os / 0 }}\n",
}
PILLAR = {"web": {"uid": 33, "secret": "hush"}}

MAJOR = salt.version.__saltstack_version__.major
WITHOUT_OTHERS = {"disable_wrappers": ["map"]}


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A directory with the files of a master of salt-ssh, and an sshd that lets it in."""
    if not SSHD or not shutil.which("ssh-keygen"):
        pytest.skip("sshd or ssh-keygen is not installed: salt-ssh is not tried")
    root = tmp_path_factory.mktemp("ssh")
    for path, text in FILES.items():
        file = root / "srv" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (root / "pillar").mkdir()
    (root / "pillar" / "top.sls").write_text("base: {'*': [web]}\n")
    (root / "pillar" / "web.sls").write_text(salt.utils.yaml.safe_dump(PILLAR))
    for key in ("host", "client"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", root / key], check=True)
    shutil.copy(root / "client.pub", root / "allowed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    (root / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {root}/host\nAuthorizedKeysFile {root}/allowed\nStrictModes no\n"
        "PidFile none\nUsePAM no\nSubsystem sftp internal-sftp\n"
    )
    if os.geteuid() == 0:
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(open(root / "sshd.log", "wb"))
        process = subprocess.Popen([SSHD, "-D", "-e", "-f", root / "sshd_config"], stderr=log)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        deadline = time.monotonic() + 20
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert time.monotonic() < deadline, "sshd does not listen"
            time.sleep(0.1)
        assert process.poll() is None, (root / "sshd.log").read_text()
        yield root, port


@pytest.fixture
def salt_ssh(there):
    """A function that runs a function by `salt-ssh`; without `ours`, the wrapper `map` is that of saltext-formula."""
    root, port = there

    def run(function, *args, ours=True, status=0, **options):
        master = {
            "root_dir": str(root / "root"),
            "file_roots": {"base": [str(root / "srv")]},
            "pillar_roots": {"base": [str(root / "pillar")]},
            "ssh_minion_opts": WITHOUT_OTHERS if ours else {},
            "user": pwd.getpwuid(os.geteuid()).pw_name,
            "log_level_logfile": "quiet",
            **options,
        }
        target = {
            "host": "127.0.0.1",
            "port": port,
            "user": master["user"],
            "priv": str(root / "client"),
            # A Python that is a shell script, as that of pyenv, needs environment variables that a server may not have.
            "set_path": f"{pathlib.Path(sys.executable).resolve().parent}:$PATH",
            "thin_dir": str(root / "thin"),
            "grains": {"roles": ["web", "ünï"], "deep": {"er": 1}},
        }
        for name, content in (("master", master), ("roster", {"web1": target})):
            (root / "etc").mkdir(exist_ok=True)
            (root / "etc" / name).write_text(salt.utils.yaml.safe_dump(content))
        command = [pathlib.Path(sys.executable).with_name("salt-ssh"), "-c", root / "etc", "-i", "--out=json", "-l", "error"]
        done = subprocess.run([*command, "web1", function, *args], capture_output=True, check=False, text=True)
        said = f"{done.stdout}\n{done.stderr}\n{(root / 'sshd.log').read_text()}"
        assert (done.returncode == 0) == (status == 0), said
        return json.loads(done.stdout)["web1"] if status == 0 else done.stdout + done.stderr

    return run


def test_data_has_the_minions_facts_and_the_masters_files(salt_ssh):
    data = salt_ssh("map.data", "web")
    assert data["remote"] == "from the minion"
    assert data["attribute"] == "by name"
    assert data["wanted"] == "hush"
    assert data["grains"] == [["web", "ünï"], 1]
    assert (data["uid"], data["n"], data["os"]) == (33, 2, 1)
    assert data["after"] == "nginxweb"
    assert data == salt_ssh("map.data", "web", mapstack={"files": "client"})


def test_answers_are_those_of_saltext_formula(salt_ssh):
    pytest.importorskip("saltext.formula")
    if MAJOR < 3007:
        pytest.skip("the wrapper of saltext-formula needs Salt 3007")
    for question in (
        ("map.data", "web"),
        ("map.stack", "web", '[defaults.yaml, "U@mine", "Y!G@id"]', "custom_data={mine: {ports: [1]}}"),
        ("map.tofs", "web/sub", "[x.conf, y.conf]", "use_subpath=true"),
    ):
        assert salt_ssh(*question) == salt_ssh(*question, ours=False)


def test_states_and_their_templates_use_it(salt_ssh):
    (state,) = salt_ssh("state.apply", "web", "test=true").values()
    assert state["name"] == "an imported name"
    assert json.loads(state["comment"]) == salt_ssh("map.data", "web")


def test_post_map_templates_in_python_run_on_the_master(salt_ssh):
    question = ("map.data", "web", "post_map=post-map.py", "post_map_template=py")
    if MAJOR < 3007:
        assert "py: salt-ssh runs such templates from Salt 3007 on" in salt_ssh(*question, status=20)
    else:
        assert salt_ssh(*question)["after"] == ["web", "ünï"]


def test_questions_are_answered_on_the_master(salt_ssh, there):
    (value,) = salt_ssh("mapstack.explain", "web", "pkg")["values"]
    assert value["origin"]["file"] == str(there[0] / "srv/web/parameters/defaults.yaml")


def test_errors_name_the_place_and_end_with_a_status(salt_ssh, there):
    said = salt_ssh("map.data", "broken", status=20)
    assert f"{there[0]}/srv/broken/parameters/defaults.yaml:2:9: " in said
