// What a reader does with the picture, the tables and the files, on the one-file page.

import { readFileSync } from 'node:fs';
import type { Download, Locator, Page } from '@playwright/test';
import {
  box,
  waitUntilDrawn,
  expect,
  graph,
  inspector,
  open,
  openLegend,
  pick,
  rectOf,
  reveal,
  statusText,
  save,
  setOpen,
  tab,
  test
} from './pages';

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

const noteOf = (page: Page): Locator => page.locator('.oad-Note');
const totals = (page: Page): Locator =>
  page.getByRole('group', { name: 'Totals' });
const copied = (page: Page): Promise<string> =>
  page.evaluate(() => navigator.clipboard.readText());
/** The number before a word in a text. */
const count = (text: string | null): number =>
  Number(/([\d,]+)/.exec(text ?? '')?.[1].replaceAll(',', ''));
/** Nodes and blocks that are drawn. */
const cards = (page: Page): Locator =>
  graph(page).locator('.oad-node, .oad-group');

async function saved(page: Page, act: () => Promise<void>): Promise<Download> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return download;
}

async function menu(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('menuitem', { name }).click();
}

test('traces upstream, downstream and between two nodes', async ({ page }) => {
  await open(page, 'resnet_tiny.onnx');
  await page.keyboard.press('e');
  await page.keyboard.press('Control+f');
  await page.keyboard.type('op=MaxPool');
  await page.keyboard.press('Enter');
  await expect(page.locator('.oad-Search-count')).toHaveText('1/1');
  await graph(page).focus();
  await page.keyboard.press('a');
  await expect(graph(page)).toHaveClass(/oad-tracing/);
  await expect(noteOf(page)).toContainText(/nodes are upstream of/);
  const before = count(await noteOf(page).innerText());
  // Boxes of the trace are bright; there are some of both kinds.
  expect(
    await graph(page).locator('.oad-box.oad-trace-member').count()
  ).toBeGreaterThan(0);
  expect(
    await graph(page).locator('.oad-box:not(.oad-trace-member)').count()
  ).toBeGreaterThan(0);
  await page.keyboard.press('Shift+A');
  await expect(noteOf(page)).toContainText(/nodes are downstream of/);
  const after = count(await noteOf(page).innerText());
  // In a chain of residual blocks, all that comes before and after the pool is the whole.
  const total = Number(
    /of ([\d,]+) nodes/.exec(await noteOf(page).innerText())?.[1]
  );
  expect(before + after).toBe(total + 1);

  await box(page, /^Relu/).click({ modifiers: ['Shift'] });
  await page.keyboard.press('p');
  await expect(noteOf(page)).toContainText(/nodes are on a path between/);
  const between = count(await noteOf(page).innerText());
  expect(between).toBeGreaterThan(1);
  expect(between).toBeLessThan(total);
  await noteOf(page).getByRole('button', { name: 'End' }).click();
  await expect(graph(page)).not.toHaveClass(/oad-tracing/);
  await page.keyboard.press('a');
  await page.keyboard.press('Escape');
  await expect(noteOf(page)).toHaveCount(0);
});

test('hides, shows only, and shows all again', async ({ page }) => {
  await open(page, 'resnet50.onnx');
  await pick(page, /^MaxPool/);
  await page.keyboard.press('x');
  await expect(box(page, /^MaxPool/)).toHaveCount(0);
  await expect(noteOf(page)).toContainText('1 node hidden');
  await page.keyboard.press('z');
  await expect(box(page, /^MaxPool/)).toBeVisible();
  await pick(page, /^MaxPool/);
  await page.keyboard.press('Shift+X');
  await expect(cards(page)).toHaveCount(1);
  await noteOf(page).getByRole('button', { name: 'Show all' }).click();
  await expect(cards(page)).not.toHaveCount(1);
});

test('several selected nodes show the sum of their costs', async ({ page }) => {
  await open(page, 'resnet50.onnx');
  const costs = inspector(page);
  await reveal(page, 'node_Conv_753');
  await pick(page, /^Conv/);
  await expect(costs).toContainText('118,013,952');
  await page.keyboard.press('Shift+ArrowRight');
  await expect(costs).toContainText('2 boxes');
  await expect(costs).toContainText('118,013,952');
  await expect(costs).toContainText('9,472');
  await page.keyboard.press('s');
  await expect(costs.locator('.oad-Inspector-name')).not.toHaveText('2 boxes');
  await expect(statusText(page)).toHaveText(/^\d+ selected$/);
  const many = count(await statusText(page).innerText());
  await expect(costs).toContainText(`${many} boxes`);
  // Shift and a drag take what lies in the rectangle.
  await page.keyboard.press('Escape');
  const area = await rectOf(graph(page));
  await page.keyboard.down('Shift');
  await page.mouse.move(area.x + 4, area.y + 4);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width - 8, area.y + area.height - 8, {
    steps: 4
  });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await expect(costs).toContainText(/[3-9]\d* boxes/);
});

test('goes back and forward through selections and expanded blocks', async ({
  page
}) => {
  await open(page, 'bert_dyn.onnx');
  const block = box(page, /^BertEmbeddings/);
  await setOpen(page, /^BertEmbeddings/, true);
  await pick(page, /^GatherElements/);
  await setOpen(page, /^BertEmbeddings/, false);
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(block).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('Alt+ArrowLeft');
  await expect(inspector(page)).toContainText('GatherElements');
  await page.keyboard.press('Alt+ArrowRight');
  await page.keyboard.press('Alt+ArrowRight');
  await expect(block).toHaveAttribute('aria-expanded', 'false');
});

test('saves a view and returns to it', async ({ page }) => {
  await open(page, 'bert_dyn.onnx');
  const world = graph(page).locator('svg > g').first();
  const block = box(page, /^BertEmbeddings/);
  await setOpen(page, /^BertEmbeddings/, true);
  // A picture that moves is shifted as a whole, not drawn in place.
  await expect(graph(page)).not.toHaveClass(/oad-moving/);
  const transform = await world.getAttribute('transform');
  await page.keyboard.press('Shift+3');
  await expect(statusText(page)).toHaveText('View 3 saved.');
  await setOpen(page, /^BertEmbeddings/, false);
  await page.keyboard.press('h');
  await page.keyboard.press('Space');
  await expect(world).not.toHaveAttribute('transform', transform!);
  const overlay = page.getByLabel('Heatmap').first();
  await expect(overlay).not.toHaveValue('macs');
  await page.keyboard.press('3');
  await expect(block).toHaveAttribute('aria-expanded', 'true');
  await expect(world).toHaveAttribute('transform', transform!);
  await expect(overlay).toHaveValue('macs');
});

test('a saved view restores hidden nodes, the shown instance of a repeat and the scale', async ({
  page
}) => {
  await open(page, 'bert_base.onnx');
  const world = graph(page).locator('svg > g').first();
  await setOpen(page, /^encoder/, true);
  await page.keyboard.press('PageDown');
  await page.keyboard.press('PageDown');
  await pick(page, /^BertEmbeddings/);
  await page.keyboard.press('x');
  await expect(noteOf(page)).toContainText('hidden');
  await page.keyboard.press('l');
  await expect(graph(page)).not.toHaveClass(/oad-moving/);
  const names = await cards(page).evaluateAll(elements =>
    elements.map(element => element.getAttribute('aria-label'))
  );
  const transform = await world.getAttribute('transform');
  await page.keyboard.press('Shift+4');
  await expect(statusText(page)).toHaveText('View 4 saved.');

  await page.keyboard.press('z');
  await expect(noteOf(page)).toHaveCount(0);
  await page.keyboard.press('l');
  await page.keyboard.press('4');
  await expect(statusText(page)).toHaveText('View 4');
  await expect(noteOf(page)).toContainText('hidden');
  await expect(world).toHaveAttribute('transform', transform!);
  expect(
    await cards(page).evaluateAll(elements =>
      elements.map(element => element.getAttribute('aria-label'))
    )
  ).toEqual(names);
  await expect(page.getByRole('button', { name: 'log' })).toBeVisible();
});

test('copies names and a link that opens the same view', async ({ page }) => {
  await open(page, 'bert_dyn.onnx');
  const block = box(page, /^BertEmbeddings/);
  const asFirst = (await block.getAttribute('aria-expanded')) === 'true';
  await pick(page, /^GatherElements/);
  await page.keyboard.press('Control+c');
  await expect.poll(() => copied(page)).toMatch(/^node_\w+$/);
  const name = await copied(page);
  await page.getByLabel('Heatmap').first().selectOption('params');
  await setOpen(page, /^BertEmbeddings/, !asFirst);
  await expect(graph(page)).not.toHaveClass(/oad-moving/);
  const world = graph(page).locator('svg > g').first();
  const transform = await world.getAttribute('transform');
  await page.keyboard.press('Shift+L');
  await expect(statusText(page)).toHaveText('Copied.');
  const link = await copied(page);
  expect(link).toMatch(/^file:.*#view=[\w-]+$/);
  expect(link).not.toContain(name);

  await page.goto('about:blank');
  await page.goto(link);
  await waitUntilDrawn(page);
  await expect(page.getByLabel('Heatmap').first()).toHaveValue('params');
  await expect(block).toHaveAttribute('aria-expanded', String(!asFirst));
  await expect(inspector(page)).toContainText('BertEmbeddings');
  await expect(world).toHaveAttribute('transform', transform!);
});

test('the entries of the context menu run their actions', async ({ page }) => {
  await open(page, 'bert_dyn.onnx');
  await setOpen(page, /^BertEmbeddings/, true);
  await box(page, /^BertEmbeddings/).click({
    button: 'right',
    position: { x: 30, y: 8 }
  });
  await menu(page, /^Collapse the selected block Enter/);
  await expect(box(page, /^BertEmbeddings/)).toHaveAttribute(
    'aria-expanded',
    'false'
  );
  await box(page, /^BertEmbeddings/).click({ button: 'right' });
  await menu(page, /^Show in the table/);
  await expect(page.getByRole('tab', { name: 'Layers' })).toHaveAttribute(
    'aria-selected',
    'true'
  );
  await expect(page.locator('.oad-Grid-row[aria-selected=true]')).toContainText(
    'embeddings'
  );
  // On the ground it is about the picture.
  await graph(page).focus();
  await page.keyboard.press('f');
  await expect(graph(page)).not.toHaveClass(/oad-moving/);
  const area = await rectOf(graph(page));
  await page.mouse.click(area.x + 6, area.y + 6, { button: 'right' });
  await menu(page, /^Collapse all/);
  await expect(cards(page)).not.toHaveCount(0);
  await expect(graph(page).locator('.oad-panel')).toHaveCount(0);
});

test('finds by expression and steps through the matches', async ({ page }) => {
  await open(page, 'resnet50.onnx');
  const search = page.getByRole('textbox', { name: 'Find in the model' });
  const counter = page.locator('.oad-Search-count');
  await search.fill('op=Conv & macs>1e8');
  await expect(counter).toHaveText(/^–\/\d+$/);
  const hits = count((await counter.innerText()).split('/')[1]);
  await search.press('Enter');
  await expect(counter).toHaveText(`1/${hits}`);
  await expect(inspector(page)).toContainText('Conv');
  const first = await inspector(page)
    .locator('.oad-Inspector-name')
    .innerText();
  await page.getByRole('button', { name: 'Next match' }).click();
  await expect(counter).toHaveText(`2/${hits}`);
  await expect(inspector(page).locator('.oad-Inspector-name')).not.toHaveText(
    first
  );
  await page.getByRole('button', { name: 'Previous match' }).click();
  await page.getByRole('button', { name: 'Previous match' }).click();
  await expect(counter).toHaveText(`${hits}/${hits}`);
  await page.getByRole('button', { name: 'Select all matches' }).click();
  await expect(inspector(page)).toContainText(`${hits} boxes`);
  await search.fill('macs>');
  await expect(page.locator('.oad-Search-fault')).toBeVisible();
  await search.fill('op=Gelu');
  await expect(counter).toHaveText('none');
});

test('filters, sorts and groups the table; the CSV has the rows shown', async ({
  page
}) => {
  await open(page, 'resnet50.onnx');
  await tab(page, 'Layers');
  const table = page.locator('.oad-Grid');
  await page.getByRole('textbox', { name: 'Filter layers' }).fill('macs>1e8');
  await expect(page.locator('.oad-Tools')).toContainText(/\d+ of \d+ layers/);
  const visible = count(
    await page.locator('.oad-Tools [role=status]').innerText()
  );
  expect(visible).toBeGreaterThan(3);
  const head = (name: string): Locator =>
    table.getByRole('columnheader', { name, exact: true });
  await head('MACs').getByRole('button').click();
  await head('Name')
    .getByRole('button')
    .click({ modifiers: ['Shift'] });
  await expect(head('MACs')).toHaveAttribute('aria-sort', 'descending');
  await expect(head('Name')).toHaveAttribute('aria-sort', 'ascending');
  const names = await table
    .locator('.oad-Grid-row bdi')
    .evaluateAll(elements =>
      elements.map(element => element.textContent ?? '')
    );

  const file = await saved(page, () =>
    page.getByRole('button', { name: 'CSV' }).click()
  );
  expect(file.suggestedFilename()).toBe('resnet50.onnx.layers.csv');
  const rows = readFileSync(await file.path(), 'utf8')
    .trim()
    .split(/\r?\n/);
  expect(rows).toHaveLength(visible + 1);
  const fields = rows[0].split(',');
  const macs = rows
    .slice(1)
    .map(row => Number(row.split(',')[fields.indexOf('macs')]));
  expect(macs.every(value => value > 1e8)).toBe(true);
  expect([...macs].sort((a, b) => b - a)).toEqual(macs);
  expect(names).toContain(rows[1].split(',')[fields.indexOf('name')]);

  await page.getByRole('button', { name: 'By block' }).click();
  await expect(page.getByRole('treegrid')).toBeVisible();
  await expect(
    page.getByRole('treegrid').getByRole('row', { expanded: false }).first()
  ).toBeVisible();
  // The sums of the blocks are those of the filtered layers.
  await expect(table.locator('.oad-Grid-foot')).toContainText(
    `Total of ${visible} layers`
  );
});

test('cycles the heatmap and limits its range in the legend', async ({
  page
}) => {
  await open(page, 'resnet50.onnx');
  const overlay = page.getByLabel('Heatmap').first();
  const visited = new Set([await overlay.inputValue()]);
  await graph(page).focus();
  for (let i = 0; i < 9; i++) {
    await page.keyboard.press('h');
    visited.add(await overlay.inputValue());
  }
  // Times need a device first.
  const offered = await overlay.locator('option:not([value=latency])').count();
  expect(visited.size).toBe(offered);

  await overlay.selectOption('macs');
  const legend = page.getByRole('group', { name: 'Heatmap legend' });
  await openLegend(page);
  const ends = legend.locator('.oad-Legend-ends > span');
  const labels = await ends.allInnerTexts();
  const bar = await rectOf(legend.locator('.oad-Brush'));
  const y = bar.y + bar.height / 2;
  await page.mouse.move(bar.x + bar.width * 0.5, y);
  await page.mouse.down();
  await page.mouse.move(bar.x + bar.width * 0.98, y, { steps: 3 });
  await page.mouse.up();
  await expect(legend.locator('.oad-Brush-span')).toBeVisible();
  await expect(ends.first()).not.toHaveText(labels[0]);
  await graph(page).focus();
  await page.keyboard.press('Escape');
  await expect(legend.locator('.oad-Brush-span')).toHaveCount(0);
  await expect(ends.first()).toHaveText(labels[0]);
});

test('a slider of a dimension changes totals, table, curve and graph', async ({
  page
}) => {
  await open(page, 'bert_dyn.onnx');
  await pick(page, /^BertEmbeddings/);
  const card = box(page, /^BertModel/);
  const name = await card.getAttribute('aria-label');
  await expect(totals(page)).toContainText('11.2 G');
  await tab(page, 'Layers');
  const foot = page.locator('.oad-Grid-foot');
  const sum = await foot.innerText();
  await tab(page, 'Memory');
  const peak = page.locator('.oad-Memory-peaks');
  const bytes = await peak.innerText();
  await tab(page, 'Dimensions');
  const slider = page.getByRole('slider', { name: /Size of/ }).last();
  await slider.fill('40');
  await expect(totals(page)).not.toContainText('11.2 G');
  await expect(card).not.toHaveAttribute('aria-label', name!);
  await tab(page, 'Layers');
  await expect(foot).not.toHaveText(sum);
  await tab(page, 'Memory');
  await expect(peak).not.toHaveText(bytes);
  await expect(inspector(page)).toContainText('BertEmbeddings');
});

test('a point of the memory curve shows its node', async ({ page }) => {
  await open(page, 'resnet50.onnx');
  await tab(page, 'Memory');
  const plot = page.getByRole('slider', { name: /Live bytes/ });
  await plot.hover({ position: { x: 90, y: 40 } });
  await expect(plot).toHaveAttribute('aria-valuetext', /^Step \d+ of \d+, /);
  await expect(graph(page).locator('.oad-ring-hit')).not.toHaveCount(0);
  await expect(page.locator('.oad-Plot-cursor')).toHaveCount(1);
  const step = await plot.getAttribute('aria-valuetext');
  await plot.click({ position: { x: 90, y: 40 } });
  await expect(inspector(page).locator('.oad-Inspector-title')).toBeVisible();
  const op = /^Step \d+ of \d+, (\w+)/.exec(step!)![1];
  await expect(inspector(page)).toContainText(op);
});

test('a click on a wire shows its tensor', async ({ page }) => {
  await open(page, 'resnet50.onnx');
  const label = graph(page).locator('.oad-labels text').first();
  const text = (await label.textContent())!;
  const rect = await rectOf(label);
  // The label stands above its wire.
  let hit = false;
  for (let down = 0; down < 16 && !hit; down += 2) {
    await page.mouse.click(
      rect.x + rect.width / 2,
      rect.y + rect.height + down
    );
    hit = await inspector(page)
      .getByText('Producer')
      .isVisible({ timeout: 300 });
  }
  await expect(inspector(page)).toContainText(text);
  for (const fact of ['Type', 'Shape', 'Size', 'Lifetime', 'Consumers']) {
    await expect(inspector(page)).toContainText(fact);
  }
});

test('saves SVG, PNG and DOT of the graph shown', async ({ page }) => {
  await open(page, 'resnet50.onnx');
  await page.keyboard.press('Shift+E');
  await expect(graph(page).locator('.oad-panel')).toHaveCount(0);
  await page.keyboard.press('Space');
  const visible = await graph(page).getByRole('button').count();
  expect(visible).toBeGreaterThan(2);
  const choose = async (name: string): Promise<Download> => {
    await page.getByRole('button', { name: 'Export' }).click();
    return saved(page, () =>
      page.getByRole('menuitem', { name, exact: true }).click()
    );
  };
  const svg = await choose('Save the graph as SVG');
  expect(svg.suggestedFilename()).toBe('resnet50.svg');
  const text = readFileSync(await svg.path(), 'utf8');
  const [fault, boxes, width] = await page.evaluate(source => {
    const file = new DOMParser().parseFromString(source, 'image/svg+xml');
    return [
      file.querySelector('parsererror')?.textContent ?? null,
      file.querySelectorAll('g > title').length,
      Number(file.documentElement.getAttribute('width'))
    ] as const;
  }, text);
  expect(fault).toBeNull();
  expect(boxes).toBe(visible);
  expect(text).not.toMatch(/<script|href="http|var\(--/);

  const sizes = [];
  for (const name of ['', ' at scale 2']) {
    const png = await choose(`Save the graph as PNG${name}`);
    const bytes = readFileSync(await png.path());
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    sizes.push(bytes.readUInt32BE(16));
  }
  expect(sizes[0]).toBe(Math.ceil(width));
  expect(sizes[1]).toBe(Math.ceil(2 * width));
  const dot = await choose('Save the graph as DOT');
  expect(readFileSync(await dot.path(), 'utf8')).toMatch(/^digraph/);
});

test('saved images are light or dark as chosen, whatever the theme of the page', async ({
  page
}) => {
  const choose = async (look?: string): Promise<string> => {
    await page.getByRole('button', { name: 'Export' }).click();
    if (look) {
      await page.getByLabel('Image colours').selectOption(look);
    }
    const file = await saved(page, () =>
      page.getByRole('menuitem', { name: 'Save the graph as SVG' }).click()
    );
    // Grounds, boxes and the ramp; the quiet text of a page is a little stronger.
    const text = readFileSync(await file.path(), 'utf8');
    return text.match(/<rect[^>]*>/g)!.join('\n');
  };
  await open(page, 'resnet50.onnx', { dark: true });
  const dark = await choose();
  const lightColor = await choose('Light');
  await open(page, 'resnet50.onnx', { dark: false });
  expect(await choose()).toBe(lightColor);
  expect(await choose('Dark')).toBe(dark);
  expect(lightColor).not.toBe(dark);
});

test('a saved page opens again from disk', async ({ page, context }, info) => {
  await open(page, 'resnet_tiny.onnx');
  // What the viewer has drawn by now is in the file.
  const file = await save(page, info.outputPath('again.html'));
  const other = await context.newPage();
  await other.goto(file);
  await waitUntilDrawn(other);
  await expect(totals(other)).toContainText('3.73 M');
});

test.describe('by touch', () => {
  test.use({ hasTouch: true });

  test('two fingers zoom, a long press opens the menu, a double tap expands', async ({
    page
  }) => {
    await open(page, 'bert_dyn.onnx');
    const world = graph(page).locator('svg > g').first();
    const scale = async (): Promise<number> =>
      Number(
        /scale\((.*?)\)/.exec((await world.getAttribute('transform'))!)![1]
      );
    await setOpen(page, /^BertEmbeddings/, true);
    await page.keyboard.press('Escape');
    const before = await scale();
    await graph(page).focus();
    await page.keyboard.press('Shift+1');
    const area = await rectOf(graph(page));
    const middle = { x: area.x + area.width / 2, y: area.y + area.height / 2 };
    const cdp = await page.context().newCDPSession(page);
    const touch = (
      type: 'touchStart' | 'touchMove' | 'touchEnd',
      ...xs: number[]
    ): Promise<unknown> =>
      cdp.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: xs.map((x, id) => ({ x: middle.x + x, y: middle.y, id }))
      });
    await touch('touchStart', -40, 40);
    for (const x of [50, 60, 70, 80]) {
      await touch('touchMove', -x, x);
    }
    await touch('touchEnd');
    await expect.poll(async () => (await scale()) / before).toBeCloseTo(2, 1);

    await page.keyboard.press('1');
    await expect.poll(scale).toBeCloseTo(before, 3);
    const block = box(page, /^BertEmbeddings/);
    const rect = await rectOf(block);
    const point = { x: rect.x + 40, y: rect.y + 8 };
    await page.touchscreen.tap(point.x, point.y);
    await page.touchscreen.tap(point.x, point.y);
    await expect(block).toHaveAttribute('aria-expanded', 'false');

    const card = await rectOf(block);
    const press = [{ x: card.x + 20, y: card.y + 8, id: 0 }];
    await cdp.send('Input.dispatchTouchEvent', {
      type: 'touchStart',
      touchPoints: press
    });
    await expect(page.getByRole('menu')).toBeVisible();
    await cdp.send('Input.dispatchTouchEvent', {
      type: 'touchEnd',
      touchPoints: []
    });
    await expect(page.getByRole('menu')).toBeVisible();
  });
});

test('a block expanded by a first double click stays in view when the inspector opens over it', async ({
  page
}) => {
  await open(page, 'resnet50.onnx', { width: 1000 });
  const block = box(page, /^ResNetStage stages\.1/);
  const from = await rectOf(block);
  // In the part of the view that the inspector will take.
  expect(from.x + from.width).toBeGreaterThan(670);
  const start: [number, number] = [from.x + from.width - 20, from.y + 8];
  await page.mouse.click(...start);
  await page.waitForTimeout(120);
  await page.mouse.click(...start, { clickCount: 2 });
  await expect(block).toHaveAttribute('aria-expanded', 'true');
  await expect(inspector(page)).toContainText('stages.1');
  const graphEnd = await rectOf(graph(page));
  await expect
    .poll(async () => {
      const now = await rectOf(block);
      return now.x > graphEnd.x && now.x + 100 < graphEnd.x + graphEnd.width;
    })
    .toBe(true);
});

test('the graph does not move when the inspector opens', async ({ page }) => {
  await open(page, 'resnet50.onnx', { width: 1000 });
  const block = box(page, /^ResNetStage stages\.0/);
  const from = await rectOf(block);
  await page.getByRole('button', { name: /^Inspector/ }).click();
  await expect(inspector(page)).toBeVisible();
  // Where it comes to rest: elements are replaced when the view has another size.
  await expect(async () => {
    const now = await rectOf(block);
    expect(Math.abs(now.x - from.x)).toBeLessThan(2);
    expect(Math.abs(now.width - from.width)).toBeLessThan(2);
  }).toPass();
});

test('the table by blocks starts inside the outermost block; tags are a column', async ({
  page
}) => {
  await open(page, 'bert_base.onnx');
  await tab(page, 'Layers');
  await page.getByRole('button', { name: 'By block' }).click();
  const grid = page.getByRole('treegrid', { name: 'Layers' });
  await expect(grid).toContainText('embeddings');
  await expect(grid).toContainText('encoder');
  await page.locator('summary', { hasText: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Tag' }).check();
  await page.getByRole('button', { name: 'By block' }).click();
  await page
    .getByRole('textbox', { name: 'Filter layers' })
    .fill('attr.epsilon<1e-6 & op=LayerNormalization');
  const layers = page.getByRole('grid', { name: 'Layers' });
  await expect(layers).toContainText('Total of 25 layers');
  await expect(layers).toContainText('/BertLayer.0/');
});

test('names stay in view when the table is scrolled to its last column', async ({
  page
}) => {
  await open(page, 'resnet50.onnx', { width: 900 });
  await tab(page, 'Layers');
  const grid = page.getByRole('grid', { name: 'Layers' });
  await grid.evaluate(element => element.scrollTo(9999, 0));
  const last = grid.getByRole('columnheader', { name: 'FLOP/B' });
  await expect(last).toBeInViewport({ ratio: 0.9 });
  const { x } = await rectOf(grid);
  for (const role of ['columnheader', 'gridcell'] as const) {
    const first = await rectOf(grid.getByRole(role).first());
    expect(first.x).toBeCloseTo(x, 0);
  }
  const foot = grid.getByText(/^Total of 122 layers/);
  expect((await rectOf(foot)).x).toBeCloseTo(x, 0);
});

test('curves fill the height of the panel, however many operators there are', async ({
  page
}) => {
  await open(page, 'silero_vad.onnx', { width: 1100, height: 720 });
  await tab(page, 'Charts');
  const plots = page.locator('.oad-Charts .oad-Plot');
  await expect(plots).toHaveCount(2);
  for (const plot of await plots.all()) {
    await expect(plot).toBeInViewport({ ratio: 1 });
  }
  const last = page.locator('.oad-Bars').first().getByRole('button').last();
  await last.scrollIntoViewIfNeeded();
  await expect(last).toBeInViewport({ ratio: 1 });
  await expect(plots.first()).toBeInViewport({ ratio: 1 });
});

test('the mark of assumed values is readable in a narrow panel', async ({
  page
}) => {
  await open(page, 'llama_cache.onnx', { width: 700, height: 720 });
  await tab(page, 'Dimensions');
  const tag = page.getByText('assumed – confirm or change');
  await expect(tag).toBeInViewport({ ratio: 1 });
  const panel = page.locator('.oad-Dims');
  expect(
    await panel.evaluate(element => element.scrollWidth - element.clientWidth)
  ).toBe(0);
});

test('a long layout shows its progress; Escape restores the previous graph', async ({
  page
}) => {
  // While `slow` is set each look at the clock is a second later, so that the layout lets the page go
  // on after every level, and each such turn takes two: no machine is too fast for that.
  await page.addInitScript(() => {
    const clock = performance.now.bind(performance);
    const realSetTimeout = window.setTimeout.bind(window);
    let ahead = 0;
    const slow = (): boolean => 'slow' in window;
    performance.now = () => clock() + (slow() ? (ahead += 1000) : ahead);
    window.setTimeout = ((run: () => void, wait?: number) =>
      realSetTimeout(run, wait ?? (slow() ? 2000 : 0))) as typeof setTimeout;
  });
  await open(page, 'ten_thousand.onnx');
  const boxes = graph(page).getByRole('button');
  const before = await boxes.count();
  await graph(page).focus();
  await page.evaluate(() => Object.assign(window, { slow: true }));
  await page.keyboard.press('e');
  const progressNote = page.getByText('Computing the layout');
  await expect(progressNote).toBeVisible();
  await expect(page.getByRole('progressbar', { name: 'Layout' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.evaluate(() => Reflect.deleteProperty(window, 'slow'));
  await expect(progressNote).toBeHidden();
  await expect(boxes).toHaveCount(before);
});
