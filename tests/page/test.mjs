// The page in a real Chromium, against the real server with real environments.
//
//   node tests/page/test.mjs PROGRAM [--engine TOOL IMAGES] [--shop HOME PICTURE] [--pictures FOLDER]
//
// makes a home of its own with environments of states and of a model, and looks at every view: what it shows, what a
// click and a key do, also while something changes, and whether axe finds anything. With `--engine`, a private Podman
// runs a package and a fleet, whose logs, plans and rollouts are looked at (`engine.mjs`). With `--shop`, the
// environment `shop` of that home is looked at, too, and its graph becomes a picture. With `--pictures`, each view becomes
// a picture of the manual. `./dev page test` calls it.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { checkEngine } from './engine.mjs';
import { comparePicture, timesDiffer } from './pictures.mjs';

const [given, ...flags] = process.argv.slice(2);
const program = resolve(given);  // it is called in other folders, too
const [engineTool, images] = flags.includes('--engine') ? flags.slice(flags.indexOf('--engine') + 1) : [];
const [shopHome, shopPicture] = flags.includes('--shop') ? flags.slice(flags.indexOf('--shop') + 1) : [];
const [manual] = flags.includes('--pictures') ? flags.slice(flags.indexOf('--pictures') + 1) : [];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const folder = mkdtempSync(join(tmpdir(), 'fettle-page-'));
const home = join(folder, 'home');
const children = [];
let passed = 0;

function run(words, options = {}) {
  return execFileSync(program, words, { env: { ...process.env, FETTLE_HOME: home }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], ...options });
}

function writeStates(name, count, broken = false) {
  let text = `${folder}/made:\n  file.directory: []\n`;
  for (let i = 0; i < count; ++i)
    text += `n${i}:\n  file.managed:\n    - name: ${folder}/made/n${i}\n    - contents: "number ${i}"\n    - require:\n      - file: ${folder}/made\n${i > 1 ? `      - file: n${i >> 1}\n` : ''}`;
  if (broken) text += 'breaks:\n  cmd.run:\n    - name: exit 3\n    - require:\n      - file: n0\n';
  const path = join(folder, `${name}.sls`);
  writeFileSync(path, text);
  return path;
}

function makeEnvironments() {
  try { run(['state', writeStates('small', 6, true), '-e', 'small']); } catch { /* one state fails, as it must */ }
  run(['state', writeStates('large', 700), '-e', 'large']);
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'project.yml'), 'name: page-test\n');
  for (const content of ['one', 'two']) {
    writeFileSync(join(project, 'main.cf'), `import fs\nimport std\nhost = std::Host(name="h", os=std::linux)\nfs::File(host=host, path="/tmp/page-test", mode=644, owner="root", group="root", content="${content}")\n`);
    run(['export', '-e', 'model'], { cwd: project });
  }
  run(['plan', '--version', '2', '-e', 'model', '--out', join(folder, 'model.plan')]);
}

async function serve(ofHome, words = []) {
  const child = spawn(program, ['web', '--no-open', '-q', ...words], { env: { ...process.env, FETTLE_HOME: ofHome }, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const address = await new Promise((resolve, reject) => { lines.once('line', resolve); child.once('exit', () => reject(new Error('`fettle web` ended'))); });
  children.push(child);
  const ended = child.exitCode !== null ? Promise.resolve(child.exitCode) : new Promise((resolve) => child.once('exit', resolve));
  const end = () => { child.kill('SIGTERM'); return ended; };
  return { child, address, ended, end };
}

// The page's policy forbids what `waitForFunction` does.
async function until(page, holds, argument) {
  for (const end = Date.now() + 20_000; !await page.evaluate(holds, argument).catch(() => false);) {
    assert.ok(Date.now() < end, `waited for ${holds} with ${argument}; the page says:\n${await page.evaluate(() => document.body.innerText)}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

async function step(name, work) {
  try {
    await work();
  } catch (error) {
    console.error(`failed: ${name}`);
    throw error;
  }
  ++passed;
}

async function look(browser, { address }, options, work) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const troubles = [];
  // A plan that cannot be made is an answer, and so is a terminal that is refused; the browser tells of its status.
  const isAnswer = (message) => message.location().url.endsWith('/plan') && /status of 40[04]/.test(message.text())
    || /\/terminal/.test(message.text() + message.location().url) && /40[34]|426|502/.test(message.text());
  page.on('console', (message) => { if (message.type() === 'error' && !isAnswer(message)) troubles.push(`${message.text()} ${message.location().url}`); });
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith(new URL(address).origin) && !request.url().startsWith('data:')) troubles.push(`asks ${request.url()}`); });
  await page.goto(address);
  await page.waitForSelector('h1');
  await work(page, new URL(address).origin);
  assert.deepEqual(troubles, []);
  return context;
}

const title = (page, text) => until(page, (wanted) => document.querySelector('h1')?.textContent === wanted, text);
const settled = (page) => until(page, () => document.querySelector('h1') !== null && ![...document.querySelectorAll('[role=status]')].some((one) => one.textContent === 'Loading…'));

async function open(page, origin, address, heading) {
  await page.goto(`${origin}/${address}`);
  await title(page, heading);
  await settled(page);
}

async function checkAxe(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(' ')}`), [], where);
}

async function checkWidth(page, where) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${where} is ${wide} pixels too wide`);
}

// A view as it looks in the light, compared with how it did; it is also the manual's picture.
async function picture(page, name, within) {
  const before = page.viewportSize();
  if (before.width < 1000) return;
  await page.setViewportSize({ width: 900, height: 560 });
  await page.evaluate(() => document.activeElement?.closest('h1') !== null && document.activeElement.blur());
  await page.waitForTimeout(400);
  await comparePicture(page.context().browser(), page, `view-${name}`, within);
  if (manual !== undefined) await page.screenshot({ path: join(manual, `web-${name}.png`) });
  await page.setViewportSize(before);
}

// Every view, with its heading and what must be on it.
function viewsOf() {
  return [
    ['#/', 'Environments', 'small'],
    ['#/env/small', 'small', 'deployed'],
    ['#/env/small/graph', 'Graph of small', ' resources'],
    ['#/env/large/graph', 'Graph of large', '701 resources, drawn in groups'],
    ['#/env/small/runs', 'Runs of small', 'fettle state'],
    ['#/env/small/events', 'Events of small', 'run_started'],
    ['#/events', 'Events', 'large'],
    ['#/env/small/logs', 'Logs of small', 'There are no services.'],
    ['#/env/small/pending', 'Pending in small', 'breaks'],
    ['#/env/small/fleet', 'Fleet of small', 'It has no workloads.'],
    ['#/env/model/versions', 'Versions of model', 'from 1 to 2'],
    ['#/env/model/versions/2/1', 'From version 1 to 2 of model', 'two'],
    ['#/env/small/versions', 'Versions of small', 'It has no versions'],
    ['#/env/small/plan', 'Plan of small', 'breaks'],
    ['#/env/small/terminal', 'Terminals of small', 'There are no services.'],
    ['#/nodes', 'Nodes and images', 'There are no nodes but this machine'],
    ['#/env/model/plan', 'Plan of model', 'fettle plan -e model'],
    ['#/plans', 'Kept plans', 'model.plan'],
    ['#/nothing', 'Nothing is here', 'No view has this address.'],
    ['#/env/small/nothing', 'Nothing is here', 'No view has this address.'],
  ];
}

async function checkViews(page, origin) {
  for (const [address, heading, text] of viewsOf())
    await step(`${address} shows \`${text}\``, async () => {
      await open(page, origin, address, heading);
      await until(page, (wanted) => document.body.innerText.includes(wanted), text);
      await checkWidth(page, address);
      await checkAxe(page, address);
    });
}

async function checkClicks(page, origin) {
  await step('the list of environments leads to one', async () => {
    await open(page, origin, '#/', 'Environments');
    await page.click('a:text-is("small")');
    await title(page, 'small');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
  });
  await step('a resource that is chosen in the list says why', async () => {
    await open(page, origin, '#/env/small/graph', 'Graph of small');
    await page.click('[role=option]:has-text("breaks")');
    await page.waitForSelector('.details .why li');
    const text = await page.innerText('.details');
    assert.match(text, /failed/);
    assert.match(text, /3/);
  });
  await step('what it needs is a link', async () => {
    await page.click('.details a');
    await until(page, () => document.querySelector('.details h2')?.textContent?.includes('n0'));
  });
  await step('a box of the picture is chosen by a click', async () => {
    await open(page, origin, '#/env/small/graph', 'Graph of small');
    const box = await page.locator('canvas').boundingBox();
    // The picture is as wide as it has columns; the first one stands at its left end.
    for (let x = 20; x < box.width && await page.locator('.details').count() === 0; x += 25)
      await page.mouse.click(box.x + x, box.y + box.height / 2);
    assert.equal(await page.locator('.details').count(), 1);
  });
  await step('the picture is drawn', async () => {
    const colours = await page.evaluate(() => {
      const canvas = document.querySelector('canvas');
      const bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      return new Set(new Uint32Array(bytes.buffer)).size;
    });
    assert.ok(colours > 5, `${colours} colours`);
  });
  await step('a group opens', async () => {
    await open(page, origin, '#/env/large/graph', 'Graph of large');
    await page.click('[role=option]:has-text("file ×")');
    await page.click('a:text-is("Open the group")');
    await until(page, () => document.querySelector('h1')?.textContent?.startsWith('Group file@'));
    await settled(page);
    assert.ok(await page.locator('[role=option]').count() > 1);
  });
  await step('a run has a time line', async () => {
    await open(page, origin, '#/env/small/runs', 'Runs of small');
    await page.click('tbody a');
    await page.waitForSelector('svg.bar');
    assert.match(await page.innerText('main'), /breaks[\s\S]*failed/);
  });
  await step('events are searched', async () => {
    await open(page, origin, '#/env/small/events', 'Events of small');
    await page.fill('input[type=search]', 'BREAKS');
    await page.click('button:text-is("Find")');
    await until(page, () => document.body.innerText.includes('with “BREAKS”'));
    const rows = await page.locator('tbody tr').allInnerTexts();
    assert.ok(rows.length > 0 && rows.every((row) => row.includes('breaks')), rows.join('\n'));
  });
}

// The file names in `small` begin with a folder that is another one each time, so the list beside the picture is left out.
async function checkPictures(browser, page, origin, look) {
  for (const name of ['small', 'large'])
    await step(`the graph of ${name} looks as it did`, async () => {
      await open(page, origin, `#/env/${name}/graph`, `Graph of ${name}`);
      await page.waitForSelector('canvas');
      await page.waitForTimeout(200);
      await comparePicture(browser, page.locator('canvas'), `graph-${name}-${look}`);
    });
}

async function checkKeys(page, origin) {
  await step('the keyboard alone reaches a resource and its reasons', async () => {
    await open(page, origin, '#/env/small/graph', 'Graph of small');
    for (let i = 0; i < 40 && await page.evaluate(() => document.activeElement.getAttribute('role')) !== 'listbox'; ++i)
      await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('role')), 'listbox');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.details h2');
    const first = await page.innerText('.details h2');
    await page.keyboard.press('ArrowRight');
    await until(page, (before) => document.querySelector('.details h2')?.textContent !== before, first);
    await page.keyboard.press('ArrowLeft');
    await until(page, (before) => document.querySelector('.details h2')?.textContent === before, first);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('role')), 'listbox');
  });
  await step('the first key skips to the view', async () => {
    await page.evaluate(() => document.activeElement.blur());
    await page.goto(`${origin}/`);
    await title(page, 'Environments');
    await page.evaluate(() => { document.activeElement.blur(); });
    await page.keyboard.press('Tab');
    assert.notEqual(await page.evaluate(() => document.activeElement.tagName), 'BODY');
  });
}

async function checkChange(page, origin) {
  await step('what happens elsewhere appears by itself', async () => {
    await open(page, origin, '#/env/small/graph', 'Graph of small');
    try { run(['state', writeStates('small', 8, true), '-e', 'small']); } catch { /* as before */ }
    await until(page, () => document.body.innerText.includes('10 resources'));
    await open(page, origin, '#/env/small/events', 'Events of small');
    const before = await page.locator('tbody tr').count();
    try { run(['state', writeStates('small', 9, true), '-e', 'small']); } catch { /* as before */ }
    await until(page, (count) => document.querySelectorAll('tbody tr').length > count, before);
    await until(page, () => document.body.innerText.includes('n8'));
  });
}

async function checkRunUnderWay(page, origin) {
  const path = join(folder, 'slow.sls');
  writeFileSync(path, 'first:\n  test.nop: []\nslow:\n  cmd.run:\n    - name: sleep 3\n    - require:\n      - test: first\n');
  await step('the time line of a run grows while it happens', async () => {
    const ended = new Promise((resolve) => spawn(program, ['state', path, '-e', 'slow', '-q'], { env: { ...process.env, FETTLE_HOME: home }, stdio: 'ignore' }).once('exit', resolve));
    await open(page, origin, '#/env/small', 'small');
    // An environment that is not there yet would be an error in the console.
    const told = (path) => page.evaluate((asked) => fetch(asked).then((reply) => reply.json()), path);
    const end = Date.now() + 20_000;
    while (!(await told('/api/environments')).some((one) => one.name === 'slow')) assert.ok(Date.now() < end);
    while ((await told('/api/environments/slow/runs')).runs.length === 0) assert.ok(Date.now() < end);
    await open(page, origin, '#/env/slow/runs', 'Runs of slow');
    await page.click('tbody a');
    await page.waitForSelector('svg.bar.open');
    const width = () => page.evaluate(() => document.querySelector('svg.bar.open')?.closest('tr').children[4].textContent);
    const before = await width();
    await until(page, (then) => document.querySelector('svg.bar.open')?.closest('tr').children[4].textContent !== then, before);
    assert.match(await page.innerText('main'), /it is under way[\s\S]*slow[\s\S]*under way/);
    assert.equal(await ended, 0);
    await until(page, () => document.querySelector('svg.bar.open') === null && /done/.test(document.querySelector('tbody').innerText) && !document.body.innerText.includes('under way'));
    await checkAxe(page, 'run');
  });
}

async function checkLooks(page, origin) {
  await step('views look as they did', async () => {
    await open(page, origin, '#/env/small/graph', 'Graph of small');
    await page.click('[role=option]:has-text("breaks")');
    await page.waitForSelector('.details .why li');
    await picture(page, 'graph');
    await open(page, origin, '#/env/small/runs', 'Runs of small');
    await page.click('tbody a >> nth=-1');
    await page.waitForSelector('svg.bar');
    await picture(page, 'run', timesDiffer);
    await open(page, origin, '#/env/small/events', 'Events of small');
    await page.fill('input[type=search]', 'breaks');
    await page.click('button:text-is("Find")');
    await until(page, () => document.body.innerText.includes('with “breaks”'));
    await picture(page, 'events');
    await open(page, origin, '#/env/small/pending', 'Pending in small');
    await picture(page, 'pending');
    await open(page, origin, '#/env/model/versions/2/1', 'From version 1 to 2 of model');
    await picture(page, 'versions');
  });
}

// Two viewers, of whom one sees less and less.
async function checkWhatGoes(browser) {
  const env = { ...process.env, FETTLE_HOME: join(folder, 'goes') }, path = join(folder, 'quick.sls');
  const make = (name) => run(['state', path, '-e', name], { env });
  const shows = (page, part, text) => until(page, ([selector, wanted]) => document.querySelector(selector).innerText.includes(wanted), [part, text]);
  writeFileSync(path, 'first:\n  test.nop: []\n');
  ['goes', 'stays'].forEach(make);
  const server = await serve(env.FETTLE_HOME), { origin, port } = new URL(server.address);
  const context = await browser.newContext(), page = await context.newPage(), other = await context.newPage();
  await page.goto(server.address);
  await page.waitForSelector('h1');
  await step('an environment that is removed is no longer shown', async () => {
    await open(page, origin, '#/env/goes', 'goes');
    await open(other, origin, '#/', 'Environments');
    await shows(other, 'main', 'goes');
    run(['enclave', 'rm', 'goes'], { env });
    await until(other, () => !document.querySelector('main').innerText.includes('goes'));
    await shows(page, 'main', 'there is no environment `goes`');
    assert.doesNotMatch(await page.innerText('main'), /deployed/);
  });
  await step('a page goes on with a server that was started again', async () => {
    server.child.kill('SIGKILL');
    await shows(page, 'header', 'The server does not answer');
    await page.evaluate(() => { location.hash = '#/env/stays'; });
    await shows(page, 'main', 'The server has ended.');
    const again = await serve(env.FETTLE_HOME, ['--port', port]);
    await shows(page, 'header', 'this page is for whoever started it');
    await other.goto(again.address);
    await until(page, () => document.querySelector('[role=alert]') === null);
    await shows(page, 'main', 'deployed');
    await page.evaluate(() => { location.hash = '#/'; });
    await title(page, 'Environments');
    make('later');
    await shows(page, 'main', 'later');
    assert.equal(await again.end(), 0);
  });
  await context.close();
}

async function checkKeptPlan(browser) {
  const seconds = join(folder, 'seconds'), long = join(folder, 'long.sls');
  writeFileSync(seconds, '0');
  writeFileSync(long, `long:\n  cmd.run:\n    - name: sh -c "sleep $(cat ${seconds})"\n`);
  run(['state', long, '-e', 'long']);
  writeFileSync(seconds, '100');
  const project = join(folder, 'own'), made = join(folder, 'own-file');
  mkdirSync(project);
  writeFileSync(join(project, 'project.yml'), 'name: own\n');
  writeFileSync(join(project, 'main.cf'), `import fs\nimport std\nhost = std::Host(name="h", os=std::linux)\nstd::AgentConfig(agentname="h", uri="local:")\nfs::File(host=host, path="${made}", mode=644, owner="root", group="root", content="own")\n`);
  run(['export', '-e', 'own'], { cwd: project });
  const server = await serve(home);
  const context = await look(browser, server, { viewport: { width: 1280, height: 800 } }, async (page, origin) => {
    await step('one\'s own page has nobody to sign out, and asks before it carries a plan out', async () => {
      await open(page, origin, '#/env/model/plan', 'Plan of model');
      await until(page, () => document.body.innerText.includes('Carried out by fettle versions release -e model --apply'));
      assert.equal(await page.locator('button:has-text("Sign out"), a:has-text("Approvals")').count(), 0);
      await page.focus('button:has-text("Carry it out")');
      await page.keyboard.press('Enter');
      await until(page, () => document.activeElement?.textContent === 'Yes, carry it out');
      await checkAxe(page, 'a plan that is asked about');
      await page.keyboard.press('Escape');
      await until(page, () => document.activeElement?.textContent === 'Carry it out');
    });
    await step('a plan is carried out, and its output and its end are shown', async () => {
      await open(page, origin, '#/env/small/plan', 'Plan of small');
      await page.focus('button:has-text("Carry it out")');
      await page.keyboard.press('Enter');
      await until(page, () => document.activeElement?.textContent === 'Yes, carry it out');
      await page.keyboard.press('Enter');
      await until(page, () => document.body.innerText.includes('It has ended with exit code 1.'));
      assert.match(await page.innerText('pre.log'), /breaks/);
      await checkAxe(page, 'a plan that was carried out');
    });
    await step('what was seen of a model is carried out', async () => {
      await open(page, origin, '#/env/own/plan', 'Plan of own');
      assert.equal(existsSync(made), false);
      await page.click('button:has-text("Carry it out")');
      await page.click('button:has-text("Yes, carry it out")');
      await until(page, () => document.body.innerText.includes('It has ended with exit code 0.'));
      assert.equal(readFileSync(made, 'utf8'), 'own');
      await page.click('button:has-text("Make the plan again")');
      await until(page, () => document.body.innerText.includes('Everything is as wanted.'));
    });
    await step('what carries it out is cancelled', async () => {
      await open(page, origin, '#/env/long/plan', 'Plan of long');
      await page.click('button:has-text("Carry it out")');
      await page.click('button:has-text("Yes, carry it out")');
      await until(page, () => document.body.innerText.includes('It is being carried out'));
      await page.click('button:has-text("Cancel it")');
      await until(page, () => document.body.innerText.includes('It ends when what has begun is done.'));
      await page.click('button:has-text("Stop it at once")');
      await until(page, () => document.body.innerText.includes('It has ended with exit code 130.'));
    });
    await step('a kept plan says whether it is stale', async () => {
      await open(page, origin, '#/plans', 'Kept plans');
      await page.click('a:has-text("model.plan")');
      await until(page, () => document.body.innerText.includes('It is still what would be done.'));
      await checkAxe(page, 'kept plan');
    });
  });
  await context.close();
  await server.end();
}

async function checkShop(browser) {
  const server = await serve(shopHome, ['shop']);
  const context = await look(browser, server, { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }, async (page, origin) => {
    await step('the shop has its services, ports and artifacts', async () => {
      await title(page, 'shop');
      await settled(page);
      const text = await page.innerText('main');
      for (const part of ['running', 'store', 'web', 'http://127.0.0.1:', 'Files artifacts']) assert.ok(text.includes(part), part);
      await checkAxe(page, 'shop');
    });
    await step('its logs are shown', async () => {
      await page.click('a:text-is("Logs of store")');
      await title(page, 'Logs of store');
      await page.waitForSelector('.log');
      assert.match(await page.innerText('.log'), /Ready to accept connections|redis/i);
      await checkAxe(page, 'logs');
    });
    await step('an artifact lists its files', async () => {
      await open(page, origin, '#/env/shop', 'shop');
      await page.click('h2:text-is("Files artifacts") + div a >> nth=0');
      await until(page, () => document.querySelectorAll('tbody tr').length > 0 && document.querySelector('h1').textContent.startsWith('Artifact'));
    });
    await step('its graph becomes a picture', async () => {
      await open(page, origin, '#/env/shop/graph', 'Graph of shop');
      await page.locator('[role=option]').filter({ hasText: /^service\/web done/ }).click();
      await page.waitForSelector('.details .why li');
      await checkAxe(page, 'graph of the shop');
      await page.screenshot({ path: shopPicture });
    });
  });
  await context.close();
  await server.end();
}

const tools = { serve, until, step, look, title, settled, open, checkAxe, checkWidth, picture };

async function main() {
  makeEnvironments();
  await step('an address that nobody can read ends it', async () => {
    const lost = spawnSync(program, ['web', '--no-open'], { env: { ...process.env, FETTLE_HOME: home }, stdio: ['ignore', openSync('/dev/full', 'w'), 'ignore'], timeout: 10_000 });
    assert.equal(lost.status, 1);
  });
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const server = await serve(home);
  const contexts = [];
  const context = await look(browser, server, { viewport: { width: 1280, height: 800 } }, async (page, origin) => {
    await step('the key is gone from the address, and counts once', async () => {
      assert.equal(page.url(), `${origin}/`);
      const other = await browser.newContext();
      const reply = await (await other.newPage()).goto(server.address);
      assert.equal(reply.status(), 403);
      await other.close();
    });
    await checkViews(page, origin);
    await checkPictures(browser, page, origin, 'light');
    await checkClicks(page, origin);
    await checkKeys(page, origin);
    await checkChange(page, origin);
    await checkRunUnderWay(page, origin);
    await checkLooks(page, origin);
  });
  contexts.push(context);
  // The same on a small screen in the dark; 400 % of 1280 pixels are 320.
  const small = await serve(home);
  await step('another call uses the server that is there', async () => {
    assert.equal(await small.ended, 0);
    assert.equal(new URL(small.address).origin, new URL(server.address).origin);
    assert.notEqual(small.address, server.address);
  });
  contexts.push(await look(browser, small, { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }, async (page, origin) => {
    await checkViews(page, origin);
    await checkPictures(browser, page, origin, 'dark');
  }));
  await Promise.all(contexts.map((one) => one.close()));
  await checkWhatGoes(browser);
  await checkKeptPlan(browser);
  if (engineTool !== undefined) await checkEngine({ ...tools, browser, program, engineTool, images, folder });
  if (shopHome !== undefined) await checkShop(browser);
  await browser.close();
  await step('SIGTERM ends it well', async () => assert.equal(await server.end(), 0));
}

main().then(() => console.log(`${passed} passed, 0 failed`), (error) => { console.error(error); console.log(`${passed} passed, 1 failed`); process.exitCode = 1; })
  .finally(() => {
    children.forEach((child) => child.kill('SIGKILL'));
    rmSync(folder, { recursive: true, force: true });
    process.exit();
  });
