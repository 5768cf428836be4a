#!/usr/bin/env python3
"""Tests of `comment.sh` with a server on this machine that answers as the three kinds of forges do.

usage: python3 pipelines/test_comment.py
"""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

SCRIPT = pathlib.Path(__file__).with_name("comment.sh")
MARKER = "<!-- mapstack diff -->"


class Forge(BaseHTTPRequestHandler):
    """The comments of one pull request."""

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_request(self):
        server, url = self.server, urlsplit(self.path)
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        if self.headers.get(server.header) != server.token:
            return self.answer(401, {"message": "who are you"})
        query = parse_qs(url.query)
        if self.command == "GET" and url.path == server.list:
            size = int(query["per_page"][0]) if server.pages else len(server.comments) or 1
            start = (int(query["page"][0]) - 1) * size if server.pages else 0
            return self.answer(200, server.comments[start : start + size])
        if self.command == "POST" and url.path == server.list:
            comment = {"id": len(server.comments) + 1, "body": body["body"]}
            server.comments.append(comment)
            return self.answer(201, comment)
        if self.command == server.change and url.path.startswith(server.one):
            wanted = int(url.path.removeprefix(server.one))
            if wanted in server.others:
                return self.answer(403, {"message": "not yours"})
            comment = next(c for c in server.comments if c["id"] == wanted)
            comment["body"] = body["body"]
            return self.answer(200, comment)
        return self.answer(404, {"message": f"{self.command} {url.path}"})

    do_GET = do_POST = do_PUT = do_PATCH = handle_request


class Comments(unittest.TestCase):
    def serve(self, kind, comments=()):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Forge)
        server.comments, server.others = list(comments), set()
        server.pages = kind != "gitea"
        base = f"http://127.0.0.1:{server.server_port}/api"
        if kind == "gitlab":
            server.header, server.token, server.change = "PRIVATE-TOKEN", "secret-token", "PUT"
            server.list = "/api/projects/7/merge_requests/3/notes"
            server.one = server.list + "/"
            variables = {"GITLAB_CI": "true", "CI_API_V4_URL": base, "CI_PROJECT_ID": "7"}
            variables["CI_MERGE_REQUEST_IID"] = "3"
        else:
            server.header, server.token, server.change = "Authorization", "token secret-token", "PATCH"
            server.list, server.one = "/api/repos/o/r/issues/3/comments", "/api/repos/o/r/issues/comments/"
            variables = {"GITHUB_API_URL": base, "GITHUB_REPOSITORY": "o/r", "MAPSTACK_PULL_REQUEST": "3"}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, {**variables, "MAPSTACK_TOKEN": "secret-token"}

    def comment(self, text, variables):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "diff.md"
            file.write_text(text, encoding="utf-8")
            kept = {"PATH": os.environ["PATH"], "no_proxy": "127.0.0.1"}
            return subprocess.run(
                ["sh", str(SCRIPT), str(file)], env={**kept, **variables}, capture_output=True, text=True, timeout=60
            )

    def test_a_comment_is_made_and_then_changed(self):
        text = 'ssh: "port" \\ 22 – Grüße\n'
        for kind in ("github", "gitea", "gitlab"):
            with self.subTest(kind):
                server, variables = self.serve(kind, [{"id": 1, "body": "hello"}])
                for number in (1, 2):
                    ran = self.comment(text * number, variables)
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    bodies = [comment["body"] for comment in server.comments]
                    self.assertEqual(bodies, ["hello", f"{MARKER}\n{text * number}"])
                    self.assertNotIn("secret-token", ran.stdout + ran.stderr)

    def test_an_earlier_comment_is_found_on_a_later_page(self):
        many = [{"id": n, "body": "x"} for n in range(1, 251)]
        for kind in ("github", "gitea", "gitlab"):
            with self.subTest(kind):
                server, variables = self.serve(kind, [*many, {"id": 251, "body": f"{MARKER}\nold"}])
                self.assertEqual(self.comment("new", variables).returncode, 0)
                self.assertEqual(server.comments[250]["body"], f"{MARKER}\nnew")
                self.assertEqual(len(server.comments), 251)

    def test_a_comment_of_another_is_left_alone(self):
        server, variables = self.serve("github", [{"id": 1, "body": f"{MARKER}\nforged"}])
        server.others.add(1)
        ran = self.comment("new", variables)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual([c["body"] for c in server.comments], [f"{MARKER}\nforged", f"{MARKER}\nnew"])

    def test_a_refusal_is_a_failure(self):
        server, variables = self.serve("github")
        ran = self.comment("new", {**variables, "MAPSTACK_TOKEN": "wrong"})
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("401", ran.stderr)
        self.assertEqual(server.comments, [])

    def test_what_is_not_done_is_said(self):
        _, variables = self.serve("github")
        self.assertIn("nothing to say", self.comment("", variables).stderr)
        del variables["MAPSTACK_TOKEN"]
        self.assertIn("MAPSTACK_TOKEN is not set", self.comment("new", variables).stderr)


if __name__ == "__main__":
    unittest.main()
