// Signing in at the page of a server of commands, in a real Chromium, at a real issuer (oidc-provider), and a job's token
// of that issuer for commands. All on loopback.
//
//   node tests/sign-in/test.mjs PROGRAM
//
// `./dev page sign-in` calls it.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Provider from 'oidc-provider';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const program = resolve(process.argv[2]);
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const folder = mkdtempSync(join(tmpdir(), 'fettle-sign-in-'));
const home = join(folder, 'home');
const children = [], servers = [];
let passed = 0;

const groupsOf = { alice: ['ops'], bob: ['shop'], carol: ['guests'] };

function run(words, variables = {}) {
  return spawnSync(program, words, { env: { ...process.env, FETTLE_HOME: home, ...variables }, encoding: 'utf8', cwd: folder });
}
function made(words) {
  const ended = run(words);
  assert.equal(ended.status, 0, `${words.join(' ')}: ${ended.stderr}`);
  return ended.stdout.trim();
}

async function freePort() {
  const server = net.createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function listening(server, port) {
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  servers.push(server);
}

async function startIssuer(port, redirects) {
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      { client_id: 'fettle', client_secret: 'a-secret-of-this-test', redirect_uris: redirects },
      { client_id: 'ci', client_secret: 'another-secret', redirect_uris: [`${issuer}/none`] },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    conformIdTokenClaims: true,  // so they are asked for at the userinfo
    findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id, preferred_username: id, groups: groupsOf[id] ?? [] }) }),
    cookies: { keys: ['some key'] },
  });
  await listening(http.createServer(provider.callback()), port);
  return issuer;
}

// Whoever made the certificate is asked nothing: a browser of this test takes it.
function answers(url) {
  return new Promise((done) => {
    const asked = (url.startsWith('https') ? https : http).get(url, { rejectUnauthorized: false }, (answer) => { answer.resume(); done(true); });
    asked.on('error', () => done(false));
  });
}

async function startServer(port, words, scheme = 'http') {
  const said = openSync(join(folder, `said-${port}`), 'w');
  const child = spawn(program, ['serve', '--page', '--listen', `127.0.0.1:${port}`, '--token-file', join(folder, 'token'), ...words], { env: { ...process.env, FETTLE_HOME: home, DOCKER_HOST: 'unix:///nowhere' }, stdio: ['ignore', said, said] });
  children.push(child);
  for (const end = Date.now() + 20_000;;) {
    if (await answers(`${scheme}://127.0.0.1:${port}/healthz`)) return;
    assert.ok(Date.now() < end && child.exitCode === null, readFileSync(join(folder, `said-${port}`), 'utf8'));
    await new Promise((done) => setTimeout(done, 30));
  }
}

// A proxy that has a path in front, and takes it off.
async function startProxy(port, to) {
  await listening(http.createServer((request, response) => {
    if (!request.url.startsWith('/fettle/')) { response.writeHead(404).end(); return; }
    const asked = http.request({ host: '127.0.0.1', port: to, path: request.url.slice('/fettle'.length), method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    asked.on('error', () => response.destroy());
    response.on('close', () => asked.destroy());
    request.pipe(asked);
  }), port);
}

function makeEnvironment(name, count) {
  let text = '';
  for (let i = 0; i < count; ++i) text += `n${i}:\n  test.nop: []\n`;
  writeFileSync(join(folder, `${name}.sls`), text);
  made(['state', `${name}.sls`, '-e', name]);
}

// A model whose one resource fettle itself can be: each release of another address is due.
function makeModel(name, address) {
  const project = join(folder, name);
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'project.yml'), 'name: acts\n');
  writeFileSync(join(project, 'main.cf'), `import std\nstd::AgentConfig(agentname="${address}", uri="local:")\n`);
  const ended = spawnSync(program, ['export', '-e', name], { env: { ...process.env, FETTLE_HOME: home }, encoding: 'utf8', cwd: project });
  assert.equal(ended.status, 0, ended.stderr);
}

async function checkAxe(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(' ')}`), [], where);
}

// With the keyboard alone.
async function tabTo(page, label) {
  for (let i = 0; i < 80; ++i) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.textContent === wanted, label)) return;
  }
  assert.fail(`Tab does not lead to ${label}: ${await page.evaluate(() => document.body.innerText)}`);
}

async function signInByToken(page, url, token) {
  await page.goto(`${url}/sign-in`);
  await page.fill('input[name=token]', token);
  await page.click('button');
  await shows(page, 'Signed in as');
}
const audited = () => JSON.parse(made(['audit', '-o', 'json']));

async function until(page, holds, argument) {
  for (const end = Date.now() + 20_000; !await page.evaluate(holds, argument).catch(() => false);) {
    if (Date.now() > end) assert.fail(`waited for ${holds} with ${argument}; ${page.url()} says:\n${await page.evaluate(() => document.body.innerText)}`);
    await new Promise((done) => setTimeout(done, 30));
  }
}
const focused = (page, text) => until(page, (wanted) => document.activeElement?.textContent === wanted, text);
const shows = (page, text) => until(page, (wanted) => document.body.innerText.includes(wanted), text);

async function step(name, work) {
  try { await work(); } catch (error) { console.error(`failed: ${name}`); throw error; }
  ++passed;
}

async function at(browser, work, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const troubles = [];
  // The issuer's own pages are its business, and a refusal is what some of the steps want.
  page.on('console', (message) => { if (message.type() === 'error' && !/ERR_NAME_NOT_RESOLVED|status of 40[0134]/.test(message.text())) troubles.push(message.text()); });
  page.on('pageerror', (error) => troubles.push(String(error)));
  await work(page, context);
  assert.deepEqual(troubles, []);
  await context.close();
}

async function signInAtIssuer(page, name) {
  await page.click('a[href$="sign-in/oidc"]');
  await page.fill('input[name=login]', name);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.click('button[type=submit]');  // to agree
}

// The part of a browser in the code flow, for a job that has one token: its claims are those of the issuer.
async function jobToken(issuer) {
  const verifier = randomBytes(32).toString('hex'), jar = new Map();
  const go = async (url, body) => {
    const answer = await fetch(url, { redirect: 'manual', method: body === undefined ? 'GET' : 'POST', body, headers: { cookie: [...jar].map(([key, value]) => `${key}=${value}`).join('; ') } });
    for (const one of answer.headers.getSetCookie()) { const [pair] = one.split(';'), cut = pair.indexOf('='); jar.set(pair.slice(0, cut), pair.slice(cut + 1)); }
    return answer;
  };
  let answer = await go(`${issuer}/auth?${new URLSearchParams({ client_id: 'ci', response_type: 'code', scope: 'openid', redirect_uri: `${issuer}/none`, code_challenge_method: 'S256', code_challenge: createHash('sha256').update(verifier).digest('base64url') })}`);
  for (;;) {
    const to = new URL(answer.headers.get('location'), issuer);
    if (to.pathname === '/none') {
      const given = await fetch(`${issuer}/token`, { method: 'POST', headers: { authorization: `Basic ${Buffer.from('ci:another-secret').toString('base64')}` }, body: new URLSearchParams({ grant_type: 'authorization_code', code: to.searchParams.get('code'), redirect_uri: `${issuer}/none`, code_verifier: verifier }) });
      return (await given.json()).id_token;
    }
    answer = await go(to);
    if (answer.status === 200) {
      const prompt = /name="prompt" value="(\w+)"/.exec(await answer.text())[1];
      answer = await go(to, new URLSearchParams(prompt === 'login' ? { prompt, login: 'job-7', password: 'any' } : { prompt }));
    }
  }
}

async function main() {
  const issuerPort = await freePort(), port = await freePort(), behind = await freePort(), proxy = await freePort();
  const here = `http://127.0.0.1:${port}`;
  const issuer = await startIssuer(issuerPort, [`${here}/sign-in/callback`, `http://127.0.0.1:${proxy}/fettle/sign-in/callback`]);
  writeFileSync(join(folder, 'secret'), 'a-secret-of-this-test\n', { mode: 0o600 });
  makeEnvironment('shop-1', 3);
  makeEnvironment('prod', 2);
  const oidc = ['--oidc-issuer', issuer, '--oidc-client', 'fettle', '--oidc-secret-file', join(folder, 'secret'), '--oidc-group', 'ops=act', '--oidc-group', 'shop=read:shop-*'];
  await startServer(port, ['--public-url', here, ...oidc]);
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });

  await step('a member of a group signs in at the issuer and sees its environments', () => at(browser, async (page, context) => {
    await page.goto(`${here}/`);
    await shows(page, 'Token of this server');
    await signInAtIssuer(page, 'bob');
    await shows(page, 'shop-1');
    assert.ok(!(await page.evaluate(() => document.body.innerText)).includes('prod'));
    assert.equal(await page.evaluate(() => document.cookie), '');
    const [cookie] = (await context.cookies(here)).filter((one) => one.name === `fettle-${port}`);
    assert.equal(cookie.httpOnly, true);
    assert.equal(cookie.sameSite, 'Strict');
    // What happens elsewhere is seen, as far as it is his.
    makeEnvironment('prod-2', 1);
    makeEnvironment('shop-2', 1);
    await shows(page, 'shop-2');
    assert.ok(!(await page.evaluate(() => document.body.innerText)).includes('prod'));
    await page.goto(`${here}/#/env/prod`);
    await shows(page, '`prod`');
    await page.goto(`${here}/#/env/shop-1/graph`);
    await shows(page, 'n2');
    await page.goto(`${here}/sign-in`);
    await shows(page, 'You are signed in as bob (oidc) (read)');
    await page.click('button');
    await shows(page, 'Token of this server');
    await page.goto(`${here}/`);
    await shows(page, 'Token of this server');
  }));

  await step('another one may do more, and one of no group is told so', async () => {
    await at(browser, async (page) => {
      await page.goto(`${here}/sign-in`);
      await signInAtIssuer(page, 'alice');
      await shows(page, 'shop-1');
      await shows(page, 'prod');
    });
    await at(browser, async (page) => {
      await page.goto(`${here}/sign-in`);
      await signInAtIssuer(page, 'carol');
      await shows(page, '`carol` is in no group that may do something here');
    });
  });

  await step('a token signs in, and when it is taken away the page asks for another one', () => at(browser, async (page) => {
    const token = made(['token', 'create', 'look', '--right', 'read', '-q']);
    await page.goto(`${here}/sign-in`);
    await page.fill('input[name=token]', 'nothing');
    await page.click('button');
    await shows(page, 'the server does not know this token');
    await page.fill('input[name=token]', token);
    await page.click('button');
    await shows(page, 'prod');
    made(['token', 'rm', 'look']);
    await shows(page, 'Token of this server');
  }));

  const look = made(['token', 'create', 'looker', '--right', 'read', '-q']), actor = made(['token', 'create', 'actor', '--right', 'act', '-q']);

  await step('a plan that is shown is carried out, with the keyboard alone', () => at(browser, async (page) => {
    makeModel('net', 'one');
    await signInByToken(page, here, actor);
    await shows(page, 'Signed in as actor (right act).');
    await page.goto(`${here}/#/env/net/plan`);
    await shows(page, 'fettle versions release -e net --apply');
    await tabTo(page, 'Carry it out');
    await page.keyboard.press('Enter');
    await shows(page, 'Carry out this plan in net?');
    await checkAxe(page, 'asking');
    await page.keyboard.press('Escape');
    await focused(page, 'Carry it out');
    await page.keyboard.press('Enter');
    await focused(page, 'Yes, carry it out');
    await page.keyboard.press('Enter');
    await shows(page, 'has ended with exit code 0.');
    await shows(page, 'deployed std::AgentConfig');
    await checkAxe(page, 'carried out');
    const noted = audited().findLast((one) => one.command?.startsWith('versions release') || one.command?.startsWith('fettle versions release'));
    assert.equal(noted.token, 'actor');
    assert.match(noted.from, / at the page$/);
    assert.ok(noted.run > 0);
    await page.click('button:has-text("Make the plan again")');
    await shows(page, 'Everything is as wanted.');
    assert.equal(await page.locator('button:has-text("Carry it out")').count(), 0);
  }));

  await step('a plan that is stale is refused, and so is a browser without the key', () => at(browser, async (page) => {
    makeModel('net', 'two');
    await signInByToken(page, here, actor);
    await page.goto(`${here}/#/env/net/plan`);
    await shows(page, 'Carry it out');
    made(['versions', 'release', '-e', 'net', '--apply']);
    await page.click('button:has-text("Carry it out")');
    await page.click('button:has-text("Yes, carry it out")');
    await shows(page, 'the due changes differ from the plan');
    await shows(page, 'has ended with exit code 2.');
    await page.evaluate(() => localStorage.clear());
    makeModel('net', 'three');
    await page.click('button:has-text("Make the plan again")');
    await shows(page, 'agentname=three');
    await page.click('button:has-text("Carry it out")');
    await page.click('button:has-text("Yes, carry it out")');
    await shows(page, 'this browser has no key for what acts: sign in again');
  }));

  await step('without the right there is a sentence and no button', () => at(browser, async (page) => {
    const planner = made(['token', 'create', 'own-act', '--right', 'act', '-q']);
    await signInByToken(page, here, planner);
    // What came with a client is not there any more.
    writeFileSync(join(folder, 'gone.star'), 'def run(plan):\n    plan.render_templates(config = {"/a": struct(template = "x", data = {})}, name = "made")\n');
    const there = { FETTLE_SERVER: here, FETTLE_TOKEN: planner };
    const ended = run(['run', 'gone.star', '-e', 'gone'], there);
    assert.equal(ended.status, 0, ended.stderr);
    rmSync(join(folder, 'gone.star'));
    await page.goto(`${here}/#/env/gone/plan`);
    await shows(page, 'files that came with a client');
    assert.equal(await page.locator('button:has-text("Carry it out")').count(), 0);
    await page.click('button:has-text("Sign out")');
    await shows(page, 'Token of this server');
    await signInByToken(page, here, look);
    await page.goto(`${here}/#/approvals`);
    await shows(page, 'None waits');
  }));

  await step('a plan that waits is approved by somebody else', async () => {
    writeFileSync(join(folder, 'main.star'), 'def run(plan, n = 1):\n    plan.render_templates(config = {"/a": struct(template = "x {{.n}}", data = {"n": n})}, name = "made")\n');
    const there = { FETTLE_SERVER: here, FETTLE_TOKEN: actor };
    for (const name of ['up', 'away']) {
      const added = run(['schedule', 'add', name, '--cron', '0 3 1 1 *', '--approve', '--', 'run', 'main.star', '-e', name], there);
      assert.equal(added.status, 0, added.stderr);
      assert.equal(run(['schedule', 'run', name], there).status, 0);
    }
    for (const end = Date.now() + 20_000; (run(['schedule', 'ls'], there).stdout.match(/ waits: /g) ?? []).length < 2;) {
      assert.ok(Date.now() < end, run(['schedule', 'ls'], there).stdout);
      await new Promise((done) => setTimeout(done, 50));
    }
    await at(browser, async (page) => {  // whoever only looks
      await signInByToken(page, here, look);
      await page.goto(`${here}/#/approvals`);
      await shows(page, 'a decision needs the right act');
      assert.equal(await page.locator('button:has-text("Approve")').count(), 0);
    });
    await at(browser, async (page) => {  // whoever added them
      await signInByToken(page, here, actor);
      await page.goto(`${here}/#/approvals`);
      await shows(page, 'somebody with another token approves its plans');
      assert.equal(await page.locator('button:has-text("Approve")').count(), 0);
      // The server says so, too, to who asks it nevertheless.
      const refused = await page.evaluate(async () => (await fetch('./api/commands', { method: 'POST', headers: { 'Content-Type': 'application/json', 'Fettle-Key': localStorage.getItem('fettle-key') }, body: JSON.stringify({ words: ['schedule', 'approve', 'up'] }) })).json());
      assert.equal(refused.code, 2);
      assert.match(refused.errors, /somebody with another token approves its plans/);
    });
    await at(browser, async (page) => {
      await page.goto(`${here}/sign-in`);
      await signInAtIssuer(page, 'alice');
      await shows(page, 'Signed in as alice (oidc) (right act).');
      await page.click('a:has-text("Approvals")');
      await shows(page, 'artifact/made');  // what the plan printed
      await checkAxe(page, 'approvals');
      const [up] = JSON.parse(run(['schedule', 'ls', '-o', 'json'], there).stdout).filter((one) => one.name === 'up');
      await tabTo(page, `Approve plan ${up.plan}`);
      await page.keyboard.press('Enter');
      await focused(page, `Yes, approve plan ${up.plan}`);
      await page.keyboard.press('Enter');
      await shows(page, `Plan ${up.plan} of up is approved.`);
      // The outcome stands above what waits.
      await until(page, () => /^Run \d+$/.test(document.querySelector('h2')?.textContent ?? '') && document.querySelector('section')?.innerText.includes('has ended with exit code 0.'));
      await checkAxe(page, 'approved');
      await page.click('button:has-text("Refuse plan")');
      await page.click('button:has-text("Yes, refuse plan")');
      await shows(page, 'of away is refused.');
      await shows(page, 'None waits');
    });
    assert.match(made(['files', 'ls', 'up']), /made/);
    assert.ok(audited().some((one) => one.token === 'alice (oidc)' && / at the page$/.test(one.from) && one.command.includes('schedule approve up --plan')));
  });

  await step('behind a path of a proxy all is the same', async () => {
    await startProxy(proxy, behind);
    await startServer(behind, ['--public-url', `http://127.0.0.1:${proxy}/fettle`, ...oidc]);
    await at(browser, async (page, context) => {
      await page.goto(`http://127.0.0.1:${proxy}/fettle/`);
      await signInAtIssuer(page, 'bob');
      await shows(page, 'shop-1');
      assert.equal(new URL(page.url()).pathname, '/fettle/');
      makeEnvironment('shop-3', 1);
      await shows(page, 'shop-3');
      await page.goto(`http://127.0.0.1:${proxy}/fettle/#/approvals`);
      await shows(page, 'None waits');
      await shows(page, 'Signed in as bob (oidc) (right read).');
      const [cookie] = (await context.cookies(`http://127.0.0.1:${proxy}/fettle/`)).filter((one) => /^fettle-\d+$/.test(one.name));
      assert.equal(cookie.path, '/fettle/');
    });
  });

  await step('with TLS the cookie is of this host alone', async () => {
    const secured = await freePort(), url = `https://127.0.0.1:${secured}`;
    execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '9', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')], { stdio: 'ignore' });
    await startServer(secured, ['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')], 'https');
    await at(browser, async (page, context) => {
      await page.goto(`${url}/`);
      await page.fill('input[name=token]', readFileSync(join(folder, 'token'), 'utf8').trim());
      await page.click('button');
      await shows(page, 'prod');
      makeEnvironment('late', 1);
      await shows(page, 'late');
      const [cookie] = (await context.cookies(url)).filter((one) => one.name === '__Host-fettle');
      assert.equal(cookie.secure, true);
    }, { ignoreHTTPSErrors: true });
  });

  await step('a token of a job runs commands, and what it may not is refused', async () => {
    const token = await jobToken(issuer);
    const there = { FETTLE_SERVER: here, FETTLE_TOKEN: token };
    assert.equal(run(['enclave', 'ls'], there).status, 2);
    made(['trust', 'add', 'ci', '--issuer', issuer, '--audience', 'ci', '--claim', 'sub=job-7', '--right', 'read', '--environment', 'shop-*']);
    const listed = run(['enclave', 'ls'], there);
    assert.equal(listed.status, 0, listed.stderr);
    assert.match(listed.stdout, /shop-1/);
    assert.doesNotMatch(listed.stdout, /prod/);
    const removed = run(['enclave', 'rm', 'shop-1'], there);
    assert.equal(removed.status, 2);
    assert.match(removed.stderr, /the token `ci \(job-7\)` has `read`/);
    assert.equal(run(['enclave', 'ls'], { ...there, FETTLE_TOKEN: `${token.slice(0, -4)}AAAA` }).status, 2);
    assert.match(made(['audit', '--refused', '-o', 'json']), /its signature is wrong/);
    made(['trust', 'rm', 'ci']);
    assert.equal(run(['enclave', 'ls'], there).status, 2);
  });

  await browser.close();
}

let code = 0;
try {
  await main();
  console.log(`${passed} passed, 0 failed`);
} catch (error) {
  console.error(error);
  console.log(`${passed} passed, 1 failed`);
  code = 1;
} finally {
  for (const child of children) child.kill('SIGTERM');
  for (const server of servers) { server.closeAllConnections(); server.close(); }
  rmSync(folder, { recursive: true, force: true });
}
process.exit(code);
