// Pictures of views, compared with those in `pictures/` after both were made small: fonts and the edges of letters differ
// between machines; places, colours and what is drawn at all do not. `UPDATE_PICTURES=1` writes them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, 'pictures');
// The mean difference of a colour, and the share of points that are another colour altogether.
const tolerance = { mean: 5, others: 0.03, another: 60 };
// Of what has times in it, as words and as bars.
export const timesDiffer = { ...tolerance, mean: 10, others: 0.07 };

// In a page of no site: the policy of ours allows no pictures from elsewhere.
async function inBlank(browser, work, argument) {
  const page = await browser.newPage();
  try {
    return await page.evaluate(work, argument);
  } finally {
    await page.close();
  }
}

async function reduced(url) {
  const image = new Image();
  image.src = url;
  await image.decode();
  const width = 160, height = Math.round(width * image.height / image.width);
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, width, height);
  return canvas.toDataURL('image/png');
}

async function differenceOf([one, other, another]) {
  const bytes = [];
  for (const url of [one, other]) {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    bytes.push({ size: `${image.width}x${image.height}`, data: context.getImageData(0, 0, image.width, image.height).data });
  }
  if (bytes[0].size !== bytes[1].size) return { size: bytes.map((each) => each.size).join(' and ') };
  let sum = 0, others = 0;
  const points = bytes[0].data.length / 4;
  for (let i = 0; i < bytes[0].data.length; i += 4) {
    let most = 0;
    for (let part = 0; part < 3; ++part) {
      const difference = Math.abs(bytes[0].data[i + part] - bytes[1].data[i + part]);
      sum += difference;
      most = Math.max(most, difference);
    }
    if (most > another) ++others;
  }
  return { mean: sum / points / 3, others: others / points };
}

// `place`: a page, or a part of one.
export async function comparePicture(browser, place, name, within = tolerance) {
  const shot = `data:image/png;base64,${(await place.screenshot()).toString('base64')}`;
  const now = await inBlank(browser, reduced, shot);
  const path = join(folder, `${name}.png`);
  if (process.env.UPDATE_PICTURES !== undefined || !existsSync(path)) {
    assert.ok(process.env.UPDATE_PICTURES !== undefined, `there is no picture ${name}; UPDATE_PICTURES=1 makes it`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, Buffer.from(now.split(',')[1], 'base64'));
    return;
  }
  const kept = `data:image/png;base64,${readFileSync(path).toString('base64')}`;
  const difference = await inBlank(browser, differenceOf, [now, kept, within.another]);
  assert.ok(difference.mean <= within.mean && difference.others <= within.others, `${name} looks different: ${JSON.stringify(difference)}`);
}
