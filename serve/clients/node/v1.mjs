// The TypeScript SDK, version 1: it knows revisions up to 2025-11-25.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { target, walk } from './walk.mjs';

const { plan, url, version, command, args } = target();
const transport = url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport({ command, args });
let spoken;
const setVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (negotiated) => {
  spoken = negotiated;
  setVersion?.(negotiated);
};
const client = new Client({ name: 'elfscope-clients', version: '1' });
await client.connect(transport);
await walk(client, spoken, version, plan);
await client.close();
