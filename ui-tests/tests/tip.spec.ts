// The tip that tells what a box is, on the one-file page.

import type { Locator, Page } from '@playwright/test';
import {
  box,
  expect,
  graph,
  type IRect,
  open,
  pick,
  rectOf,
  reveal,
  test
} from './pages';

const tip = (page: Page): Locator => page.getByRole('tooltip');

/** Puts the pointer on a box, near its title. */
async function pointAt(page: Page, name: RegExp): Promise<IRect> {
  const rect = await rectOf(box(page, name));
  // One move from beyond would be enough; people make many.
  await page.mouse.move(rect.x + rect.width / 2, rect.y + 7, { steps: 3 });
  return rect;
}

async function expectBeside(page: Page, rect: IRect): Promise<void> {
  const tipRect = await rectOf(tip(page));
  const pane = await rectOf(page.locator('.oad-GraphPane'));
  const isDisjoint =
    tipRect.y >= rect.y + rect.height ||
    tipRect.y + tipRect.height <= rect.y ||
    tipRect.x >= rect.x + rect.width ||
    tipRect.x + tipRect.width <= rect.x;
  expect(isDisjoint).toBe(true);
  expect(tipRect.x).toBeGreaterThanOrEqual(pane.x);
  expect(tipRect.y).toBeGreaterThanOrEqual(pane.y);
  expect(tipRect.x + tipRect.width).toBeLessThanOrEqual(pane.x + pane.width);
  expect(tipRect.y + tipRect.height).toBeLessThanOrEqual(pane.y + pane.height);
}

for (const dark of [false, true]) {
  test(`a node, a pill and an expanded block have a tooltip; ${dark ? 'dark' : 'light'}`, async ({
    page
  }) => {
    await open(page, 'resnet_tiny.onnx', { dark });
    await reveal(page, 'MaxPool');
    let rect = await pointAt(page, /^MaxPool/);
    await expect(tip(page)).toContainText('MaxPool');
    await expect(tip(page)).toContainText(/Infloat32 1×\d+×\d+×\d+Out/);
    await expectBeside(page, rect);
    // It is beside the box, and clicks go through it.
    await expect(tip(page)).toHaveCSS('pointer-events', 'none');
    const block = graph(page).locator('[aria-expanded="true"]').first();
    const name = (await block.getAttribute('aria-label'))!.split(',')[0];
    rect = await rectOf(block);
    await page.mouse.move(rect.x + 40, rect.y + 6, { steps: 3 });
    await expect(tip(page)).toContainText(name.split(' ')[0]);
    await expect(tip(page)).toContainText(/Nodes\d/);
    await page.keyboard.press('o');
    await page.mouse.move(1, 1);
    await expect(tip(page)).toHaveCount(0);
    rect = await pointAt(page, /^Input /);
    await expect(tip(page)).toContainText(/Type and shapefloat32 1×3×/);
    await expectBeside(page, rect);
  });
}

test('a drag, a zoom, a click and Escape close the tooltip', async ({
  page
}) => {
  await open(page, 'resnet_tiny.onnx');
  await reveal(page, 'MaxPool');
  await page.mouse.move(1, 1);
  await pointAt(page, /^MaxPool/);
  await expect(tip(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(tip(page)).toHaveCount(0);

  await page.mouse.move(1, 1);
  await pointAt(page, /^MaxPool/);
  await expect(tip(page)).toBeVisible();
  await page.mouse.wheel(0, 30);
  await expect(tip(page)).toHaveCount(0);
  await page.mouse.wheel(0, -30);
  // When the picture rests, so does the pointer.
  await expect(tip(page)).toBeVisible();

  await page.mouse.down();
  await expect(tip(page)).toHaveCount(0);
  await page.mouse.move(700, 500, { steps: 4 });
  await expect(graph(page)).toHaveClass(/oad-moving/);
  await expect(tip(page)).toHaveCount(0);
  await page.mouse.up();

  await pick(page, /^MaxPool/);
  await page.waitForTimeout(900);
  await expect(tip(page)).toHaveCount(0);
});

test('the box with keyboard focus has a tooltip that describes it', async ({
  page
}) => {
  await open(page, 'resnet_tiny.onnx');
  await graph(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await expect(tip(page)).toBeVisible();
  const focused = graph(page).locator('.oad-box:focus');
  const id = await tip(page).getAttribute('id');
  await expect(focused).toHaveAttribute('aria-describedby', id!);
  await expectBeside(page, await rectOf(focused));
  const first = await tip(page).innerText();
  await page.keyboard.press('ArrowRight');
  await expect(async () => {
    expect(await tip(page).innerText()).not.toBe(first);
  }).toPass();
  await page.keyboard.press('Escape');
  await expect(tip(page)).toHaveCount(0);
  await expect(graph(page).locator('[aria-describedby]')).toHaveCount(0);
});

test('boxes drawn on a canvas when zoomed out have tooltips too', async ({
  page
}) => {
  await open(page, 'resnet_tiny.onnx');
  await reveal(page, 'MaxPool');
  await pointAt(page, /^MaxPool/);
  await expect(tip(page)).toContainText('MaxPool');
  await page.keyboard.down('Control');
  await expect(async () => {
    // What is under the pointer stays there.
    await page.mouse.wheel(0, 120);
    expect(await graph(page).locator('.oad-box').count()).toBe(0);
  }).toPass();
  await page.keyboard.up('Control');
  await expect(tip(page)).toContainText('MaxPool');
});
