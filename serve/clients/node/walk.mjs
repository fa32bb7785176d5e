// Asks a server everything it lists, through a client of whichever SDK, and counts what held.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

let passed = 0;
const failed = [];

function check(holds, what) {
  if (holds) passed += 1;
  else failed.push(what);
}

/** Walks a connected client. `version` is what both sides speak. */
export async function walk(client, version, expected, plan) {
  check(version === expected, `speaks ${version}, not ${expected}`);
  check((client.getInstructions() ?? '').includes('read_me'), 'instructions name read_me');

  const { tools } = await client.listTools();
  const called = new Set(plan.tools.map((call) => call.name));
  for (const tool of tools) check(called.has(tool.name), `the tool ${tool.name} is called`);
  const listings = [];
  for (const { name, arguments: args, refused } of plan.tools) {
    const what = `${name} ${JSON.stringify(args)}`;
    try {
      const result = await client.callTool({ name, arguments: args });
      const [half, text] = [result.structuredContent ?? {}, result.content?.[0]?.text ?? ''];
      check((result.isError ?? false) === Boolean(refused), `${what}: refused is ${result.isError}: ${text}`);
      check(refused ? half.code === refused : text.includes(half.listing) && half.listing.length > 0, `${what}: ${text}`);
      check(text.length <= 12000, `${what}: ${text.length} characters`);
      listings.push(refused ? half.message : half.listing);
    } catch (error) {
      check(false, `${what}: ${error}`);
    }
  }

  const { resources } = await client.listResources();
  let build;
  for (const { uri, mimeType } of resources) {
    const [contents] = (await client.readResource({ uri })).contents;
    check(contents.uri === uri && contents.mimeType === mimeType && contents.text?.length > 0, `${uri} is read`);
    if (uri === 'archive://index') build = JSON.parse(contents.text).builds.find(({ name }) => name === 'hello');
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  for (const { uriTemplate } of resourceTemplates) {
    const values = { build_id: build.build_id, edition: build.edition, ...plan.templates[uriTemplate] };
    const uri = uriTemplate.replace(/\{\+?(\w+)\}/g, (_, name) => values[name]);
    const [contents] = (await client.readResource({ uri })).contents;
    check(contents.uri === uri && contents.text.length > 0, `${uri} is read`);
    listings.push(contents.text);
  }
  await client.readResource({ uri: 'archive://nothing' }).then(
    () => check(false, 'a resource that is none is refused'),
    (error) => check([-32602, -32002].includes(error.code), `a resource that is none is refused: ${error}`),
  );

  const { prompts } = await client.listPrompts();
  const asked = new Set(plan.prompts.map((prompt) => prompt.name));
  for (const { name } of prompts) check(asked.has(name), `the prompt ${name} is asked for`);
  for (const { name, arguments: args } of plan.prompts) {
    const { messages } = await client.getPrompt({ name, arguments: args });
    check(messages[0].content.text.includes('hello'), `the prompt ${name} is filled in`);
  }
  for (const { prompt, argument, context, values } of plan.completions) {
    const ref = { type: 'ref/prompt', name: prompt };
    const { completion } = await client.complete({ ref, argument, ...(context && { context: { arguments: context } }) });
    check(JSON.stringify(completion.values) === JSON.stringify(values), `${argument.name}: ${completion.values}`);
  }

  const digest = createHash('sha256').update(listings.join('\0')).digest('hex');
  console.log(JSON.stringify({ passed, failed, digest }));
}

/** What is asked, and of whom: `PLAN http URL VERSION` or `PLAN stdio VERSION COMMAND…`. */
export function target() {
  const [file, kind, ...rest] = process.argv.slice(2);
  const plan = JSON.parse(readFileSync(file, 'utf8'));
  if (kind === 'http') return { plan, url: new URL(rest[0]), version: rest[1] };
  return { plan, version: rest[0], command: rest[1], args: rest.slice(2) };
}
