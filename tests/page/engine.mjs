// Views of what runs in containers, on a private Podman below a home of its own: logs while they are written, plans of a
// package that changes, a rollout while it happens.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { timesDiffer } from './pictures.mjs';
import { checkTerminal } from './terminal.mjs';

const image = 'localhost/fettle/busybox';

const packageText = (title) => `def run(plan):
    plan.render_templates({"greeting.txt": struct(template = "Hello, {{.name}}!\\n", data = {"name": "world"}),
        "conf/empty.conf": struct(template = "", data = {})}, name = "greeting")
    plan.add_service("talker", ServiceConfig(image = "${image}:1", env_vars = {"TITLE": "${title}"},
        cmd = ["sh", "-c", "i=0; while :; do echo line $i; i=$((i+1)); sleep 0.05; done"]))
`;

const fleetText = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {maxUnavailable: 1, podUpdatePolicy: InPlaceIfPossible, inPlaceUpdateStrategy: {gracePeriodSeconds: 1}}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: "${image}:1"
        imagePullPolicy: IfNotPresent
        command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"]
`;

function tagImage(socket) {
  return new Promise((resolve, reject) => {
    const path = `/v1.40/images/${encodeURIComponent(`${image}:1`)}/tag?repo=${encodeURIComponent(image)}&tag=2`;
    request({ socketPath: socket, method: 'POST', path }, (answer) => answer.statusCode === 201 ? resolve() : reject(new Error(`tag: ${answer.statusCode}`))).on('error', reject).end();
  });
}

// The numbers of the lines that are shown.
const numbers = (page) => page.evaluate(() => [...document.querySelectorAll('.log span.stdout')].map((line) => Number(/line (\d+)/.exec(line.textContent)?.[1])));

function assertWhole(found) {
  found.forEach((number, i) => assert.equal(number, found[0] + i, `line ${i} of ${found.slice(Math.max(0, i - 3), i + 3)}`));
}

async function checkService({ step, open, until, checkAxe, checkWidth, picture }, page, origin) {
  await step('a service has its logs and its terminal', async () => {
    await open(page, origin, '#/env/talk', 'talk');
    await until(page, () => /talker\s+running/.test(document.querySelector('[aria-label="Services"]')?.innerText ?? ''));
    assert.equal(await page.locator('a:text-is("Terminal in talker")').getAttribute('href'), '#/env/talk/terminal/talker');
    await checkAxe(page, 'environment');
    await checkWidth(page, 'environment');
    await picture(page, 'environment');
  });
}

async function checkLogs({ step, open, until, checkAxe, checkWidth, picture }, page, origin) {
  await step('a log is followed as it is written', async () => {
    await open(page, origin, '#/env/talk/logs/talker', 'Logs of talker');
    await page.waitForSelector('.log');
    const before = (await numbers(page)).at(-1);
    await until(page, (last) => Number(/line (\d+)\s*$/.exec(document.querySelector('.log').textContent)?.[1]) > last + 10, before);
    await checkAxe(page, 'log');
    await picture(page, 'logs');
    await checkWidth(page, 'log');
  });
  await step('it goes on where it stood, without a gap and without doubles', async () => {
    for (const [away, back] of [[() => page.click('text=Follow'), () => page.click('text=Follow')],
      [() => page.evaluate(hide, true), () => page.evaluate(hide, false)]]) {
      const before = (await numbers(page)).at(-1);
      await away();
      await stillness(page);
      await back();
      await until(page, (last) => Number(/line (\d+)\s*$/.exec(document.querySelector('.log').textContent)?.[1]) > last + 30, before);
      assertWhole(await numbers(page));
    }
  });
}

// Until no line has come for as long as a dozen would have taken.
async function stillness(page) {
  for (let last, now = -1; last !== now;) {
    last = now;
    await page.waitForTimeout(600);
    now = (await numbers(page)).at(-1);
  }
}

// As if another tab were in front of this one.
function hide(hidden) {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}

async function checkArtifact({ step, open, until, checkAxe, checkWidth, picture }, page, origin) {
  await step('an artifact has its files, and a file its content', async () => {
    await open(page, origin, '#/env/talk', 'talk');
    await page.click('a:text-is("greeting")');
    await until(page, () => document.querySelector('h1').textContent === 'Artifact greeting');
    await page.click('a:text-is("greeting.txt")');
    await until(page, () => document.querySelector('pre.file')?.textContent.trim() === 'Hello, world!');
    await checkAxe(page, 'file');
    await checkWidth(page, 'file');
    await picture(page, 'artifact');
    await page.click('a:text-is("conf/empty.conf")');
    await until(page, () => document.body.innerText.includes('It is empty.'));
  });
}

async function checkNodes({ step, open, until, checkAxe, checkWidth, picture }, page, origin, run, engine) {
  await step('nodes and images are shown, also of a node that does not answer', async () => {
    run(['node', 'add', 'east', '--engine', engine, '--label', 'zone=east', '-q']);
    run(['node', 'add', 'west', '--engine', 'unix:///nowhere/engine.sock', '-q']);
    await open(page, origin, '#/nodes', 'Nodes and images');
    await until(page, () => /east\s+Ready[\s\S]*zone=east[\s\S]*west\s+NotReady/.test(document.querySelector('[aria-label="Nodes"]')?.innerText ?? ''));
    await until(page, () => document.querySelector('[aria-label="Images of fleet"]')?.innerText.includes('busybox'));
    await checkAxe(page, 'nodes');
    await checkWidth(page, 'nodes');
    await picture(page, 'nodes');
    run(['node', 'rm', 'east', '-q']);
    run(['node', 'rm', 'west', '-q']);
  });
}

async function checkPlans({ step, open, until, checkAxe, checkWidth, picture }, page, origin, write) {
  await step('a plan without changes says so', async () => {
    await open(page, origin, '#/env/talk/plan', 'Plan of talk');
    await until(page, () => document.body.innerText.includes('Everything is as wanted.'));
    await checkAxe(page, 'plan');
  });
  await step('a plan is made again when it is asked for, in the words of the command', async () => {
    write(packageText('two'));
    await page.click('text=Make the plan again');
    await until(page, () => [...document.querySelectorAll('h2')].some((one) => one.textContent === 'replace'));
    const text = await page.innerText('main');
    assert.match(text, /service\/talker/);
    assert.match(text, /TITLE[\s\S]*one[\s\S]*two/);
    await checkAxe(page, 'plan with changes');
    await picture(page, 'plan');
    await checkWidth(page, 'plan with changes');
  });
  await step('the plan that was kept before is stale', async () => {
    await open(page, origin, '#/plans', 'Kept plans');
    await page.click('a:has-text("talk.plan")');
    await until(page, () => document.body.innerText.includes('It is stale'));
    await checkAxe(page, 'stale plan');
    await picture(page, 'kept');
    await checkWidth(page, 'stale plan');
  });
  await step('a package with a mistake has its line', async () => {
    write('def run(plan):\n    plan.add_service(\n');
    await open(page, origin, '#/env/talk/plan', 'Plan of talk');
    await page.waitForSelector('[role=alert]');
    assert.match(await page.innerText('[role=alert]'), /main\.star/);
    write(packageText('one'));
  });
}

async function checkRollout({ step, open, until, checkAxe, checkWidth, picture }, page, origin, start) {
  await step('a fleet has its workloads, pods and the rollout that made it', async () => {
    await open(page, origin, '#/env/fleet/fleet', 'Fleet of fleet');
    await until(page, () => document.querySelectorAll('[aria-label="Pods over time"] tbody tr').length === 3);
    const text = await page.innerText('main');
    for (const part of ['CloneSet', 'default/web', '0 of 1', 'this machine', 'Running', `busybox`]) assert.ok(text.includes(part), part);
    await checkAxe(page, 'fleet');
    await checkWidth(page, 'fleet');
  });
  await step('a rollout is seen while it happens', async () => {
    const before = await page.locator('svg.rollout rect.act-update').count();
    const done = start();
    await until(page, (count) => document.querySelectorAll('svg.rollout rect.act-update').length > count, before);
    await until(page, () => document.querySelectorAll('[aria-label="Workloads"] td').length > 0);
    await done;
    await until(page, () => [...document.querySelectorAll('[aria-label="Pods over time"] tbody tr')].every((row) => row.querySelector('rect.act-update') !== null));
    await until(page, () => document.body.innerText.includes('took'));
    assert.match(await page.locator('svg.rollout').first().getAttribute('aria-label'), /create after 0\.0 s: done.*update after/);
    await checkAxe(page, 'rollout');
    await checkWidth(page, 'rollout');
    await page.evaluate(() => document.querySelector('[aria-label="Pods"]').scrollIntoView());
    await picture(page, 'fleet', timesDiffer);
  });
}

export async function checkEngine(tools) {
  const { browser, program, engineTool, images, folder, serve, look } = tools;
  const home = join(folder, 'engine-home'), source = join(folder, 'talk');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(source);
  const env = { ...process.env, FETTLE_HOME: home };
  const run = (words) => execFileSync(program, words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const write = (text) => writeFileSync(join(source, 'main.star'), text);
  const address = run(['engine', 'start', '-q']).trim();
  try {
    execFileSync(engineTool, ['import', address, images, 'busybox']);
    await tagImage(address.replace(/^unix:\/\//, ''));
    write(packageText('one'));
    writeFileSync(join(source, 'kurtosis.yml'), 'name: github.com/test/talk\n');
    run(['run', source, '-e', 'talk', '-q']);
    run(['plan', source, '-e', 'talk', '--out', join(folder, 'talk.plan'), '-q']);
    writeFileSync(join(folder, 'fleet.yaml'), fleetText);
    run(['apply', '-f', join(folder, 'fleet.yaml'), '-q']);
    for (const options of [{ viewport: { width: 1280, height: 800 } }, { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }]) {
      const server = await serve(home);
      let turn = options.viewport.width === 1280 ? 2 : 1;
      const start = () => new Promise((resolve, reject) => spawn(program, ['set', 'image', 'cloneset/web', `main=${image}:${turn}`, '-q'], { env, stdio: 'ignore' })
        .on('exit', (code) => code === 0 ? resolve() : reject(new Error(`the rollout ended with ${code}`))));
      const context = await look(browser, server, options, async (page, origin) => {
        await checkService(tools, page, origin);
        await checkLogs(tools, page, origin);
        await checkTerminal(tools, page, origin, run);
        await checkArtifact(tools, page, origin);
        await checkPlans(tools, page, origin, write);
        await checkRollout(tools, page, origin, start);
        await checkNodes(tools, page, origin, run, address);
      });
      await context.close();
      await server.end();
    }
  } finally {
    execFileSync(engineTool, ['stop', 'podman', join(home, 'podman'), '--wipe']);
  }
}
