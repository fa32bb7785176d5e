"""Asks a server everything it lists, through a client of whichever SDK, and counts what held."""

import hashlib
import json
import re
import sys


def plain(value):
    """A model of either SDK as the JSON that went over the wire."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Walk:
    def __init__(self, plan):
        self.plan = plan
        self.passed = 0
        self.failed = []

    def check(self, holds, what):
        if holds:
            self.passed += 1
        else:
            self.failed.append(what)

    async def run(self, client, spoken, expected):
        """Walks a connected client; `client` has the methods of `ClientSession`, with plain arguments."""
        check, plan = self.check, self.plan
        check(spoken == expected, f"speaks {spoken}, not {expected}")
        tools = plain(await client.list_tools())["tools"]
        called = {call["name"] for call in plan["tools"]}
        for tool in tools:
            check(tool["name"] in called, f"the tool {tool['name']} is called")
        listings = []
        for call in plan["tools"]:
            name, arguments, refused = call["name"], call["arguments"], call.get("refused")
            what = f"{name} {json.dumps(arguments)}"
            try:
                result = plain(await client.call_tool(name, arguments))
            except Exception as error:  # whatever an SDK raises is what is told
                check(False, f"{what}: {error}")
                continue
            half, text = result.get("structuredContent", {}), result["content"][0]["text"]
            check(result.get("isError", False) == bool(refused), f"{what}: {text}")
            if refused:
                check(half.get("code") == refused, f"{what}: {text}")
            else:
                check(half.get("listing") and half["listing"] in text, f"{what}: {text}")
            check(len(text) <= 12000, f"{what}: {len(text)} characters")
            listings.append(half.get("message") if refused else half.get("listing"))

        build = None
        for resource in plain(await client.list_resources())["resources"]:
            uri = resource["uri"]
            contents = plain(await client.read(uri))["contents"][0]
            same = contents["uri"] == uri and contents["mimeType"] == resource["mimeType"]
            check(same and contents.get("text"), f"{uri} is read")
            if uri == "archive://index":
                build = next(build for build in json.loads(contents["text"])["builds"] if build["name"] == "hello")
        for template in plain(await client.list_resource_templates())["resourceTemplates"]:
            template = template["uriTemplate"]
            values = {"build_id": build["build_id"], "edition": build["edition"], **plan["templates"][template]}
            uri = re.sub(r"\{\+?(\w+)\}", lambda name: values[name[1]], template)
            contents = plain(await client.read(uri))["contents"][0]
            check(contents["uri"] == uri and contents["text"], f"{uri} is read")
            listings.append(contents["text"])
        try:
            await client.read("archive://nothing")
            check(False, "a resource that is none is refused")
        except Exception as error:
            check("no resource" in str(error), f"a resource that is none is refused: {error}")

        prompts = plain(await client.list_prompts())["prompts"]
        asked = {prompt["name"] for prompt in plan["prompts"]}
        for prompt in prompts:
            check(prompt["name"] in asked, f"the prompt {prompt['name']} is asked for")
        for prompt in plan["prompts"]:
            got = plain(await client.get_prompt(prompt["name"], prompt["arguments"]))
            check("hello" in got["messages"][0]["content"]["text"], f"the prompt {prompt['name']} is filled in")
        for completion in plan["completions"]:
            reference = client.reference(completion["prompt"])
            got = plain(await client.complete(reference, completion["argument"], completion.get("context")))
            values = got["completion"]["values"]
            check(values == completion["values"], f"{completion['argument']['name']}: {values}")

        digest = hashlib.sha256("\0".join(listings).encode()).hexdigest()
        print(json.dumps({"passed": self.passed, "failed": self.failed, "digest": digest}))


def target():
    """What is asked, and of whom: `PLAN http URL VERSION` or `PLAN stdio VERSION COMMAND…`."""
    file, kind, *rest = sys.argv[1:]
    with open(file, encoding="utf-8") as plan:
        plan = json.load(plan)
    if kind == "http":
        return plan, rest[0], rest[1], None
    return plan, None, rest[0], rest[1:]
