// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from 'vitest';
import dim from './dim';
import loader from './loader';
import { FakeModel } from './fakeModel';
import { bytesOf } from './model';
import { MountPool } from '../viewer/host/mountPool';
import { isDark } from './theme';

describe('dimension widget', () => {
  const setUp = async () => {
    const owner = new FakeModel({ dims: { seq: 4 } });
    const model = new FakeModel(
      { name: 'batch', value: 1, owner: 'IPY_MODEL_7' },
      { '7': owner }
    );
    return { owner, model, end: await dim.initialize({ model }) };
  };

  it('sets the dimension of its model in the page', async () => {
    const { owner, model } = await setUp();
    model.set('value', 8);
    expect(owner.get('dims')).toEqual({ seq: 4, batch: 8 });
    expect(owner.saved).toBe(1);
  });

  it('follows the model without a feedback loop', async () => {
    const { owner, model, end } = await setUp();
    owner.set('dims', { batch: 3 });
    expect(model.get('value')).toBe(3);
    expect(owner.saved).toBe(0);
    owner.set('dims', { seq: 9 });
    expect(model.get('value')).toBe(3);
    end();
    owner.set('dims', { batch: 5 });
    expect(model.get('value')).toBe(3);
  });

  it.each([0, -1, 2.5, null, '8', 2 ** 40])('ignores %s', async value => {
    const { owner, model } = await setUp();
    model.set('value', value);
    expect(owner.get('dims')).toEqual({ seq: 4 });
  });

  it('renders an input box', async () => {
    const { model } = await setUp();
    const el = document.createElement('div');
    const end = dim.render({ model, el });
    const input = el.querySelector('input')!;
    expect(el.textContent).toContain('batch');
    expect(input.value).toBe('1');
    input.value = '12';
    input.dispatchEvent(new Event('input'));
    expect(model.get('value')).toBe(12);
    model.set('value', 2);
    expect(input.value).toBe('2');
    end();
    expect(el.childElementCount).toBe(0);
  });

  it('does nothing if its model is not reachable', async () => {
    const model = new FakeModel(
      { name: 'batch', value: 1, owner: 'IPY_MODEL_7' },
      null
    );
    await dim.initialize({ model });
    model.set('value', 8);
    expect(model.sent).toEqual([]);
  });
});

const realUrl = URL;

describe('loader', () => {
  afterEach(() => vi.useRealTimers());

  const start = async (model: FakeModel): Promise<HTMLElement> => {
    const el = document.createElement('div');
    vi.stubGlobal('URL', {
      createObjectURL: () =>
        'data:text/javascript,export default{render(c,s){c.el.append("drawn "+s)}}',
      revokeObjectURL: () => undefined
    });
    await loader.render({ model, el });
    vi.stubGlobal('URL', realUrl);
    return el;
  };

  /** The shared widget; bytes arrive as sent by a kernel. */
  const packed = async (style: string): Promise<FakeModel> => {
    const stream = new Response('x').body!;
    const zipped = stream.pipeThrough(new CompressionStream('gzip'));
    const bytes = await new Response(zipped).arrayBuffer();
    const traits = { code: new DataView(bytes), style, version: 'v2' };
    return new FakeModel(traits);
  };

  it('requests the code from the kernel if no shared widget is reachable', async () => {
    const model = new FakeModel({ _code: 'IPY_MODEL_1' }, null);
    const viewer = start(model);
    await vi.waitFor(() => expect(model.sent).toHaveLength(1));
    model.emit('msg:custom', { type: 'other' });
    model.emit('msg:custom', {
      type: 'autodoc:code',
      code: 'x',
      style: 'asked',
      version: 'v1'
    });
    expect((await viewer).textContent).toBe('drawn asked');
  });

  it('uses the code of the shared widget, one copy per version', async () => {
    const code = await packed('shared');
    const traits = { _code: 'IPY_MODEL_1' };
    const first = await start(new FakeModel(traits, { '1': code }));
    expect(first.textContent).toBe('drawn shared');
    const other = await packed('other');
    const second = await start(new FakeModel(traits, { '1': other }));
    expect(second.textContent).toBe('drawn shared');
  });

  it('shows an error without code and kernel', async () => {
    const model = new FakeModel({ _code: 'IPY_MODEL_1' }, {});
    model.send = () => {
      throw new Error('no comm');
    };
    const el = await start(model);
    expect(el.querySelector('[role=alert]')?.textContent).toContain(
      'Run the cell again'
    );
  });
});

describe('MountPool', () => {
  const view = (canSuspend = true) => ({ canSuspend, suspend: vi.fn() });

  it('keeps the latest and suspends the others', () => {
    const shelf = new MountPool(2);
    const views = [view(), view(), view()];
    views.forEach(view => shelf.activate(view));
    expect(views.map(view => view.suspend.mock.calls.length)).toEqual([
      1, 0, 0
    ]);
    shelf.activate(views[1]);
    shelf.activate(views[0]);
    expect(views.map(view => view.suspend.mock.calls.length)).toEqual([
      1, 0, 1
    ]);
    expect(shelf.size).toBe(2);
  });

  it('does not suspend views that are visible or in use', () => {
    const shelf = new MountPool(1);
    const views = [view(false), view(false), view()];
    views.forEach(view => shelf.activate(view));
    expect(views.every(view => view.suspend.mock.calls.length === 0)).toBe(
      true
    );
    shelf.release(views[0]);
    expect(shelf.size).toBe(2);
  });
});

vi.stubGlobal('matchMedia', () => ({ matches: false }));

describe('theme', () => {
  const { body, documentElement: root } = document;
  afterEach(() => {
    for (const element of [body, root]) {
      for (const { name } of Array.from(element.attributes)) {
        element.removeAttribute(name);
      }
    }
  });

  it.each<[string, () => void]>([
    ['Jupyter', () => (body.dataset.jpThemeLight = 'false')],
    ['VS Code', () => (body.dataset.vscodeThemeKind = 'vscode-dark')],
    ['Colab', () => root.setAttribute('theme', 'dark')],
    ['marimo', () => body.classList.add('dark')],
    ['a page', () => root.setAttribute('data-theme', 'dark')]
  ])('follows %s', (_host, set) => {
    expect(isDark('auto', body)).toBe(false);
    set();
    expect(isDark('auto', body)).toBe(true);
    expect(isDark('light', body)).toBe(false);
  });
});

it('bytes are accepted as views and buffers', () => {
  const bytes = new Uint8Array([1, 2, 3, 4]);
  expect([...bytesOf(new DataView(bytes.buffer, 1, 2))]).toEqual([2, 3]);
  expect([...bytesOf(bytes.buffer)]).toEqual([1, 2, 3, 4]);
  expect([...bytesOf(bytes.subarray(2))]).toEqual([3, 4]);
  expect(bytesOf('rubbish')).toHaveLength(0);
});
