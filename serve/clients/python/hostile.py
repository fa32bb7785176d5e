"""Sends anything over one HTTP connection and one standard input, and a good call after each batch: its bytes never change.

`hostile.py PORT SEED BATCHES COMMAND…`
"""

import http.client
import json
import random
import subprocess
import sys

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
GOOD = {"jsonrpc": "2.0", "id": "good", "method": "tools/call", "params": {"name": "read_me", "arguments": {}, "_meta": META}}
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": MODERN,
    "mcp-method": "tools/call",
    "mcp-name": "read_me",
}
METHODS = [
    "tools/call", "tools/list", "resources/read", "resources/list", "resources/templates/list", "prompts/get", "prompts/list",
    "completion/complete", "server/discover", "initialize", "ping", "notifications/initialized", "notifications/cancelled", "x",
]
WORDS = [
    "hello", "main", "import:puts", "0x1139", "hello.c", "archive://index", "archive://hello/", "elfscope://read-me", "%", "%00",
    "../..", "\x00", "\u202e", "a" * 9000, "", "9" * 400, "(a+)+$", "[", ".*", "exact", "regex", "2.0", MODERN, "docent",
]
TOOLS = [
    "archive_lookup", "archive_function", "archive_source", "archive_callees", "archive_callers", "archive_diff", "read_me", "x",
]
KEYS = [
    "name", "arguments", "uri", "cursor", "_meta", "ref", "argument", "build_id", "builds", "function", "query", "match", "kind",
    "path", "from", "rows", "lines", "view", "bytes", "class", "context", "a", "b", "protocolVersion", "",
]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, depth=0):
        pick = self.random.randrange(9 if depth < 4 else 6)
        if pick < 3:
            return self.random.choice(WORDS + TOOLS + METHODS)
        if pick == 3:
            return self.random.choice([0, 1, -1, 2**31, 2**53, 2**64 - 1, -(2**63), 10**30, 0.5, -0.0, 1e300])
        if pick < 6:
            return self.random.choice([None, True, False])
        if pick == 6:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.random.choice(KEYS): self.value(depth + 1) for _ in range(self.random.randrange(6))}

    def message(self):
        """The bytes of a message, without a newline in them."""
        params = {key: self.value(1) for key in self.random.sample(KEYS, self.random.randrange(4))}
        if self.random.random() < 0.7:
            params["name"] = self.random.choice(TOOLS + WORDS)
            params["arguments"] = {key: self.value(2) for key in self.random.sample(KEYS, self.random.randrange(6))}
        if self.random.random() < 0.5:
            params["_meta"] = META
        message = {
            "jsonrpc": self.random.choice(["2.0"] * 9 + ["1.0"]),
            "id": self.random.choice([1, "a", "a", 7, None, 1.5, [], 2**70]),
            "method": self.random.choice(METHODS),
            "params": params if self.random.random() < 0.9 else self.value(),
        }
        for key in list(message):
            if self.random.random() < 0.04:
                del message[key]
        text = json.dumps(message).encode()
        pick = self.random.random()
        if pick < 0.1:
            at = self.random.randrange(len(text))
            text = text[:at] + bytes([self.random.randrange(256)]) + text[at + 1 :]
        elif pick < 0.15:
            text = text[: self.random.randrange(len(text))]
        elif pick < 0.2:
            text = text.replace(b'"method"', b'"method":"ping","method"', 1)
        elif pick < 0.23:
            text = b"[" * self.random.randrange(1, 70000)
        elif pick < 0.26:
            text = text[:-1] + b',"x":"' + b"x" * self.random.randrange(60000, 200000) + b'"}'
        elif pick < 0.3:
            text = bytes(self.random.randrange(256) for _ in range(self.random.randrange(300)))
        return text.replace(b"\n", b" ")

    def headers(self):
        headers = dict(HEADERS)
        for name in list(headers):
            pick = self.random.random()
            if pick < 0.2:
                del headers[name]
            elif pick < 0.5:
                headers[name] = self.random.choice(["tools/list", "archive_lookup", "2025-11-25", "=?base64?!?=", "\xff", "x" * 3000])
        if self.random.random() < 0.1:
            headers["mcp-session-id"] = "anything"
        return headers


def checked(text, what):
    """A message that answers, which is never an internal error."""
    message = json.loads(text)
    assert message["jsonrpc"] == "2.0" and ("result" in message) != ("error" in message), what
    assert message.get("error", {}).get("code") != -32603, what


def post(connection, body, headers):
    connection.request("POST", "/mcp", body=body, headers=headers)
    response = connection.getresponse()
    return response.status, response.read()


def over_http(port, maker, batches):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.connect()
    socket = connection.sock
    good = json.dumps(GOOD)
    before = post(connection, good, HEADERS)
    assert before[0] == 200
    sent = 0
    for _ in range(batches):
        for _ in range(maker.random.randrange(1, 9)):
            body, headers = maker.message(), maker.headers()
            status, answer = post(connection, body, headers)
            assert status < 500 and status != 404 or b"-32601" in answer, (status, body[:500], headers)
            if answer and status != 403:
                checked(answer, body[:500])
            sent += 1
        assert post(connection, good, HEADERS) == before
    assert connection.sock is socket, "it was one connection"
    return sent + batches


def over_stdio(command, maker, batches):
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    good = json.dumps(GOOD).encode()

    def ask():
        server.stdin.write(good + b"\n")
        server.stdin.flush()
        while True:
            line = server.stdout.readline()
            assert line.endswith(b"\n"), "the server ended"
            checked(line, line[:500])
            if b'"id":"good"' in line:
                return line

    before = ask()
    sent = 0
    for _ in range(batches):
        for _ in range(maker.random.randrange(1, 9)):
            server.stdin.write(maker.message() + maker.random.choice([b"\n", b"\r\n"]))
            sent += 1
        assert ask() == before
    server.stdin.close()
    assert server.stdout.read() == b"", "nothing more is said"
    assert server.wait(10) == 0
    return sent + batches


def main():
    port, seed, batches, *command = sys.argv[1:]
    passed = over_http(int(port), Maker(int(seed)), int(batches))
    passed += over_stdio(command, Maker(int(seed) + 1), int(batches))
    print(json.dumps({"passed": passed, "failed": []}))


main()
