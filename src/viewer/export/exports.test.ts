// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { decodePayload } from '../../core/model/decodePayload';
import { buildTree } from '../../core/tree/groupTree';
import { createGraphView } from '../../core/view/graphView';
import { DEFAULT_DETAILS } from '../graph/surfaceApi';
import { CardContents } from '../graph/cards/cardContents';
import { SpatialIndex } from '../graph/scene/spatialIndex';
import { createSizer } from '../graph/cards/cardSizer';
import { BoxColors } from '../graph/style/boxColors';
import type { IDrawContext } from '../graph/draw/drawTarget';
import { TextMeasure } from '../graph/text/textMeasure';
import { testPayload } from '../testing/payload';
import { IDENTITY } from '../i18n/translate';
import { MAX_PIXELS } from './canvasTarget';
import { sceneDot } from './dot';
import { tooLarge } from './exports';
import { type IPicture, selectionOf, wholeSceneRect } from './drawPicture';
import { SEPARATOR, makePage } from './pictureLayout';
import { fileName, saveFile } from './downloadFile';
import { SvgFileTarget } from './svgFileTarget';

const PALETTE = { color: (paint: string) => paint, font: 'Arial' };

async function createDrawing(name = 'c'): Promise<IDrawContext> {
  vi.stubGlobal('document', undefined);
  const model = decodePayload(testPayload({ blocks: 3, name }));
  const tree = buildTree(model);
  const view = createGraphView(tree, createSizer(model, tree));
  await view.expandAll(100);
  const { scene } = view;
  const measure = new TextMeasure();
  const cards = new CardContents(
    model,
    tree,
    DEFAULT_DETAILS,
    undefined,
    measure
  );
  const paint = new BoxColors(scene, model, null);
  for (const node of [0, 1, 2, 3, 4, 5]) {
    cards.of(node);
  }
  return { scene, model, tree, paint, cards, measure };
}

function toSvgImage(
  drawing: IDrawContext,
  only: readonly number[] | null
): IPicture {
  const { scene } = drawing;
  const selection = only && selectionOf(scene, only);
  return {
    drawing,
    index: new SpatialIndex(scene),
    region: wholeSceneRect(scene),
    k: 1,
    only: null,
    ...selection
  };
}

function svg(picture: IPicture): Element {
  const caption = { title: 'm', lines: ['l'] };
  const { measure } = picture.drawing;
  const page = makePage(picture, caption, null, measure);
  const file = new SvgFileTarget(PALETTE, measure);
  page.draw(file);
  const text = file.file(page.width, page.height, page.title);
  const parsed = new DOMParser().parseFromString(text, 'application/xml');
  expect(parsed.querySelector('parsererror')).toBeNull();
  return parsed.documentElement;
}

const texts = (root: Element): string[] =>
  [...root.querySelectorAll('text')].map(text => text.textContent ?? '');

afterEach(() => vi.unstubAllGlobals());

describe('exported parts of the graph', () => {
  it('escape bidirectional overrides in texts and tooltips', async () => {
    const root = svg(toSvgImage(await createDrawing('\u202eevil\u202c'), null));
    const text = root.textContent ?? '';
    expect(text).not.toMatch(/[\u202a-\u202e]/);
    expect(text).toContain('\\u202eevil');
  });

  it('have only the selected boxes and their contents', async () => {
    const drawing = await createDrawing();
    const { scene } = drawing;
    const relu = svg(toSvgImage(drawing, [scene.boxOf(1)]));
    expect(texts(relu)).toEqual(['Relu', 'm', 'l']);
    const image = svg(toSvgImage(drawing, null));
    expect(texts(image).filter(text => text === 'Relu')).toHaveLength(3);
    const group = scene.boxParent[scene.boxOf(1)];
    expect(group).toBeGreaterThanOrEqual(0);
    const block = svg(toSvgImage(drawing, [group]));
    expect(texts(block).filter(text => text === 'Relu')).toHaveLength(1);
    expect(texts(block).filter(text => text === 'Conv')).toHaveLength(1);
  });

  it('are null without a box', async () => {
    expect(selectionOf((await createDrawing()).scene, [])).toBeNull();
    expect(selectionOf((await createDrawing()).scene, [-1])).toBeNull();
  });

  it('show the title of a panel that starts left of the view', async () => {
    const drawing = await createDrawing();
    const { scene } = drawing;
    const group = scene.boxParent[scene.boxOf(1)];
    const x = (root: Element): number[] =>
      [...root.querySelectorAll('text')]
        .filter(text => text.getAttribute('font-weight') === '600')
        .map(text => Number(text.getAttribute('x')));
    const image = toSvgImage(drawing, null);
    const clipped = {
      ...image,
      region: { ...image.region, x: scene.boxX[group] + 10 }
    };
    expect(Math.max(...x(svg(clipped)))).toBeGreaterThanOrEqual(
      Math.max(...x(svg(image)))
    );
    expect(x(svg(clipped))).not.toEqual(x(svg(image)));
  });
});

describe('DOT', () => {
  it('has every box once, balanced clusters, and names as text', async () => {
    const drawing = await createDrawing();
    const evil = 'x"]; evil -> b0 [label="\\N\n&lt;';
    drawing.model.payload.ops.forEach(op => (op.type = evil));
    const lines = ['batch = 2 (assumed)'];
    const text = sceneDot(drawing, { title: evil, lines });
    expect(text).toContain('&amp;lt;');
    expect(text).toContain('\\\\N');
    expect(text.split('\n')[1]).toContain('(assumed)";');
    const strings = /"(?:[^"\\\n]|\\.)*"/g;
    const withoutStrings = text.replace(strings, 'S');
    expect(withoutStrings).not.toContain('evil');
    expect(withoutStrings).not.toContain('"');
    const ids = [...withoutStrings.matchAll(/^b(\d+) \[/gm)].map(
      match => match[1]
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(withoutStrings.match(/\{$/gm)!.length).toBe(
      withoutStrings.match(/^\}$/gm)!.length
    );
    for (const [, from, to] of withoutStrings.matchAll(/^b(\d+) -> b(\d+)/gm)) {
      expect(ids).toContain(from);
      expect(ids).toContain(to);
    }
    expect(withoutStrings.match(/->/g)).toHaveLength(drawing.scene.edgeCount);
  });
});

describe('files', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    URL.createObjectURL = vi.fn(() => 'blob:x');
    URL.revokeObjectURL = vi.fn();
  });
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['bert', 'bert.svg'],
    ['../../etc/passwd', '_.._etc_passwd.svg'],
    ['a<b>:"c|d?*', 'a_b_c_d_.svg'],
    ['..', 'model.svg'],
    ['', 'model.svg'],
    ['x'.repeat(500), `${'x'.repeat(120)}.svg`]
  ])('get a safe name for %s', (name, safe) => {
    expect(fileName(name, '.svg')).toBe(safe);
  });

  it('are downloaded through a temporary link', () => {
    const downloads: string[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
      this: HTMLAnchorElement
    ) {
      downloads.push(`${this.download} ${this.href}`);
    });
    saveFile('a.svg', new Blob(['x']));
    expect(downloads).toEqual(['a.svg blob:x']);
    expect(document.querySelector('a')).toBeNull();
    expect(URL.revokeObjectURL).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(URL.revokeObjectURL).toHaveBeenCalledWith('blob:x');
  });
});

it('a caption wider than its page is wrapped', async () => {
  const picture = toSvgImage(await createDrawing(), null);
  const narrow = { ...picture, region: { x: 0, y: 0, w: 10, h: 10 } };
  const parts = Array.from({ length: 30 }, (_, i) => `part ${i}`);
  const { measure } = picture.drawing;
  const caption = { title: 'm', lines: [parts.join(SEPARATOR)] };
  const page = makePage(narrow, caption, null, measure);
  const file = new SvgFileTarget(PALETTE, measure);
  page.draw(file);
  const text = file.file(page.width, page.height, page.title);
  const root = new DOMParser().parseFromString(text, 'application/xml');
  const lines = [...root.querySelectorAll('text')].slice(-9);
  expect(
    lines.flatMap(l => l.textContent!.split(SEPARATOR)).slice(-30)
  ).toEqual(parts);
  for (const line of lines) {
    expect(Number(line.getAttribute('textLength'))).toBeLessThan(page.width);
    expect(Number(line.getAttribute('y'))).toBeLessThan(page.height);
  }
});

it('the message of a too large image names the limit', () => {
  const length = Math.sqrt(MAX_PIXELS);
  const page = {
    width: length / 2,
    height: length / 2,
    title: '',
    draw: () => undefined
  };
  expect(tooLarge(page, 2, IDENTITY)).toBeNull();
  expect(tooLarge(page, 4, IDENTITY)).toMatch(/32,768 × 32,768 .* 268 million/);
});
