// The page's server and its page against their targets: what a request costs, 100 viewers of a run, a graph of 10,000
// resources in Chromium, sizes, a server at rest.
//
//   bench/server [--quick] [--only requests|commands|viewers|rest|sizes|graph]
//
// Everything is real: environments of states in a home of its own, the program, sockets, the browser of `./dev page test`.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync, mkdirSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { createRequire } from 'node:module';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const top = dirname(dirname(fileURLToPath(import.meta.url)));
const program = join(top, 'build/release/fettle');
const { chromium } = createRequire(join(top, 'tests/page/'))('playwright-core');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const isQuick = process.argv.includes('--quick');
const folder = mkdtempSync(join(tmpdir(), 'fettle-bench-'));
const children = [];
let failed = 0;

function row(what, target, result, isMet) {
  if (!isMet) ++failed;
  console.log(`${what.padEnd(66)} ${target.padEnd(20)} ${result}${isMet ? '' : '   MISSED'}`);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const at = (numbers, share) => [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))];
const home = (name) => { const path = join(folder, name); mkdirSync(path, { mode: 0o700, recursive: true }); return path; };
const envOf = (path) => ({ ...process.env, FETTLE_HOME: path });

// CPU seconds of a process so far, and its memory in MB.
function use(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1];
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, memory: Number(memory) / 1024 };
}

async function serve(path) {
  const child = spawn(program, ['web', '--no-open', '-q'], { env: envOf(path), stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const address = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return { child, address, origin: new URL(address).origin, end: () => { child.kill('SIGTERM'); return ended; } };
}

function ask(server, path, options = {}) {
  return new Promise((resolve, reject) => {
    http.get(`${server.origin}${path}`, { headers: { Cookie: server.cookie ?? '' }, ...options }, (answer) => {
      const pieces = [];
      answer.on('data', (piece) => pieces.push(piece));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(pieces) }));
    }).on('error', reject);
  });
}

async function enter(server) {
  const reply = await ask(server, server.address.slice(server.origin.length));
  server.cookie = reply.headers['set-cookie'][0].split(';')[0];
}

// Each needs the first one and one other: a graph as broad as it is deep.
function states(name, count) {
  let text = '';
  for (let i = 0; i < count; ++i)
    text += `n${i}:\n  test.nop${i === 0 ? ': []\n' : `:\n    - require:\n      - test: n${i >> 1}\n`}`;
  const path = join(folder, `${name}.sls`);
  writeFileSync(path, text);
  return path;
}

// A run of about a thousand events a second: a hundred each time that another tenth of a second is over. Without pauses, a
// run of states writes all of its events at once.
function paced(name, tenths) {
  let text = '';
  for (let i = 0; i < tenths; ++i) {
    text += `wait${i}:\n  cmd.run:\n    - name: sleep 0.09\n${i === 0 ? '' : `    - require:\n      - test: n${i - 1}-0\n`}`;
    for (let j = 0; j < 110; ++j) text += `n${i}-${j}:\n  test.nop:\n    - require:\n      - cmd: wait${i}\n`;
  }
  const path = join(folder, `${name}.sls`);
  writeFileSync(path, text);
  return path;
}

async function requests() {
  const server = await serve(home('empty'));
  await enter(server);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const count = isQuick ? 200 : 2000, took = [];
  for (let i = 0; i < 50; ++i) await ask(server, '/api/environments', { agent });
  const before = use(server.child.pid);
  for (let i = 0; i < count; ++i) {
    const begin = performance.now();
    await ask(server, '/api/environments', { agent });
    took.push(performance.now() - begin);
  }
  const cpu = (use(server.child.pid).cpu - before.cpu) / count * 1000;
  agent.destroy();
  row('a request over a warm connection whose verb has nothing to do', '≤ 2 ms', `${at(took, 0.5).toFixed(2)} ms, p99 ${at(took, 0.99).toFixed(2)}`, at(took, 0.5) <= 2);
  row('… own CPU', '≤ 1 ms', `${cpu.toFixed(2)} ms`, cpu <= 1);
  await server.end();
}

// A connection to `fettle serve` that is kept: frames are a letter, the length in four bytes, the payload.
function openLine(port, token) {
  const version = JSON.parse(execFileSync(program, ['version', '-o', 'json'])).version;
  const socket = net.connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  let bytes = Buffer.alloc(0), waiting, isOpen = false;
  socket.on('data', (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    if (!isOpen) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      isOpen = true;
      bytes = bytes.subarray(end + 4);
      waiting(bytes);
    }
    while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
      const type = String.fromCharCode(bytes[0]), payload = bytes.subarray(5, 5 + bytes.readUInt32BE(1));
      bytes = bytes.subarray(5 + payload.length);
      if ('xe'.includes(type)) waiting({ type, payload: payload.toString() });
    }
  });
  socket.write(`GET /v1/commands HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: fettle-commands/1\r\n` +
    `Authorization: Bearer ${token}\r\nFettle-Version: ${version}\r\n\r\n`);
  const opened = new Promise((resolve) => { waiting = resolve; });
  const command = (words) => new Promise((resolve) => {
    waiting = resolve;
    const json = Buffer.from(JSON.stringify({ words, folder: '/', environment: {}, paths: [], writes: [], files: [], rows: 24, columns: 80 }));
    const head = Buffer.alloc(5);
    head.write('c');
    head.writeUInt32BE(json.length, 1);
    socket.write(Buffer.concat([head, json]));
  });
  return { opened, command, close: () => socket.destroy() };
}

function childOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').pop());
}

// What a command at a server takes more than the same in the program that is there already: started here, less its start.
async function commands() {
  const path = home('commands'), words = ['enclave', 'ls'];
  execFileSync(program, ['enclave', 'add', 'one', '-q'], { env: envOf(path) });
  const child = spawn(program, ['serve', '--listen', '127.0.0.1:0', '-q', '-o', 'json'], { env: envOf(path), stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let said = '';
  const { address, token } = await new Promise((resolve) => child.stdout.on('data', (piece) => {
    said += piece;
    try { resolve(JSON.parse(said)); } catch { /* not whole yet */ }
  }));
  const line = openLine(Number(new URL(address).port), token);
  await line.opened;
  const count = isQuick ? 100 : 500, there = [], here = [], start = [];
  const took = (to, work) => { const begin = performance.now(); const done = work(); to.push(performance.now() - begin); return done; };
  for (let i = 0; i < 20; ++i) await line.command(words);
  const session = childOf(child.pid), before = use(session);
  for (let i = 0; i < count; ++i) {
    const begin = performance.now();
    const end = await line.command(words);
    there.push(performance.now() - begin);
    if (end.type !== 'x' || JSON.parse(end.payload).code !== 0) throw new Error(`a command failed: ${end.payload}`);
    // One after the other, so that all suffer the same from whatever else goes on here.
    took(here, () => spawnSync(program, words, { env: envOf(path) }));
    took(start, () => spawnSync(program, ['version'], { env: envOf(path) }));
  }
  const cpu = (use(session).cpu - before.cpu) / count * 1000, more = at(there, 0.5) - (at(here, 0.5) - at(start, 0.5));
  row('`enclave ls` over a warm connection beside the same in process', '≤ + 2 ms',
    `+ ${more.toFixed(2)} ms: ${at(there, 0.5).toFixed(2)} ms there; ${at(here, 0.5).toFixed(2)} ms started here, ${at(start, 0.5).toFixed(2)} of them to start`, more <= 2);
  row('… own CPU of the server', '≤ + 1 ms', `${cpu.toFixed(2)} ms`, cpu <= 1);
  line.close();
  child.kill('SIGTERM');
}

// When each event is in the store: the clock of an event is that of the run, which writes many together.
function storeReader(path) {
  const code = `import sqlite3, sys, time
store = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
last = 0
while True:
    newest = store.execute("SELECT max(sequence) FROM events").fetchone()[0] or 0
    if newest > last:
        print(newest, time.time() * 1000, flush=True)
        last = newest
    time.sleep(0.003)
`;
  const child = spawn('python3', ['-c', code, join(path, 'fettle.db')], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const written = [];
  createInterface({ input: child.stdout }).on('line', (line) => { const [newest, time] = line.split(' ').map(Number); written.push({ newest, time }); });
  return { child, timeOf: (number) => written.find((one) => one.newest >= number)?.time };
}

// What arrives at a hundred viewers, when (`server_viewers.py`).
async function watch(server, after, count) {
  const words = [join(top, 'bench/server_viewers.py'), new URL(server.origin).port, server.cookie, String(after), String(count)];
  const child = spawn('python3', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const next = () => new Promise((resolve, reject) => { lines.once('line', resolve); child.once('exit', () => setTimeout(() => reject(new Error('the viewers ended')), 1000)); });
  await next();
  const end = next();
  return async () => JSON.parse(await end);
}

async function viewers() {
  const path = home('run'), count = 100;
  // The environment must be there, and its store warm.
  execFileSync(program, ['state', states('first', 1), '-e', 'run', '-q'], { env: envOf(path), stdio: 'ignore' });
  const server = await serve(path);
  await enter(server);
  const { newest } = JSON.parse((await ask(server, '/api/events?environment=run')).body);
  const end = await watch(server, newest, count);
  const store = storeReader(path);
  await pause(1000);
  const before = use(server.child.pid), begin = performance.now();
  spawn(program, ['state', paced('run', isQuick ? 20 : 100), '-e', 'run', '-q'], { env: envOf(path), stdio: 'ignore' });
  const { cpu, viewers: all } = await end();
  const seconds = (performance.now() - begin) / 1000, cores = (use(server.child.pid).cpu - before.cpu) / seconds;
  await pause(200);
  store.child.kill();
  const events = all[0].times.at(-1)[1];
  const written = Array.from({ length: events }, (_, i) => store.timeOf(all[0].first + i));
  const delays = all.flatMap(({ times }) => times.flatMap(([time, number], i) => written.slice(i === 0 ? 0 : times[i - 1][1], number).map((then) => time - then))).filter((delay) => !Number.isNaN(delay));
  const p99 = at(delays, 0.99), span = (written.at(-1) - written[0]) / 1000;
  const gaps = all.reduce((sum, one) => sum + one.gaps, 0), uneven = all.filter((one) => one.times.at(-1)[1] !== events).length;
  row(`${count} viewers of a run with ${Math.round(events / span)} events/s (${events} events)`, 'p99 ≤ 50 ms', `p99 ${p99.toFixed(0)} ms, p50 ${at(delays, 0.5).toFixed(0)} ms from the store`, p99 <= 50);
  row('… the server', '≤ 1 core', `${cores.toFixed(2)} cores; the client of all viewers ${(cpu / seconds).toFixed(2)}`, cores <= 1);
  row('… each gets all, in order', '0 gaps', `${gaps} gaps, ${uneven} viewers with another number`, gaps === 0 && uneven === 0);
  row('… memory afterwards', '–', `${use(server.child.pid).memory.toFixed(0)} MB`, true);
  await server.end();
}

async function rest() {
  const server = await serve(home('run'));
  await enter(server);
  const call = http.get(`${server.origin}/api/stream?after=0`, { headers: { Cookie: server.cookie } }, (answer) => answer.resume());
  call.on('error', () => undefined);
  await pause(2000);
  const seconds = isQuick ? 5 : 30, before = use(server.child.pid);
  await pause(seconds * 1000);
  const after = use(server.child.pid), share = (after.cpu - before.cpu) / seconds * 100;
  row('a server at rest with one viewer: memory', '≤ 30 MB', `${after.memory.toFixed(1)} MB`, after.memory <= 30);
  row('… of a core', '≤ 0.1 %', `${share.toFixed(2)} %`, share <= 0.1);
  call.destroy();
  await server.end();
}

async function sizes() {
  const server = await serve(home('empty'));
  await enter(server);
  let bytes = 0;
  const page = await ask(server, '/');
  const { gunzipSync } = await import('node:zlib');
  const paths = [...gunzipSync(page.body).toString().matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1]);
  bytes += page.body.length;
  for (const path of new Set(paths)) bytes += (await ask(server, path)).body.length;
  row('first view, compressed', '≤ 120 kB', `${(bytes / 1000).toFixed(1)} kB`, bytes <= 120_000);
  // What a script loads when it is wanted is named in it.
  let all = bytes;
  const known = new Set(paths), open = [...known].filter((path) => path.endsWith('.js'));
  while (open.length > 0) {
    const text = gunzipSync((await ask(server, open.pop())).body).toString();
    for (const [, name] of text.matchAll(/["'`](?:\.\/|\/)?(?:assets\/)?([\w-]+\.(?:js|css))["'`]/g)) {
      const path = `/assets/${name}`;
      if (known.has(path)) continue;
      known.add(path);
      const reply = await ask(server, path);
      if (reply.status !== 200) continue;
      all += reply.body.length;
      if (path.endsWith('.js')) open.push(path);
    }
  }
  row('the whole page, with its terminal, compressed', '≤ 300 kB', `${(all / 1000).toFixed(1)} kB`, all <= 300_000 && all > bytes);
  await server.end();
}

// The page's policy forbids what `waitForFunction` does.
async function until(page, holds, argument) {
  for (const end = Date.now() + 60_000; !await page.evaluate(holds, argument).catch(() => false);) {
    if (Date.now() > end) throw new Error(`waited for ${holds}`);
    await pause(5);
  }
}

async function graph() {
  const path = home('graph'), resources = isQuick ? 2000 : 10_000;
  execFileSync(program, ['state', states('graph', resources), '-e', 'graph', '-q'], { env: envOf(path), stdio: 'ignore' });
  const server = await serve(path);
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.tasks.push(entry.duration))).observe({ entryTypes: ['longtask'] });
    window.drawn = [];
    const clear = CanvasRenderingContext2D.prototype.clearRect;
    CanvasRenderingContext2D.prototype.clearRect = function (...area) { window.drawn.push(performance.now()); return clear.apply(this, area); };
  });
  await page.goto(server.address);
  await page.waitForSelector('h1');
  const paints = [];
  for (let i = 0; i < 3; ++i) {
    await page.goto('about:blank');
    await page.goto(`${server.origin}/`);
    await until(page, () => performance.getEntriesByName('first-contentful-paint').length > 0);
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
  }
  row('first paint on loopback', '≤ 200 ms', `${Math.min(...paints).toFixed(0)} ms`, Math.min(...paints) <= 200);
  const pictures = [];
  for (let i = 0; i < 3; ++i) {
    await page.goto('about:blank');
    await page.goto(`${server.origin}/#/env/graph/graph`);
    await until(page, () => window.drawn.length > 0);
    pictures.push(await page.evaluate(() => window.drawn[0]));
  }
  row(`graph of ${resources} resources: first picture, page included`, '≤ 500 ms', `${Math.min(...pictures).toFixed(0)} ms`, Math.min(...pictures) <= 500);
  // More boxes than these are never drawn.
  const box = await page.locator('canvas').boundingBox();
  await page.evaluate(() => { window.tasks = []; });
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.down();
  for (let i = 0; i < 60; ++i) await page.mouse.move(box.x + 300 + i * 5, box.y + 200 + i);
  await page.mouse.up();
  for (let i = 0; i < 30; ++i) await page.mouse.wheel(0, i < 15 ? 60 : -60);
  await pause(300);
  const tasks = await page.evaluate(() => window.tasks);
  row('… longest task while it is moved', '≤ 50 ms', tasks.length === 0 ? 'none over 50 ms' : `${Math.max(...tasks).toFixed(0)} ms, ${tasks.length} over 50`, tasks.length === 0);
  const counts = [];
  for (let i = 0; i < (isQuick ? 2 : 5); ++i) {
    const begin = await page.evaluate(() => { window.drawn = []; return performance.now(); });
    await page.click(`[role=option] >> nth=${10 + i}`);
    await until(page, () => window.drawn.length > 0);
    counts.push(await page.evaluate((from) => window.drawn[0] - from, begin));
  }
  row('… a click until it is drawn', '≤ 100 ms', `${at(counts, 0.5).toFixed(0)} ms`, at(counts, 0.5) <= 100);
  const asked = [];
  for (let i = 0; i < 5; ++i)
    asked.push(await page.evaluate(async () => { const begin = performance.now(); await (await fetch('/api/environments/graph/graph')).json(); return performance.now() - begin; }));
  row('… a change until it is known: the graph asked for again', '≤ 100 ms', `${Math.min(...asked).toFixed(0)} ms`, Math.min(...asked) <= 100);
  await browser.close();
  await server.end();
}

async function main() {
  console.log(`load ${loadavg()[0].toFixed(1)} before`);
  const parts = { requests, commands, viewers, rest, sizes, graph }, only = process.argv[process.argv.indexOf('--only') + 1];
  for (const [name, part] of Object.entries(parts)) if (!process.argv.includes('--only') || name === only) await part();
  console.log(`load ${loadavg()[0].toFixed(1)} after`);
}

main().catch((error) => { console.error(error); ++failed; }).finally(() => {
  children.forEach((child) => child.kill('SIGKILL'));
  rmSync(folder, { recursive: true, force: true });
  process.exit(failed === 0 ? 0 : 1);
});
