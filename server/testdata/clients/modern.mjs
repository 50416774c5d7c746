// The TypeScript client of protocol version 2026-07-28.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { options, run } from './common.mjs';

await run('modern', async (human) => {
  const { url } = options(process.argv.slice(2));
  const client = new Client(
    { name: 'ts-modern', version: '1.0.0' },
    { capabilities: human ? { elicitation: {} } : {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  if (human) client.setRequestHandler('elicitation/create', async (req) => human(req.params));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}, (options) => [options]);
