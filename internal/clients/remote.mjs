// Speaks MCP over stdio with mcp-remote, which bridges it to the server: list,
// call, progress, and a call that asks, which a client without forms cannot
// answer. It prints one JSON document; exit 0 means that all was as expected.
//
//   node remote.mjs URL
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const url = process.argv[2];
const proxy = fileURLToPath(new URL('./node_modules/mcp-remote/dist/proxy.js', import.meta.url));
const child = spawn(process.execPath, [proxy, url, '--transport', 'http-only', '--allow-http'], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
const heard = [];
createInterface({ input: child.stdout }).on('line', (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return;
  }
  if (message.method === 'notifications/progress') heard.push(message.params);
  waiting.get(message.id)?.(message);
});
const late = setTimeout(() => end({ error: 'no answer in time' }), 90000);

function send(message) {
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
let next = 0;
function request(method, params) {
  const id = ++next;
  return new Promise((resolve) => {
    waiting.set(id, (answer) => { waiting.delete(id); resolve(answer); });
    send({ id, method, params });
  });
}
function end(report) {
  clearTimeout(late);
  child.kill();
  console.log(JSON.stringify(report, null, 2));
  process.exit(report.ok ? 0 : 1);
}

const checks = {};
const check = (name, ok, seen) => { checks[name] = ok ? 'ok' : { failed: seen ?? null }; };
const init = await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'remote', version: '1' } });
check('initialize', Boolean(init.result?.serverInfo), init);
send({ method: 'notifications/initialized' });
const list = await request('tools/list', {});
check('list', list.result?.tools?.length > 0, list);
const call = await request('tools/call', { name: 'base64', arguments: { text: 'hello world' }, _meta: { progressToken: 'p' } });
check('call', call.result?.content?.[0]?.text === 'aGVsbG8gd29ybGQ=', call);
check('progress', heard.length > 0 && heard.every((p) => p.progressToken === 'p'), heard);
const asked = await request('tools/call', { name: 'writeTextFile', arguments: { path: 'remote.txt', content: 'x' } });
check('a call that asks', asked.result?.isError && /^APPROVAL_/.test(asked.result?.structuredContent?.error?.code), asked);
end({ ok: Object.values(checks).every((v) => v === 'ok'), checks });
