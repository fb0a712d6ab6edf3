"""What can answer the plan's calls: the service, sound or damaged, and a canned reply.

An arm is called with (operation, path parameters, body) and answers with (status, headers, body).
"""

import http.client
import json
import subprocess
import sys
import tempfile
from pathlib import Path

JSON_HEADERS = {"content-type": "application/json"}
SCRIPT = "notes_api.py"


class Service:
    """The notes service in a process of its own, with a fresh store."""

    def __init__(self, source):
        self.folder = tempfile.TemporaryDirectory()
        script = Path(self.folder.name) / SCRIPT
        script.write_text(source, encoding="utf-8")
        self.process = subprocess.Popen([sys.executable, "-I", str(script)], stdout=subprocess.PIPE, text=True)
        address = self.process.stdout.readline().strip().removeprefix("http://")
        self.connection = http.client.HTTPConnection(address, timeout=10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def __call__(self, operation, path, body):
        method = {"get-note": "GET", "change-note": "PATCH"}[operation]
        data = None if body is None else json.dumps(body)
        self.connection.request(method, f"/notes/{path['id']}", body=data, headers=JSON_HEADERS if data else {})
        answer = self.connection.getresponse()
        text = answer.read()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, headers, json.loads(text)


class Canned:
    """A committed reply: the first answer whose conditions the call meets."""

    def __init__(self, reply):
        self.answers = reply["answers"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __call__(self, operation, path, body):
        sent = {"path": path, "body": body or {}}
        for answer in self.answers:
            wanted = [
                (channel, key, value["literal"])
                for channel, keys in answer["when"].items()
                for key, value in (keys or {}).items()
            ]
            if answer["operation_id"] == operation and all(sent[c].get(k) == v for c, k, v in wanted):
                observation = answer["observation"]
                return observation["status"], observation["headers"], observation["body"]["value"]
        raise LookupError(f"the canned reply has no answer for {operation}")


def planted(source, mutation):
    """The service's source with the one line replaced."""
    if source.count(mutation["find"]) != 1:
        raise ValueError(f"{mutation['find']!r} must occur exactly once")
    return source.replace(mutation["find"], mutation["replace"])
