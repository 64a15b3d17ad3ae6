// Where the picture is and what its colours mean: expand all, the first picture again, a scale that stays.

import type { Locator, Page } from '@playwright/test';
import {
  box,
  expect,
  graph,
  inspector,
  open,
  pick,
  rectOf,
  setOpen,
  test
} from './pages';

const world = (page: Page): Locator => graph(page).locator('svg > g').first();
const cards = (page: Page): Locator =>
  graph(page).locator('.oad-node, .oad-group');
const rescale = (page: Page): Locator =>
  page.getByRole('button', { name: 'Rescale to view' });

/** Boxes of nodes and blocks with enough pixels to be read, inside the pane. */
async function readable(page: Page): Promise<number> {
  const area = await rectOf(graph(page));
  return cards(page).evaluateAll(
    (elements, { x, y, width, height }) =>
      elements.filter(element => {
        const r = element.getBoundingClientRect();
        const inside =
          r.right > x &&
          r.left < x + width &&
          r.bottom > y &&
          r.top < y + height;
        return inside && r.height >= 8 && r.width >= 20;
      }).length,
    area
  );
}

for (const model of ['ten_thousand.onnx', 'bert_base.onnx', 'resnet50.onnx']) {
  test(`${model} is readable when fully expanded; O restores the initial view`, async ({
    page
  }) => {
    await open(page, model);
    // A picture that moves is shifted as a whole, not drawn in place.
    await expect(graph(page)).not.toHaveClass(/oad-moving/);
    const transform = await world(page).getAttribute('transform');
    const names = await cards(page).evaluateAll(elements =>
      elements.map(element => element.getAttribute('aria-label'))
    );
    await graph(page).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('e');
    await expect(graph(page)).not.toHaveClass(/oad-moving/);
    await expect.poll(() => readable(page)).toBeGreaterThan(3);
    await page.keyboard.press('Shift+E');
    await page.keyboard.press('x');
    await page.keyboard.press('o');
    await expect(world(page)).toHaveAttribute('transform', transform!);
    expect(
      await cards(page).evaluateAll(elements =>
        elements.map(element => element.getAttribute('aria-label'))
      )
    ).toEqual(names);
    await expect(rescale(page)).toHaveCount(0);
  });
}

test('colours keep their scale when a block is expanded, until it is reset', async ({
  page
}) => {
  await open(page, 'bert_base.onnx');
  const legend = page.getByRole('group', { name: 'Heatmap legend' });
  const lastLabel = legend.locator('.oad-Legend-ends > span').last();
  const before = await lastLabel.innerText();
  await expect(rescale(page)).toHaveCount(0);
  await setOpen(page, /^encoder/, true);
  await expect(rescale(page)).toBeVisible();
  await expect(lastLabel).toHaveText(before);
  await rescale(page).click();
  await expect(rescale(page)).toHaveCount(0);
  await expect(lastLabel).not.toHaveText(before);
  // Another heatmap has a scale of its own.
  await page.keyboard.press('o');
  await setOpen(page, /^encoder/, true);
  await expect(rescale(page)).toBeVisible();
  await page.getByLabel('Heatmap').first().selectOption('params');
  await expect(rescale(page)).toHaveCount(0);
});

test('the inspector of a block has Expand or Collapse, its inputs and its outputs', async ({
  page
}) => {
  await open(page, 'bert_base.onnx');
  await pick(page, /^encoder/);
  const button = (name: string): Locator =>
    inspector(page).getByRole('button', { name, exact: true });
  await expect(inspector(page)).toContainText('Inputs');
  await expect(inspector(page)).toContainText('Outputs');
  await expect(inspector(page)).toContainText(/340 MB.*340,217,916 B/s);
  await setOpen(page, /^encoder/, false);
  await button('Expand').click();
  await expect(button('Collapse')).toBeVisible();
  await button('Collapse').click();
  await expect(button('Expand')).toBeVisible();
  await expect(box(page, /^encoder/)).toHaveAttribute('aria-expanded', 'false');
});

test('repeated blocks in the inspector of the model select their box', async ({
  page
}) => {
  await open(page, 'bert_base.onnx');
  await inspector(page).getByRole('button', { name: 'BertLayer ×12' }).click();
  await expect(inspector(page).locator('.oad-Inspector-name')).toContainText(
    'BertLayer ×12'
  );
});

test('choosing a device does not move the graph', async ({ page }) => {
  await open(page, 'bert_base.onnx');
  await setOpen(page, /^encoder/, true);
  await pick(page, /^BertEmbeddings/);
  const area = await rectOf(graph(page));
  await page.mouse.move(area.x + area.width / 2, area.y + area.height / 2);
  // What is selected is out of view now: nothing may bring it back.
  await page.mouse.wheel(1200, 150);
  await expect(graph(page)).not.toHaveClass(/oad-moving/);
  const transformOf = async (): Promise<string> =>
    ((await world(page).getAttribute('transform')) ?? '').replace(
      /-?\d+\.\d+/g,
      number => String(Math.round(Number(number) * 1000) / 1000)
    );
  const transform = await transformOf();
  await page.locator('.oad-Chip.oad-mod-device').click();
  const search = page.getByRole('combobox', { name: 'Search devices' });
  await search.fill('nvidia l4');
  await search.press('Enter');
  await expect(page.getByLabel('Heatmap').first()).toHaveValue('latency');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(graph(page)).not.toHaveClass(/oad-moving/);
  expect(await transformOf()).toBe(transform);
});

test('the inspector of the model opens if the graph leaves room for it', async ({
  page
}) => {
  // Wide enough for the panel, but not beside a picture as long as this one.
  await open(page, 'resnet_tiny.onnx', { width: 1300, height: 800 });
  await expect(inspector(page)).toHaveCount(0);
  await open(page, 'digits_cnn.onnx', { width: 1300, height: 800 });
  await expect(inspector(page)).toContainText('digits_cnn.onnx');
  const { x, width } = await rectOf(graph(page));
  for (const card of await cards(page).all()) {
    const rect = await rectOf(card);
    expect(rect.x).toBeGreaterThanOrEqual(x);
    expect(rect.x + rect.width).toBeLessThanOrEqual(x + width);
  }
  // What the user closes stays closed.
  await graph(page).focus();
  await page.keyboard.press('d');
  await expect(inspector(page)).toHaveCount(0);
  await page.keyboard.press('o');
  await expect(inspector(page)).toHaveCount(0);
});
