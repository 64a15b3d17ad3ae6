// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest';
import { decodePayload } from '../../core/model/decodePayload';
import { PayloadBuilder } from '../../core/testing/builder';
import { buildTree } from '../../core/tree/groupTree';
import { BoxKind } from '../../core/types';
import { createGraphView } from '../../core/view/graphView';
import { DEFAULT_DETAILS, DEFAULT_STRINGS } from '../graph/surfaceApi';
import { CardContents } from '../graph/cards/cardContents';
import { SpatialIndex } from '../graph/scene/spatialIndex';
import { createSizer } from '../graph/cards/cardSizer';
import { BoxColors } from '../graph/style/boxColors';
import type { IDrawContext } from '../graph/draw/drawTarget';
import { boxDescription } from '../graph/a11y/accessibleNames';
import { TextMeasure } from '../graph/text/textMeasure';
import { sceneDot } from './dot';
import { makePage } from './pictureLayout';
import { wholeSceneRect } from './drawPicture';
import { SvgFileTarget } from './svgFileTarget';

afterEach(() => vi.unstubAllGlobals());

async function createDrawing(): Promise<IDrawContext> {
  vi.stubGlobal('document', undefined);
  const b = new PayloadBuilder();
  const ids = b.input('ids');
  const past = [0, 1, 2, 3].map(i => b.input(`past.${i}.<key>`));
  b.output(b.add('Concat', [ids, ...past])[0]);
  const model = decodePayload(b.finish());
  const tree = buildTree(model);
  const view = createGraphView(tree, createSizer(model, tree));
  const scene = await view.openInitial(40);
  const measure = new TextMeasure();
  const cards = new CardContents(
    model,
    tree,
    DEFAULT_DETAILS,
    undefined,
    measure
  );
  const paint = new BoxColors(scene, model, null);
  return { scene, model, tree, paint, cards, measure };
}

it('grouped inputs are labelled with their number on screen and in files', async () => {
  const drawing = await createDrawing();
  const { scene, measure } = drawing;
  const pills = [...scene.boxKind.keys()].filter(
    box => scene.boxKind[box] === BoxKind.Input
  );
  expect(
    pills.map(box => boxDescription(drawing, box, DEFAULT_STRINGS))
  ).toEqual(['Input ids, 1×16', '4 inputs: past.#.<key>, 1×16']);
  expect(sceneDot(drawing, { title: '', lines: [] })).toContain(
    'label="past.#.<key> ×4"'
  );
  expect(sceneDot(drawing, { title: '', lines: [] })).toContain(
    'label="1×16 +3"'
  );
  const page = makePage(
    {
      drawing,
      index: new SpatialIndex(scene),
      region: wholeSceneRect(scene),
      k: 1,
      only: null
    },
    { title: 'm', lines: [] },
    null,
    measure
  );
  const palette = { color: (paint: string) => paint, font: 'Arial' };
  const file = new SvgFileTarget(palette, measure);
  page.draw(file);
  const text = file.file(page.width, page.height, page.title);
  expect(text).toContain('past.#.&lt;key&gt; ×4');
  expect(text).not.toContain('past.1');
});
