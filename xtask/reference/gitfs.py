"""Serve git repositories with the reference's gitfs, and record what it serves.

The repositories are written down as JSON, so that a test can build the very same ones, down to the ids of commits:
every author, date and message is fixed. Each scenario is a master's configuration, with `<DIR>` for the directory
that has the repositories.
"""
import base64
import copy
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

WHO = "A Person <person@example.org> 1700000000 +0000"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "ab" * 32 + "\nsize 12345\n"


def text(content):
    return {"text": content}


def link(target):
    return {"link": target}


def formula(version, **more):
    files = {"users/defaults.yaml": text(f"version: {version}\n"), "users/map.jinja": text("{% set a = 1 %}\n"),
             "README": text(f"{version}\n")}
    files.update(more)
    return files


MAIN_FILES = formula("main", **{
    "empty.yaml": text(""),
    "bin/tool": {"text": "#!/bin/sh\n", "executable": True},
    "binary": {"base64": base64.b64encode(bytes(range(256))).decode()},
    "a b/ü ñ.yaml": text("unicode\n"),
    "日本/語.sls": text("japanese\n"),
    "sub/dir/deep.yaml": text("deep\n"),
    "links/file": link("../README"),
    "links/same": link("file"),
    "links/chain1": link("chain2"),
    "links/chain2": link("./chain3"),
    "links/chain3": link("../sub/../README"),
    "links/loop1": link("loop2"),
    "links/loop2": link("loop1"),
    "links/self": link("self"),
    "links/broken": link("nowhere"),
    "links/directory": link("../sub"),
    "links/out": link("../../outside"),
    "links/back": link("../../README"),
    "links/absolute": link("/etc/hostname"),
    "links/absolute_inside": link("/file"),
    "links/to_empty": link("../empty.yaml"),
    "links/through": link("directory/dir/deep.yaml"),
    "links/slash": link("../README/"),
    "top": link("README"),
    "dirlink": link("sub"),
    "vendored": {"submodule": "1234567890123456789012345678901234567890"},
    "to_submodule": link("vendored"),
    "large.bin": text(POINTER),
    "states/init.sls": text("states\n"),
    "states/shared": link("../README"),
    "states/inside": link("init.sls"),
    "states/sub/x.sls": text("x\n"),
})

REPOSITORIES = {
    "users": {
        "commits": {
            "one": {"parents": [], "files": formula("one")},
            "two": {"parents": ["one"], "files": formula("two", **{"only/two": text("2\n")})},
            "dev": {"parents": ["two"], "files": formula("dev", **{"only/dev": text("d\n")})},
            "main": {"parents": ["two"], "files": MAIN_FILES},
            "lost": {"parents": ["main"], "files": formula("lost", **{"only/lost": text("l\n")})},
        },
        "branches": {"main": "main", "master": "two", "dev": "dev", "feature/x": "dev", "feature/y/z": "one",
                     "both": "one", "beef": "one", "2024.1": "two", "production": "two", "empty": "one"},
        "tags": {"v1.0": {"at": "one"}, "v2.0": {"at": "two", "annotated": True}, "both": {"at": "two"},
                 "release/3": {"at": "main"}, "of-tag": {"at": "v2.0", "annotated": True}, "cafe": {"at": "dev"}},
        "head": "main",
    },
    "ntp": {
        "commits": {
            "one": {"parents": [], "files": {"ntp/defaults.yaml": text("ntp one\n"), "README": text("ntp one\n"),
                                             "users/extra.yaml": text("from ntp\n")}},
            "two": {"parents": ["one"], "files": {"ntp/defaults.yaml": text("ntp two\n"), "README": text("ntp two\n"),
                                                  "users/defaults.yaml": text("ntp's users\n")}},
        },
        "branches": {"master": "two", "dev": "two", "staging": "one"},
        "tags": {"v1.0": {"at": "one"}, "v4.1.1": {"at": "one", "annotated": True}},
        "head": "master",
    },
    "bare": {
        "commits": {"one": {"parents": [], "files": {"README": text("bare\n")}}},
        "branches": {"trunk": "one"},
        "tags": {},
        "head": "trunk",
    },
}

ROOTS = {"site/README": "site\n", "site/users/defaults.yaml": "site's users\n", "site/own.yaml": "own\n",
         "site/skip/a.yaml": "skipped\n", "site/a.bak": "bak\n", "site/sub/x.yaml": "x\n",
         "dev_site/README": "dev site\n", "envs/test/README": "test site\n", "envs/__env__/README": "never\n"}
ROOT_LINKS = {"site/alias": "README", "site/outside": "../dev_site/README"}

SAME = ["README", "users/defaults.yaml", "nothing"]
USERS, NTP, BARE = "file://<DIR>/users", "file://<DIR>/ntp", "file://<DIR>/bare"


def gitfs(*remotes, **options):
    return {"fileserver_backend": ["gitfs"], "gitfs_remotes": list(remotes), **options}


def remote(url, **options):
    return {url: [{key: value} for key, value in options.items()]}


def scenarios(ids):
    """Name, configuration, saltenvs, paths."""
    everything = sorted(MAIN_FILES) + ["links", "users", "links/directory/dir/deep.yaml", "dirlink/dir/deep.yaml",
                                       "vendored/x", "README/x", "users/", "a b/ü ñ.yaml", "nothing"]
    many = ["base", "main", "master", "dev", "feature/x", "feature/y/z", "both", "v1.0", "v2.0", "release/3",
            "of-tag", "beef", "cafe", "dead", "2024.1", "nothing", "HEAD", "origin/main", "heads/main", "refs/tags/v1.0",
            "tags/v1.0", "feature", ids["users"]["one"], ids["users"]["main"][:7], ids["users"]["lost"],
            ids["users"]["one"][:4], ids["users"]["one"][:3], ids["users"]["one"].upper(), "f" * 40]
    yield "defaults", gitfs(USERS), many, SAME
    yield "every file", gitfs(USERS, gitfs_base="main"), ["base"], everything
    for base in ("v2.0", "v1.0", "of-tag", "dev", "feature/x", "both", "gone", ids["users"]["one"],
                 ids["users"]["main"][:8], "beef", "cafe", "dead", "HEAD", "origin/main", "refs/tags/v1.0", ""):
        yield f"base: {base}", gitfs(remote(USERS, base=base)), ["base", "dev", "v1.0", base], SAME
    yield "base is a number", gitfs(remote(USERS, base=2024.1)), ["base"], SAME
    yield "no master branch", gitfs(BARE), ["base", "trunk", "master"], SAME
    for types in (["branch"], ["tag"], ["sha"], ["tag", "branch"], ["sha", "tag"], ["TAG", "Sha"], "tag, branch", []):
        yield (f"ref_types: {types}", gitfs(remote(USERS, ref_types=types), gitfs_base="both"),
               ["base", "both", "dev", "v1.0", "v2.0", ids["users"]["one"], "beef"], SAME)
    yield "global ref_types", gitfs(USERS, gitfs_ref_types=["tag"]), ["dev", "v1.0", "base"], SAME
    for root in ("states", "states/", "/states", "./states", "sub/..", "states//sub", ".", "README", "dirlink", "gone",
                 "vendored"):
        yield (f"root: {root}", gitfs(remote(USERS, root=root, base="main")), ["base"],
               ["init.sls", "shared", "inside", "sub/x.sls", "states/init.sls", "dir/deep.yaml", "README", "x.sls"])
    for mountpoint in ("salt://m", "m", "/m/", "m/n", "salt://m/n/", "states", ".", "salt://"):
        yield (f"mountpoint: {mountpoint}", gitfs(remote(USERS, mountpoint=mountpoint, base="main")), ["base"],
               ["m/README", "README", "m/n/README", "mREADME", "states/README", "states/init.sls", "m", "m/links/file"])
    yield ("root and mountpoint", gitfs(remote(USERS, mountpoint="salt://m", root="states", base="main")), ["base"],
           ["m/init.sls", "m/states/init.sls", "m/shared", "init.sls"])
    yield ("global root and mountpoint", gitfs(USERS, NTP, gitfs_root="users", gitfs_mountpoint="salt://u"), ["base"],
           ["u/defaults.yaml", "u/extra.yaml", "defaults.yaml", "u/users/defaults.yaml"])
    yield ("global ones reset", gitfs(remote(USERS, root="", mountpoint=""), NTP, gitfs_root="users",
                                      gitfs_mountpoint="u"), ["base"], ["u/defaults.yaml", "users/defaults.yaml"])
    mapped = [{"prod": [{"ref": "v2.0"}]}, {"test": [{"ref": "dev"}, {"mountpoint": "salt://t"}]},
              {"rooted": [{"ref": "main"}, {"root": "states"}]}, {"dev": [{"root": "users"}]},
              {"twice": [{"ref": "dev"}]}, {"gone": [{"ref": "nowhere"}]}]
    envs = ["base", "prod", "test", "rooted", "dev", "twice", "gone", "v2.0", "main", "feature/x"]
    paths = SAME + ["t/README", "init.sls", "states/init.sls", "defaults.yaml"]
    yield "saltenv of a remote", gitfs(remote(USERS, saltenv=mapped)), envs, paths
    yield "global saltenv", gitfs(USERS, gitfs_saltenv=mapped), envs, paths
    yield ("both saltenvs", gitfs(remote(USERS, saltenv=[{"prod": [{"ref": "v1.0"}]}, {"test": [{"root": "users"}]}]),
                                  NTP, gitfs_saltenv=mapped), envs, paths)
    yield ("saltenv base", gitfs(remote(USERS, saltenv=[{"base": [{"ref": "v2.0"}]}])), ["base", "master", "v2.0"], SAME)
    yield ("global saltenv base", gitfs(USERS, gitfs_saltenv=[{"base": [{"ref": "v1.0"}]}]), ["base", "master", "v1.0"],
           SAME)
    yield ("saltenv base without a reference",
           gitfs(remote(USERS, saltenv=[{"base": [{"root": "users"}]}])), ["base", "dev"], SAME + ["defaults.yaml"])
    yield ("saltenv with leading slashes", gitfs(remote(USERS, saltenv=[{"dev": [{"mountpoint": "/m"}]},
                                                                          {"main": [{"mountpoint": "m/"}]}])),
           ["dev", "main"], ["m/README", "README"])
    yield ("disabled mapping", gitfs(remote(USERS, disable_saltenv_mapping=True, saltenv=mapped)),
           envs + ["beef", ids["users"]["one"]], SAME + ["t/README"])
    yield ("disabled mapping for all", gitfs(USERS, NTP, gitfs_disable_saltenv_mapping=True,
                                             gitfs_saltenv=[{"prod": [{"ref": "v1.0"}]}]),
           ["base", "prod", "v1.0", "dev", "master"], SAME)
    yield "all_saltenvs", gitfs(remote(USERS, all_saltenvs="v1.0")), ["base", "dev", "gone", "v2.0", "beef", "dead"], SAME
    yield "all_saltenvs missing", gitfs(remote(USERS, all_saltenvs="gone")), ["base", "dev"], SAME
    yield ("all_saltenvs beside another", gitfs(remote(USERS, all_saltenvs="v2.0"), NTP),
           ["base", "staging", "v4.1.1", "dev"], SAME + ["ntp/defaults.yaml"])
    for fallback in ("v1.0", "gone", ids["users"]["two"]):
        yield (f"fallback: {fallback}", gitfs(remote(USERS, fallback=fallback)), ["base", "dev", "gone", "dead", "v2.0"],
               SAME)
    yield "global fallback", gitfs(USERS, NTP, gitfs_fallback="v1.0"), ["base", "gone", "staging", "v4.1.1"], SAME
    yield ("fallback for base", gitfs(remote(BARE, fallback="trunk")), ["base", "other"], SAME)
    yield ("fallback and disabled mapping", gitfs(remote(USERS, fallback="v1.0", disable_saltenv_mapping=True)),
           ["base", "dev", "gone"], SAME)
    envs = ["base", "main", "dev", "feature/x", "feature/y/z", "v1.0", "v2.0", "beef", ids["users"]["one"], "both"]
    for names in (["v*"], ["feature/*"], ["dev", "base"], [r"v\d\.0"], ["feature/[xy]"], ["(dev"], [r"(dev|main)"],
                  ["dev|main"], "dev,base", ["DEV"], [r"feature/\w/z"], ["[!bdfm]*"], ["?eef"], [".*"]):
        yield f"saltenv_whitelist: {names}", gitfs(USERS, gitfs_saltenv_whitelist=names), envs, ["README"]
        yield f"saltenv_blacklist: {names}", gitfs(remote(USERS, saltenv_blacklist=names)), envs, ["README"]
    yield ("both lists", gitfs(remote(USERS, saltenv_whitelist=["v*", "dev"], saltenv_blacklist=["v1*"])), envs,
           ["README"])
    yield ("lists of a remote replace those of all",
           gitfs(remote(USERS, saltenv_whitelist=["dev"]), NTP, gitfs_saltenv_whitelist=["base"]),
           ["base", "dev", "main"], SAME + ["ntp/defaults.yaml"])
    yield ("a fallback that is not exposed", gitfs(remote(USERS, fallback="v1.0", saltenv_whitelist=["base"])),
           ["base", "dev", "gone"], SAME)
    envs, paths = ["base", "dev", "main", "staging", "v1.0", "v4.1.1"], SAME + ["ntp/defaults.yaml", "users/extra.yaml"]
    yield "two remotes", gitfs(USERS, NTP), envs, paths
    yield "two remotes, turned round", gitfs(NTP, USERS), envs, paths
    yield ("two remotes, pinned", gitfs(remote(USERS, base="v2.0"), remote(NTP, base="v4.1.1")), envs, paths)
    yield ("two remotes, each with a base of its own", gitfs(remote(USERS, base="main"), NTP), envs, paths)
    yield ("one repository twice", gitfs(remote(USERS, name="a", base="v1.0"), remote(USERS, name="b", base="main",
                                                                                      mountpoint="salt://m")),
           ["base", "main", "v1.0"], SAME + ["m/README", "m/bin/tool"])
    yield ("refspecs", gitfs(remote(USERS, refspecs=["+refs/heads/feature/*:refs/remotes/origin/f/*",
                                                      "+refs/tags/v1.0:refs/tags/first"])),
           ["base", "feature/x", "f/x", "f/y/z", "v1.0", "first", "dev"], SAME)
    yield ("refspecs for all", gitfs(USERS, gitfs_refspecs=["+refs/heads/*:refs/remotes/origin/*"]),
           ["base", "dev", "v1.0"], SAME)
    yield ("refspecs to another remote's names", gitfs(remote(USERS, refspecs=["+refs/heads/*:refs/remotes/other/*"])),
           ["base", "dev"], SAME)
    roots = {"base": ["<DIR>/files/site"], "dev": ["<DIR>/files/dev_site"]}
    envs, paths = ["base", "dev", "v1.0", "test"], SAME + ["own.yaml", "ntp/defaults.yaml", "only/two"]
    for backends in (["roots", "gitfs"], ["git", "roots"], ["gitfs"], ["roots"], ["roots", "git"], ["-gitfs"], []):
        options = gitfs(USERS, file_roots=roots)
        options["fileserver_backend"] = backends
        yield f"fileserver_backend: {backends}", options, envs, paths
    yield ("__env__", {**gitfs(USERS), "fileserver_backend": ["roots", "gitfs"],
                       "file_roots": {"base": ["<DIR>/files/site"], "__env__": ["<DIR>/files/envs/__env__"]}},
           ["base", "test", "dev", "nothing"], SAME)
    local = {"fileserver_backend": ["roots"], "file_roots": {"base": ["<DIR>/files/site"]}}
    paths = ["README", "skip/a.yaml", "a.bak", "own.yaml", "sub/x.yaml", "alias", "outside", "users/defaults.yaml"]
    for name, more in {
        "file_ignore_regex: bak": {"file_ignore_regex": [r"\.bak$"]},
        "file_ignore_regex: text": {"file_ignore_regex": "/skip/"},
        "file_ignore_regex: bad": {"file_ignore_regex": ["(", "own"]},
        "file_ignore_regex: start": {"file_ignore_regex": ["^sub"]},
        "file_ignore_glob: below": {"file_ignore_glob": ["sub/*"]},
        "file_ignore_glob: anywhere": {"file_ignore_glob": ["*/sub/*"]},
        "file_ignore_glob: text": {"file_ignore_glob": "*.bak"},
        "fileserver_followsymlinks: false": {"fileserver_followsymlinks": False},
        "fileserver_ignoresymlinks: true": {"fileserver_ignoresymlinks": True},
    }.items():
        yield name, {**local, **more}, ["base"], paths
        yield (f"{name}, from git", gitfs(remote(USERS, base="main"), **more), ["base"],
               ["README", "sub/dir/deep.yaml", "links/file", "users/defaults.yaml"])


def build(directory, repository):
    """A bare repository, and the ids of its commits and tags."""
    git = ["git", "-C", str(directory)]
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*args, stdin=None):
        done = subprocess.run([*git, *args], input=stdin, check=True, capture_output=True, env=environment)
        return done.stdout.decode().strip()

    directory.mkdir(parents=True)
    run("init", "--quiet", "--bare")
    ids = {}
    for name, commit in repository["commits"].items():
        index = []
        for path, file in commit["files"].items():
            if "submodule" in file:
                index.append(f"160000 {file['submodule']}\t{path}\0")
                continue
            content = file.get("link", file.get("text"))
            content = base64.b64decode(file["base64"]) if content is None else content.encode()
            mode = "120000" if "link" in file else "100755" if file.get("executable") else "100644"
            index.append(f"{mode} {run('hash-object', '-w', '--stdin', stdin=content)}\t{path}\0")
        run("read-tree", "--empty")
        run("update-index", "-z", "--index-info", stdin="".join(index).encode())
        lines = [f"tree {run('write-tree')}", *(f"parent {ids[parent]}" for parent in commit["parents"]),
                 f"author {WHO}", f"committer {WHO}", "", name, ""]
        ids[name] = run("hash-object", "-t", "commit", "-w", "--stdin", stdin="\n".join(lines).encode())
    for name, commit in repository["branches"].items():
        run("update-ref", f"refs/heads/{name}", ids[commit])
    for name, tag in repository["tags"].items():
        at = ids[tag["at"]]
        if tag.get("annotated"):
            lines = [f"object {at}", f"type {run('cat-file', '-t', at)}", f"tag {name}", f"tagger {WHO}", "", name, ""]
            at = ids[name] = run("hash-object", "-t", "tag", "-w", "--stdin", stdin="\n".join(lines).encode())
        run("update-ref", f"refs/tags/{name}", at)
    run("symbolic-ref", "HEAD", f"refs/heads/{repository['head']}")
    (directory / "index").unlink(missing_ok=True)
    return ids


def placed(value, directory):
    """A configuration with a directory in the place of `<DIR>`."""
    return json.loads(json.dumps(value).replace("<DIR>", str(directory)))


def serve(options, saltenvs, paths, directory, provider):
    """What the reference serves: saltenvs, lists of files, digests of files."""
    import salt.config
    import salt.fileserver
    import salt.utils.gitfs
    import weakref

    home = pathlib.Path(tempfile.mkdtemp(prefix="mapstack-gitfs-"))
    salt.utils.gitfs.GitFS.instance_map = weakref.WeakKeyDictionary()
    try:
        defaults = copy.deepcopy(salt.config.DEFAULT_MASTER_OPTS)
        defaults.update(cachedir=str(home / "cache"), root_dir=str(home), file_roots={"base": []})
        opts = salt.config.apply_master_config(placed(options, directory), defaults)
        opts.update(cachedir=str(home / "cache"), fileserver_list_cache_time=0, gitfs_provider=provider, __role="master",
                    gitfs_depth=0)
        os.makedirs(opts["cachedir"])
        server = salt.fileserver.Fileserver(opts)
        server.update()
        shutil.rmtree(home / "cache/file_lists", ignore_errors=True)
        result = {"envs": sorted(server.envs()), "found": {}, "lists": {}}
        for saltenv in saltenvs:
            found = result["found"][saltenv] = {}
            for path in paths:
                at = server.find_file(path, saltenv).get("path")
                found[path] = hashlib.sha256(pathlib.Path(at).read_bytes()).hexdigest()[:16] if at else None
            result["lists"][saltenv] = sorted(server.file_list({"saltenv": saltenv}))
        return result
    except Exception as error:
        return {"error": type(error).__name__}
    finally:
        shutil.rmtree(home, ignore_errors=True)


def record(path):
    """Write the repositories, the configurations, and what the reference makes of them."""
    import salt.version

    directory = pathlib.Path(tempfile.mkdtemp(prefix="mapstack-repositories-"))
    try:
        ids = {name: build(directory / name, repository) for name, repository in REPOSITORIES.items()}
        for name, content in ROOTS.items():
            file = directory / "files" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        for name, target in ROOT_LINKS.items():
            (directory / "files" / name).symlink_to(target)
        rows, cells = [], 0
        for name, options, saltenvs, paths in scenarios(ids):
            row = {"name": name, "options": options, "saltenvs": saltenvs, "paths": paths,
                   **serve(options, saltenvs, paths, directory, "pygit2")}
            other = serve(options, saltenvs, paths, directory, "gitpython")
            differs = [part for part in ("envs", "found", "lists", "error") if other.get(part) != row.get(part)]
            if differs:
                row["gitpython_differs"] = differs
            cells += len(saltenvs) * len(paths)
            rows.append(row)
        head = {"salt": salt.version.__version__, "who": WHO, "repositories": REPOSITORIES, "ids": ids, "files": ROOTS,
                "file_links": ROOT_LINKS}
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        head = json.dumps(head, ensure_ascii=False)[:-1]
        path.write_text(f'{head}, "scenarios": [\n{lines}\n]}}\n', encoding="utf-8")
        print(f"{path.name}: {len(rows)} scenarios, {cells} files looked for", flush=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
