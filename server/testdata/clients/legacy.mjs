// The TypeScript SDK of the protocol versions up to 2025-11-25.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { options, run } from './common.mjs';

await run('legacy', async (human) => {
  const { url } = options(process.argv.slice(2));
  const client = new Client({ name: 'ts-legacy', version: '1.0.0' }, { capabilities: human ? { elicitation: {} } : {} });
  if (human) client.setRequestHandler(ElicitRequestSchema, async (req) => human(req.params));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}, (options) => [undefined, options]);
