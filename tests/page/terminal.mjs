// Terminals: shells in a real container, over the WebSocket of a real server.
import assert from 'node:assert/strict';

const address = '#/env/talk/terminal/talker';
const shown = (page) => page.evaluate(() => document.querySelector('.xterm-rows')?.innerText ?? '');

// Until the shell has printed something that matches.
async function printed({ until }, page, pattern) {
  await until(page, (source) => new RegExp(source).test(document.querySelector('.xterm-rows')?.innerText ?? ''), pattern.source);
}

async function enter({ open, until }, page, origin) {
  await page.goto('about:blank');
  await open(page, origin, address, 'Terminal in talker');
  await until(page, () => document.querySelector('.xterm-rows')?.innerText.includes('#') && document.activeElement?.className === 'xterm-helper-textarea');
}

async function type(page, text) {
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

export async function checkTerminal(tools, page, origin, run) {
  const { step, until, checkAxe, checkWidth, picture } = tools;
  const processes = () => run(['service', 'exec', 'talk', 'talker', 'ps', '-o', 'pid,args']).split('\n').filter((line) => / sh$/.test(line)).length;
  await step('a terminal opens with the keyboard in it, and answers', async () => {
    await enter(tools, page, origin);
    await type(page, "echo he''llo $TERM");
    await printed(tools, page, /hello xterm-256color/);
    await checkAxe(page, 'terminal');
    await checkWidth(page, 'terminal');
  });
  await step('its styles and colours are there, without one that stands in the page', async () => {
    await type(page, "printf '\\033[38;2;10;200;30;48;2;20;20;20mgr''een\\033[0m \\033[1;31mr''ed\\033[0m\\n'");
    await printed(tools, page, /green red/);
    const style = await page.evaluate(() => {
      const of = (text) => { const found = [...document.querySelectorAll('.xterm-rows span')].find((span) => span.textContent === text); return found === undefined ? null : getComputedStyle(found); };
      return { green: of('green')?.color, back: of('green')?.backgroundColor, weight: of('red')?.fontWeight, family: getComputedStyle(document.querySelector('.xterm-rows')).fontFamily, elements: document.querySelectorAll('style').length };
    });
    assert.deepEqual([style.green, style.back, style.elements], ['rgb(10, 200, 30)', 'rgb(20, 20, 20)', 0]);
    assert.ok(style.weight === 'bold' || Number(style.weight) >= 600, style.weight);
    assert.match(style.family, /monospace/);
    await type(page, 'ls /');
    await picture(page, 'terminal');
  });
  await step('it has the size of its box, also when that changes', async () => {
    await type(page, 'clear; stty size');
    await printed(tools, page, /\d+ \d+/);
    const before = /(\d+) (\d+)/.exec((await shown(page)).replace(/stty size/, ''));
    const view = page.viewportSize();
    await page.setViewportSize({ width: view.width - 90, height: view.height - 150 });
    await page.waitForTimeout(300);
    await type(page, 'clear; stty size');
    await until(page, ([rows, columns]) => {
      const now = /(\d+) (\d+)/.exec((document.querySelector('.xterm-rows')?.innerText ?? '').replace(/stty size/, ''));
      return now !== null && Number(now[1]) < Number(rows) && Number(now[2]) < Number(columns);
    }, [before[1], before[2]]);
    await page.setViewportSize(view);
  });
  await step('a shell that prints endlessly is drawn and stopped', async () => {
    await type(page, 'yes fl""ood');
    await printed(tools, page, /flood\s+flood\s+flood/);
    await page.waitForTimeout(1500);
    await page.keyboard.press('Control+c');
    await type(page, "clear; echo st''ill here");
    await printed(tools, page, /still here/);
  });
  await step('two are open at once', async () => {
    const other = await page.context().newPage();
    await other.goto(`${origin}/${address}`);
    await other.waitForSelector('.xterm-rows');
    await until(other, () => document.activeElement?.className === 'xterm-helper-textarea');
    await type(other, 'echo $((40 + 2)) oth""er');
    await printed(tools, other, /42 other/);
    assert.doesNotMatch(await shown(page), /42 other/);
    assert.equal(processes(), 2);
    await other.close();
    for (const end = Date.now() + 20_000; processes() !== 1;) assert.ok(Date.now() < end, 'the shell of a page that was closed is still there');
  });
  await step('a key leads out of it', async () => {
    await page.keyboard.press('Shift+Escape');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'End it and open another');
  });
  await step('it says how its shell has ended, and another one opens', async () => {
    await page.click('.xterm-screen');
    await type(page, 'exit 3');
    await until(page, () => document.body.innerText.includes('It has ended with 3.'));
    await page.click('text=Open another');
    await until(page, () => document.body.innerText.includes('Open.'));
    await until(page, () => document.querySelector('.xterm-rows')?.innerText.includes('#'));
  });
  await step('it ends with its service, and says why there is none', async () => {
    run(['service', 'stop', 'talk', 'talker', '-q']);
    await until(page, () => /It has ended with|error|ended/.test([...document.querySelectorAll('[role=status]')].map((one) => one.textContent).join(' ')) && !document.body.innerText.includes('Open.'));
    await page.click('text=Open another');
    await until(page, () => document.body.innerText.includes('fettle service start'));
    run(['service', 'start', 'talk', 'talker', '-q']);
  });
  await step('a browser without the key gets none', async () => {
    const key = await page.evaluate(() => localStorage.getItem('fettle-key'));
    await page.evaluate(() => localStorage.removeItem('fettle-key'));
    await page.click('text=Open another');
    await until(page, () => document.body.innerText.includes('may have no key for terminals'));
    await page.evaluate((kept) => localStorage.setItem('fettle-key', kept), key);
    await page.click('text=Open another');
    await until(page, () => document.body.innerText.includes('Open.'));
    await page.goto(`${origin}/#/`);
  });
}
