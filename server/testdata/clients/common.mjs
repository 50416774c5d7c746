// What both scripts do once they have a client: list, call, let the human accept
// and decline, and give up on a call that takes long. It prints one JSON
// document; exit 0 means that everything was as expected.
//
//   node legacy.mjs URL [--call NAME] [--args JSON] [--expect TEXT] [--ask NAME] [--ask-args JSON] [--slow NAME]
//
// --call  a tool that runs without asking (default base64)
// --args  its arguments (default {"text":"hello world"})
// --expect the text that it returns (default aGVsbG8gd29ybGQ=)
// --ask   a tool that needs approval; without it approvals are not tried
// --slow  a tool that takes many seconds; without it progress and cancelling are not tried

export function options(argv) {
  const [url, ...rest] = argv;
  const o = { url, call: 'base64', args: { text: 'hello world' }, expect: 'aGVsbG8gd29ybGQ=', ask: '', askArgs: {}, slow: '' };
  for (let i = 0; i < rest.length; i += 2) {
    const v = rest[i + 1];
    if (rest[i] === '--call') o.call = v;
    else if (rest[i] === '--args') o.args = JSON.parse(v);
    else if (rest[i] === '--expect') o.expect = v;
    else if (rest[i] === '--ask') o.ask = v;
    else if (rest[i] === '--ask-args') o.askArgs = JSON.parse(v);
    else if (rest[i] === '--slow') o.slow = v;
    else throw new Error(`unknown option ${rest[i]}`);
  }
  if (!url) throw new Error('usage: node legacy.mjs|modern.mjs URL [--call NAME] [--args JSON] [--ask NAME] [--ask-args JSON] [--slow NAME]');
  return o;
}

// run drives one script. connect(human) gives a connected client whose human
// is the given function, or one that cannot ask when it is null.
export async function run(era, connect, slowOptions) {
  const report = { era, ok: false, checks: {} };
  const check = (name, ok, seen) => { report.checks[name] = ok ? 'ok' : { failed: seen ?? null }; };
  const clients = [];
  const open = async (human) => { const c = await connect(human); clients.push(c); return c; };
  try {
    const o = options(process.argv.slice(2));
    const plain = await open(null);
    report.server = plain.getServerVersion?.();
    const { tools } = await plain.listTools();
    report.tools = tools.length;
    check('list', tools.length > 0 && tools.every((t) => t.name && t.description && t.inputSchema?.type === 'object'), tools);
    const again = await plain.listTools();
    check('list is stable', JSON.stringify(tools) === JSON.stringify(again.tools), again.tools);

    const called = await plain.callTool({ name: o.call, arguments: o.args });
    report.result = called.structuredContent ?? called.content;
    check('call', !called.isError && called.content[0]?.text === o.expect, called);

    const unknown = await plain.callTool({ name: 'no-such-tool', arguments: {} });
    check('unknown tool', unknown.isError && unknown.structuredContent?.error?.code === 'NOT_FOUND', unknown);

    if (o.ask) {
      const call = async (human) => (await open(human)).callTool({ name: o.ask, arguments: o.askArgs });
      let prompt = '';
      const accepted = await call((p) => { prompt = p.message; return { action: 'accept', content: {} }; });
      check('accept', !accepted.isError && prompt.includes(o.ask), { prompt, accepted });
      for (const [action, reason] of [['decline', 'declined'], ['cancel', 'cancelled']]) {
        const refused = await call(() => ({ action }));
        const e = refused.structuredContent?.error;
        check(action, refused.isError && e?.code === 'APPROVAL_DENIED' && e?.reason === reason, refused);
      }
    }

    if (o.slow) {
      const giveUp = new AbortController();
      const heard = [];
      const onprogress = (p) => {
        heard.push(p);
        if (p.message === 'running') giveUp.abort();
      };
      const late = setTimeout(() => giveUp.abort(), 60000);
      const ended = await plain
        .callTool({ name: o.slow, arguments: {} }, ...slowOptions({ onprogress, signal: giveUp.signal }))
        .then((answer) => ({ answer }), (err) => ({ gaveUp: String(err) }));
      clearTimeout(late);
      check('progress', heard.some((p) => p.message === 'running') && heard.every((p, i) => i === 0 || p.progress > heard[i - 1].progress), heard);
      check('give up', Boolean(ended.gaveUp), ended);
      const next = await plain.callTool({ name: o.call, arguments: o.args });
      check('call after giving up', !next.isError && next.content[0]?.text === o.expect, next);
    }
    report.ok = Object.values(report.checks).every((v) => v === 'ok');
  } catch (err) {
    report.error = String(err?.stack ?? err);
  }
  await Promise.allSettled(clients.map((c) => c.close()));
  console.log(JSON.stringify(report, null, 2));
  process.exit(report.ok ? 0 : 1);
}
