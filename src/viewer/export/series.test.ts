// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';
import { decode } from '../../core/model';
import { PayloadBuilder } from '../../core/testing/builder';
import { buildTree } from '../../core/tree';
import { BoxKind } from '../../core/types';
import { createGraphView } from '../../core/view';
import { DEFAULT_DETAILS, DEFAULT_STRINGS } from '../graph/api';
import { Cards } from '../graph/card';
import { SceneIndex } from '../graph/grid';
import { createSizer } from '../graph/measure';
import { ScenePaint } from '../graph/paint';
import type { IDrawing } from '../graph/primitives';
import { boxName } from '../graph/names';
import { TextMeasure } from '../graph/text';
import { sceneDot } from './dot';
import { makePage } from './page';
import { wholeOf } from './picture';
import { SvgFile } from './svgfile';

afterEach(() => vi.unstubAllGlobals());

async function drawn(): Promise<IDrawing> {
  vi.stubGlobal('document', undefined);
  const b = new PayloadBuilder();
  const ids = b.input('ids');
  const past = [0, 1, 2, 3].map(i => b.input(`past.${i}.<key>`));
  b.output(b.add('Concat', [ids, ...past])[0]);
  const model = decode(b.finish());
  const tree = buildTree(model);
  const view = createGraphView(tree, createSizer(model, tree));
  const scene = await view.initial(40);
  const measure = new TextMeasure();
  const cards = new Cards(model, tree, DEFAULT_DETAILS, undefined, measure);
  const paint = new ScenePaint(scene, model, null);
  return { scene, model, tree, paint, cards, measure };
}

it('a pill of several inputs says so to readers and in files', async () => {
  const drawing = await drawn();
  const { scene, measure } = drawing;
  const pills = [...scene.boxKind.keys()].filter(
    box => scene.boxKind[box] === BoxKind.Input
  );
  expect(pills.map(box => boxName(drawing, box, DEFAULT_STRINGS))).toEqual([
    'Input ids, 1×16',
    '4 inputs: past.#.<key>, 1×16'
  ]);
  expect(sceneDot(drawing, { title: '', lines: [] })).toContain(
    'label="past.#.<key> ×4"'
  );
  expect(sceneDot(drawing, { title: '', lines: [] })).toContain(
    'label="1×16 +3"'
  );
  const page = makePage(
    {
      drawing,
      index: new SceneIndex(scene),
      region: wholeOf(scene),
      k: 1,
      only: null
    },
    { title: 'm', lines: [] },
    null,
    measure
  );
  const palette = { color: (paint: string) => paint, font: 'Arial' };
  const file = new SvgFile(palette, measure);
  page.draw(file);
  const text = file.file(page.width, page.height, page.title);
  expect(text).toContain('past.#.&lt;key&gt; ×4');
  expect(text).not.toContain('past.1');
});
