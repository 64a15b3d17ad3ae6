// Accessibility of the viewer, on the one-file page: scans, keyboard, screen reader, settings of the reader.

import type { Page } from '@playwright/test';
import { clean } from './axe';
import {
  box,
  expect,
  graph,
  inspector,
  open,
  openLegend,
  pick,
  reveal,
  statusText,
  save,
  setOpen,
  tab,
  test
} from './pages';

const TABS = [
  'Layers',
  'Findings',
  'Memory',
  'Charts',
  'Diagnostics',
  'Dimensions'
];

test.describe('axe reports no violations', () => {
  test('in the graph, outline, inspectors, menus and legend; light', async ({
    page
  }) => {
    await open(page, 'bert_dyn.onnx');
    await expect(page.getByRole('tree')).toBeVisible();
    await page.getByLabel('Heatmap').first().selectOption('params');
    await clean(page);
    await openLegend(page);
    await page.getByRole('button', { name: /Heaviest/ }).click();
    await clean(page);
    await pick(page, /^GatherElements/);
    await clean(page);
    await pick(page, /^BertEmbeddings/);
    await page.getByRole('button', { name: 'Export' }).click();
    await clean(page);
    await page.keyboard.press('Escape');
    await graph(page).focus();
    await page.keyboard.press('Home');
    await expect(inspector(page)).toContainText('Model input');
    await page.keyboard.press('Shift+F10');
    await expect(page.getByRole('menu')).toBeVisible();
    await clean(page);
  });

  test('in every tab, the column menu and the help; dark', async ({ page }) => {
    await open(page, 'bert_dyn.onnx', { dark: true });
    for (const name of TABS) {
      await tab(page, name);
      await expect(page.getByRole('tabpanel', { name })).toBeVisible();
      await clean(page);
    }
    await tab(page, 'Layers');
    await page.getByRole('button', { name: 'By block' }).click();
    await page.locator('summary', { hasText: 'Columns' }).click();
    await clean(page);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await clean(page);
  });

  for (const dark of [false, true]) {
    test(`with panels overlaying the graph; ${dark ? 'dark' : 'light'}`, async ({
      page
    }) => {
      await open(page, 'resnet50.onnx', { width: 700, dark });
      await clean(page);
      await page.keyboard.press(dark ? 'o' : 'd');
      await tab(page, 'Layers');
      await clean(page);
    });
  }

  test('on the error page of an unreadable model', async ({
    page,
    log: visible
  }, info) => {
    await open(page, 'resnet_tiny.onnx');
    await page.evaluate(() => {
      document.getElementById('autodoc-model')!.textContent = 'AAAA';
    });
    await page.goto(await save(page, info.outputPath('broken.html')));
    await expect(page.getByRole('alert')).toContainText(/\w+ \w+/);
    await clean(page);
    visible.complaints.length = 0;
  });
});

/** What has the focus: its name and how it shows that it has it. */
function focused(page: Page): Promise<{ name: string; shows: boolean }> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) {
      return { name: '', shows: true };
    }
    const ring = (of: Element | null, pseudo?: string): boolean => {
      const style = of && getComputedStyle(of, pseudo);
      return (
        style !== null &&
        style.outlineStyle !== 'none' &&
        parseFloat(style.outlineWidth) >= 1
      );
    };
    const border = getComputedStyle(element, '::after').borderTopStyle;
    const name =
      element.getAttribute('aria-label') ??
      element.getAttribute('placeholder') ??
      element.textContent?.trim() ??
      '';
    return {
      name: name || element.tagName,
      shows:
        ring(element) ||
        ring(element.parentElement) ||
        (element.matches('.oad-graph') && border === 'solid') ||
        (element.matches('.oad-box') &&
          document.querySelector('.oad-ring-cursor') !== null)
    };
  });
}

/** Presses Tab until the focus leaves the page; names in order. */
async function tabThrough(page: Page): Promise<string[]> {
  const names: string[] = [];
  for (let step = 0; step < 120; step++) {
    await page.keyboard.press('Tab');
    const { name, shows } = await focused(page);
    if (name === '') {
      return names;
    }
    expect(shows, `a ring on ${name}`).toBe(true);
    names.push(name);
  }
  throw new Error(`The focus never left: ${names.slice(-8).join(', ')}`);
}

test.describe('with the keyboard only', () => {
  for (const look of ['light', 'dark', 'forced colours'] as const) {
    test(`Tab visits every control with a visible focus ring and leaves the viewer; ${look}`, async ({
      page
    }) => {
      await open(page, 'resnet_tiny.onnx', { dark: look === 'dark' });
      await page.emulateMedia({
        forcedColors: look === 'forced colours' ? 'active' : 'none'
      });
      await tab(page, 'Dimensions');
      await page.locator('.oad-Viewer').focus();
      const names = await tabThrough(page);
      const before = names.findIndex(name => /Model graph/.test(name));
      expect(before).toBeLessThanOrEqual(5);
      const order = [
        /Skip to the graph/,
        /outline|hierarchy/i,
        /Image classification/,
        /Model hierarchy/,
        /Model graph/,
        /Close the inspector/,
        /^Dimensions/
      ].map(name => names.findIndex(other => name.test(other)));
      expect(order).not.toContain(-1);
      expect([...order].sort((a, b) => a - b)).toEqual(order);
    });
  }

  test('the first tab stop skips to the graph, arrow keys move through the toolbar', async ({
    page
  }) => {
    await open(page, 'resnet_tiny.onnx');
    await page.locator('.oad-Viewer').focus();
    await page.keyboard.press('Tab');
    const skip = page.getByRole('button', { name: 'Skip to the graph' });
    await expect(skip).toBeFocused();
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await expect(page.getByLabel('Find in the model')).toBeFocused();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('combobox', { name: 'Heatmap' })).toBeFocused();
    await page.keyboard.press('Shift+Tab');
    await expect(skip).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(graph(page)).toBeFocused();
  });

  test('arrow keys follow edges, Enter expands, Shift+F10 opens the menu, Escape returns', async ({
    page
  }) => {
    await open(page, 'resnet_tiny.onnx');
    await page.keyboard.press('e');
    await graph(page).focus();
    const focused = graph(page).locator('[role=button]:focus');
    await page.keyboard.press('Home');
    await expect(focused).toHaveAttribute('aria-label', /^Input/);
    const first = await focused.getAttribute('aria-label');
    await expect(page.locator('.oad-ring-cursor')).toHaveCount(1);
    await page.keyboard.press('ArrowRight');
    await expect(focused).not.toHaveAttribute('aria-label', first!);
    // What reads the first box: the panel of the tensor lists it.
    const second = (await focused.getAttribute('aria-label'))!.split(/[ ,]/)[0];
    await page.keyboard.press('ArrowLeft');
    await expect(focused).toHaveAttribute('aria-label', /^Input/);
    await expect(inspector(page)).toContainText(second);

    const block = box(page, /^ResNetEmbeddings/);
    await setOpen(page, /^ResNetEmbeddings/, true);
    await page.keyboard.press('Enter');
    await expect(block).toHaveAttribute('aria-expanded', 'false');
    await expect(block).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(block).toHaveAttribute('aria-expanded', 'true');
    // The ring stays with the focus while the picture changes under it.
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await expect(page.locator('.oad-ring-cursor')).toHaveCount(1);
    await pick(page, /^ResNetEmbeddings/);

    await page.keyboard.press('Shift+F10');
    const items = page.getByRole('menuitem');
    await expect(items.first()).toBeFocused();
    await page.keyboard.press('ArrowDown');
    await expect(items.nth(1)).toBeFocused();
    await page.keyboard.press('End');
    await expect(items.last()).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('menu')).toHaveCount(0);
    await expect(block).toBeFocused();
    await page.keyboard.press('ContextMenu');
    await expect(page.getByRole('menu')).toBeVisible();
  });

  test('help and export trap the focus and restore it on closing', async ({
    page
  }) => {
    await open(page, 'resnet_tiny.onnx');
    const help = page.getByRole('button', { name: 'Keyboard shortcuts' });
    await help.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    for (let i = 0; i < 4; i++) {
      await expect(dialog.locator(':focus')).toHaveCount(1);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Escape');
    await expect(help).toBeFocused();

    const button = page.getByRole('button', { name: 'Export' });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('menuitem').first()).toBeFocused();
    await page.keyboard.press('ArrowUp');
    await expect(page.getByRole('menuitem').last()).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(button).toBeFocused();
  });

  test('the table can be sorted, its columns chosen and its rows selected', async ({
    page
  }) => {
    await open(page, 'resnet_tiny.onnx');
    await tab(page, 'Layers');
    const table = page.getByRole('grid', { name: 'Layers' });
    const head = table.getByRole('columnheader', { name: 'MACs' }).first();
    await head.getByRole('button').focus();
    await page.keyboard.press('Enter');
    await expect(head).toHaveAttribute('aria-sort', 'descending');
    await page.keyboard.press('Enter');
    await expect(head).toHaveAttribute('aria-sort', 'ascending');
    await page.locator('.oad-Columns > summary').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const count = await table.getByRole('columnheader').count();
    await page.keyboard.press('Space');
    await expect(table.getByRole('columnheader')).not.toHaveCount(count);
    await page.keyboard.press('Escape');
    await expect(page.locator('.oad-Columns > summary')).toBeFocused();
    await table.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    const active = await table.getAttribute('aria-activedescendant');
    const row = page.locator(`[id="${active}"]`);
    await expect(row).toHaveAttribute('aria-selected', 'true');
    await expect(row).toHaveAttribute('aria-rowindex', '3');
  });

  test('sliders of a dimension, the legend, a splitter and a chart can be moved', async ({
    page
  }) => {
    await open(page, 'bert_dyn.onnx');
    await openLegend(page);
    const low = page.getByRole('slider', { name: /Lower end/ });
    await low.focus();
    await page.keyboard.press('ArrowRight');
    await expect(low).not.toHaveAttribute('aria-valuenow', '0');
    const edge = page.getByRole('separator', { name: /inspector/ });
    const width = Number(await edge.getAttribute('aria-valuenow'));
    await edge.focus();
    await page.keyboard.press('ArrowLeft');
    await expect(edge).toHaveAttribute('aria-valuenow', String(width + 16));
    await tab(page, 'Dimensions');
    const macs = page.getByRole('group', { name: 'Totals' });
    await expect(macs).toContainText('11.2 G');
    await page
      .getByRole('slider', { name: /Size of/ })
      .last()
      .focus();
    await page.keyboard.press('PageUp');
    await expect(macs).not.toContainText('11.2 G');
    await tab(page, 'Memory');
    const plot = page.getByRole('slider', { name: /Live bytes/ });
    await plot.focus();
    await page.keyboard.press('End');
    await expect(plot).toHaveAttribute('aria-valuetext', /Step (\d+) of \1,/);
    await page.keyboard.press('Enter');
    await expect(inspector(page)).toContainText('node_layer_norm_24');
  });
});

test.describe('with a screen reader', () => {
  test('the outline is a tree with costs that mirrors the selection', async ({
    page
  }) => {
    await open(page, 'resnet50.onnx');
    await reveal(page, 'op=MaxPool');
    const tree = page.getByRole('tree', { name: 'Model hierarchy' });
    const current = tree.locator('[aria-selected=true]');
    await pick(page, /^MaxPool/);
    await expect(current).toHaveAccessibleName(/MaxPool/);
    await page.keyboard.press('Shift+ArrowLeft');
    await expect(current).toHaveCount(2);
    await tree.focus();
    await page.keyboard.press('Home');
    await expect(current).toHaveCount(1);
    await expect(tree).toHaveAttribute(
      'aria-activedescendant',
      (await current.getAttribute('id'))!
    );
    const costly = tree.getByRole('treeitem', { name: /MACs, \d.* %/ });
    await page.keyboard.press('ArrowLeft');
    await expect(costly).toHaveCount(1);
    await expect(costly).toHaveAttribute('aria-expanded', 'false');
    await page.keyboard.press('ArrowRight');
    await expect(costly.first()).toHaveAttribute('aria-expanded', 'true');
    expect(await costly.count()).toBeGreaterThan(1);
    await expect(costly.first()).toHaveAttribute('aria-level', /\d/);
    await expect(costly.first()).toHaveAttribute('aria-setsize', /\d/);
  });

  test('boxes announce their type, cost and number of hidden nodes', async ({
    page
  }) => {
    await open(page, 'resnet50.onnx');
    const names = await graph(page)
      .getByRole('button')
      .evaluateAll(elements =>
        elements.map(element => ({
          name: element.getAttribute('aria-label') ?? '',
          title: element.querySelector('text')?.textContent ?? '',
          kind: element.getAttribute('class') ?? ''
        }))
      );
    expect(names.length).toBeGreaterThan(5);
    for (const { name, title, kind } of names) {
      const visibleName = name.replace(/^(Input|Output|Tensor) /, '');
      // A title too long for its card is cut in the middle.
      expect(visibleName, title).toContain(title.split('…')[0].split(' ×')[0]);
      expect(/oad-(group|panel)/.test(kind) && !/\d+ nodes/.test(name)).toBe(
        false
      );
    }
    expect(names.some(({ name }) => /MACs/.test(name))).toBe(true);
  });

  test('changes that do not move the focus are announced briefly', async ({
    page
  }) => {
    await open(page, 'bert_dyn.onnx');
    await graph(page).focus();
    await page.keyboard.press('h');
    await expect(statusText(page)).toHaveText(/^Heatmap: \w+/);
    await page.keyboard.press('l');
    await expect(statusText(page)).toHaveText(/^Colours: log$/);
    await page.keyboard.press('Control+f');
    await page.keyboard.type('op=Softmax');
    await expect(page.locator('.oad-Search-count')).toHaveText('–/12');
    await page.keyboard.press('Enter');
    await expect(statusText(page)).toHaveText(/^Selected: node_\w+$/);
    await graph(page).focus();
    await page.keyboard.press('a');
    await expect(statusText(page)).toHaveText(/^\d+ nodes traced$/);
    await page.keyboard.press('Shift+1');
    await expect(statusText(page)).toHaveText('View 1 saved.');
    const live = graph(page).locator('[aria-live]');
    await setOpen(page, /^BertEmbeddings/, true);
    await page.keyboard.press('Enter');
    await expect(live).toHaveText(/^BertEmbeddings.*, collapsed$/);
  });
});

test.describe('with the settings of the system', () => {
  test('nothing moves under reduced motion', async ({ page }) => {
    await open(page, 'bert_dyn.onnx');
    const moving = (): Promise<string[]> =>
      page.evaluate(() => [
        ...document
          .getAnimations()
          .map(animation => animation.constructor.name),
        ...[...document.querySelectorAll('.oad-Viewer *')]
          .filter(element => {
            const style = getComputedStyle(element);
            return (
              style.animationName !== 'none' ||
              style.transitionDuration.split(', ').some(t => parseFloat(t) > 0)
            );
          })
          .map(element => String(element.getAttribute('class')))
      ]);
    expect(await moving()).toEqual([]);
    await setOpen(page, /^BertEmbeddings/, true);
    await setOpen(page, /^BertEmbeddings/, false);
    expect(await moving()).toEqual([]);
    const world = graph(page).locator('svg > g').first();
    const before = await world.getAttribute('transform');
    await page.keyboard.press('+');
    // One step, and it stays there.
    await expect(world).not.toHaveAttribute('transform', before!);
    const after = await world.getAttribute('transform');
    await page.waitForTimeout(100);
    await expect(world).toHaveAttribute('transform', after!);
  });

  test('with motion, opening a block is animated', async ({ page }) => {
    await open(page, 'bert_dyn.onnx');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.evaluate(() => {
      const { animate } = Element.prototype;
      Element.prototype.animate = function (...args) {
        document.body.dataset.animated = 'true';
        return animate.apply(this, args);
      };
    });
    await pick(page, /^BertEmbeddings/);
    await page.keyboard.press('Enter');
    await expect(page.locator('body[data-animated]')).toBeVisible();
  });

  test('nothing is cut off at 200 % zoom or text size', async ({ page }) => {
    // 1,400 × 900 at 200 %.
    await open(page, 'bert_dyn.onnx', { width: 700, height: 450 });
    const cut = (): Promise<string[]> =>
      page.evaluate(() => {
        const selector = '.oad-Bar *, .oad-Tabs *, .oad-Kpi, .oad-Panel-head *';
        return [...document.querySelectorAll<HTMLElement>(selector)]
          .filter(element => element.offsetParent !== null)
          .filter(element => {
            const r = element.getBoundingClientRect();
            const scrolls = element.closest('[role=tablist]');
            const outside =
              !scrolls &&
              r.width > 0 &&
              (r.left < -1 || r.right > innerWidth + 1);
            const style = getComputedStyle(element);
            const hides =
              style.overflowY !== 'visible' || element.tagName === 'BUTTON';
            return (
              outside ||
              (hides && element.scrollHeight > element.clientHeight + 2)
            );
          })
          .map(
            element =>
              `${element.className || element.tagName} ${element.textContent}`
          );
      });
    expect(await cut()).toEqual([]);
    // Text alone at 200 %, as a setting of JupyterLab or of the browser makes it.
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.evaluate(() =>
      document.documentElement.style.setProperty('--jp-ui-font-size1', '26px')
    );
    expect(await cut()).toEqual([]);
  });

  test('more contrast strengthens secondary text and lines', async ({
    page
  }) => {
    await open(page, 'resnet_tiny.onnx');
    const colours = (): Promise<string[]> =>
      page.evaluate(() =>
        ['.oad-Kpi-label', '.oad-Kpi-value'].map(
          selector => getComputedStyle(document.querySelector(selector)!).color
        )
      );
    const [quietColor, strongColor] = await colours();
    expect(quietColor).not.toBe(strongColor);
    await page.emulateMedia({ contrast: 'more' });
    const [label, value] = await colours();
    expect(label).toBe(value);
  });

  test('forced colours apply to the graph', async ({ page }) => {
    await open(page, 'bert_dyn.onnx');
    await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
    const looks = await page.evaluate(() => {
      const probe = document.createElement('p');
      document.body.append(probe);
      const system = (name: string): string => {
        probe.style.forcedColorAdjust = 'none';
        probe.style.color = name;
        return getComputedStyle(probe).color;
      };
      const graph = document.querySelector('.oad-graph')!;
      const pressed = document.querySelector('.oad-Kpi[aria-pressed=true]')!;
      return {
        ground: getComputedStyle(graph).backgroundColor === system('Canvas'),
        text: getComputedStyle(graph).color === system('CanvasText'),
        pressed:
          getComputedStyle(pressed).backgroundColor === system('Highlight')
      };
    });
    expect(looks).toEqual({ ground: true, text: true, pressed: true });
  });
});
