// An identity provider (npm oidc-provider) and what a resource server owes it:
//
//   node check.mjs PORT URL
//
// starts the provider at http://127.0.0.1:PORT and looks at the MCP server at
// URL, which has it as auth.oidc.issuer, URL as auth.resource and tools:call
// as the scope that tokens need. It prints what it did and ends with 1 at the
// first thing that is not as it has to be.
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import http from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { SignJWT, exportJWK } from 'jose';
import Provider from 'oidc-provider';

const [port, url] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const say = (text) => console.log(`   ${text}`);

// The keys are ours, so that tokens of every kind can be made.
const signing = generateKeyPairSync('rsa', { modulusLength: 2048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const provider = new Provider(issuer, {
	jwks: { keys: [{ ...(await exportJWK(signing.privateKey)), kid: 'main', use: 'sig', alg: 'RS256' }] },
	clients: ['agent', 'little'].map((client_id) => ({
		client_id, client_secret: `secret-of-${client_id}`, grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
	})),
	scopes: ['tools:call', 'tools:list'],
	features: {
		clientCredentials: { enabled: true },
		devInteractions: { enabled: false },
		resourceIndicators: {
			enabled: true,
			defaultResource: () => url,
			getResourceServerInfo: () => ({
				scope: 'tools:call tools:list', audience: url, accessTokenTTL: 600, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } },
			}),
		},
	},
});
let keysAsked = 0;
const handle = provider.callback();
const idp = http.createServer((req, res) => {
	if (req.url.startsWith('/jwks')) keysAsked += 1;
	handle(req, res);
});
await new Promise((resolve) => idp.listen(Number(port), '127.0.0.1', resolve));

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'base64', arguments: { text: 'from a stranger' } } };
const post = (token) => fetch(url, {
	method: 'POST', body: JSON.stringify(call),
	headers: {
		'content-type': 'application/json', accept: 'application/json, text/event-stream',
		...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
	},
});

// Without a token: 401, and where to go on.
const first = await post();
assert.equal(first.status, 401);
const challenge = first.headers.get('www-authenticate');
assert.match(challenge, /^Bearer /);
assert.doesNotMatch(challenge, /error=/, 'no token came, so none is invalid');
const where = /resource_metadata="([^"]+)"/.exec(challenge)[1];
assert.match(challenge, /scope="tools:call"/);
const metadata = await (await fetch(where)).json();
assert.equal(metadata.resource, url);
assert.deepEqual(metadata.authorization_servers, [issuer]);
say(`401, and ${where} names ${issuer}`);

// The client finds all of that by itself. The keys of the provider may still
// be unknown to the server, which was started first.
const discover = async () => {
	const client = new Client({ name: 'identity-check', version: '1' });
	await client.connect(new StreamableHTTPClientTransport(new URL(url), {
		authProvider: new ClientCredentialsProvider({ clientId: 'agent', clientSecret: 'secret-of-agent', scope: 'tools:call', expectedIssuer: issuer }),
	}));
	return client;
};
let client;
for (let tries = 0; client === undefined; tries += 1) {
	try {
		client = await discover();
	} catch (err) {
		if (tries === 60) throw err;
		await new Promise((resolve) => setTimeout(resolve, 500));
	}
}
const { tools } = await client.listTools();
const answer = await client.callTool({ name: 'base64', arguments: { text: 'hello world' } });
assert.equal(answer.content[0].text, 'aGVsbG8gd29ybGQ=');
await client.close();
say(`401 -> metadata -> token -> call: ${tools.length} tools, base64 answers`);

const token = async (clientId, scope) => {
	const res = await fetch(`${issuer}/token`, {
		method: 'POST',
		headers: { authorization: `Basic ${Buffer.from(`${clientId}:secret-of-${clientId}`).toString('base64')}` },
		body: new URLSearchParams({ grant_type: 'client_credentials', resource: url, ...(scope ? { scope } : {}) }),
	});
	assert.equal(res.status, 200);
	return (await res.json()).access_token;
};
const narrow = await post(await token('little', 'tools:list'));
assert.equal(narrow.status, 403);
assert.match(narrow.headers.get('www-authenticate'), /error="insufficient_scope"/);
assert.match(narrow.headers.get('www-authenticate'), /scope="tools:call"/);
say('a token without the scope: 403 insufficient_scope');

// Tokens that do not hold. Each is as the good one but for one thing.
const now = Math.floor(Date.now() / 1000);
const claims = { iss: issuer, aud: url, sub: 'agent', client_id: 'agent', scope: 'tools:call', iat: now, exp: now + 600 };
const mint = (change = {}, { kid = 'main', key = signing.privateKey } = {}) => {
	const all = { ...claims, ...change };
	for (const [name, v] of Object.entries(all)) if (v === undefined) delete all[name];
	return new SignJWT(all).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid }).sign(key);
};
const b64 = (v) => Buffer.from(v).toString('base64url');
const withoutSignature = `${b64(JSON.stringify({ alg: 'none', kid: 'main' }))}.${b64(JSON.stringify(claims))}.`;
const hs = `${b64(JSON.stringify({ alg: 'HS256', kid: 'main' }))}.${b64(JSON.stringify(claims))}`;
const confused = `${hs}.${createHmac('sha256', signing.publicKey.export({ type: 'spki', format: 'pem' })).update(hs).digest('base64url')}`;
const bad = {
	expired: await mint({ exp: now - 600 }),
	'not-yet-valid': await mint({ nbf: now + 600 }),
	issuer: await mint({ iss: 'http://127.0.0.1:1' }),
	audience: await mint({ aud: 'https://other.example/mcp' }),
	'no-expiry': await mint({ exp: undefined }),
	'algorithm (none)': withoutSignature,
	'algorithm (HS256 with the public key)': confused,
	'unknown-key': await mint({}, { kid: 'nobodys' }),
	signature: await mint({}, { key: stranger.privateKey }),
};
const minted = await post(await mint()); // what is made here differs in nothing else
assert.ok(minted.status === 200 || minted.status === 400 || minted.status === 404, `the good one: ${minted.status}`);
for (const [name, t] of Object.entries(bad)) {
	const res = await post(t);
	const text = `${res.headers.get('www-authenticate')} ${await res.text()}`;
	assert.equal(res.status, 401, name);
	assert.match(text, /error="invalid_token"/, name);
	assert.doesNotMatch(text.replace(`${new URL(url).origin}/.well-known`, ''), /audience|127\.0\.0\.1/, `${name}: the answer says what was expected`);
}
say(`${Object.keys(bad).length} bad tokens: 401 invalid_token each`);

const before = keysAsked;
for (let i = 0; i < 60; i += 1) {
	assert.equal((await post(await mint({}, { kid: `flood-${i}` }))).status, 401);
}
const asked = keysAsked - before;
assert.ok(asked <= 3, `60 unknown keys had the provider asked ${asked} times`);
say(`60 tokens with unknown keys: the provider was asked ${asked} times (${keysAsked} in all)`);
idp.close();
idp.closeAllConnections();
