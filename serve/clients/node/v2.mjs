// The TypeScript SDK, version 2: it begins with `initialize` unless it is told to speak 2026-07-28.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { target, walk } from './walk.mjs';

const { plan, url, version, command, args } = target();
const transport = url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport({ command, args });
const mode = version === '2026-07-28' ? 'auto' : 'legacy';
const client = new Client({ name: 'elfscope-clients', version: '1' }, { versionNegotiation: { mode } });
await client.connect(transport);
await walk(client, client.getNegotiatedProtocolVersion(), version, plan);
await client.close();
