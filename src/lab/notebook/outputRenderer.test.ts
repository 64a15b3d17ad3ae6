// @vitest-environment jsdom
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { expect, test, vi } from 'vitest';
import {
  OUTPUT_MIME,
  OutputRenderer,
  type IOutputHost
} from './outputRenderer';

// jsdom lacks it; Lab's widgets extend it.
vi.hoisted(() => vi.stubGlobal('DragEvent', class extends MouseEvent {}));

vi.mock('./savedPanel', async () => {
  const { Widget } = await import('@lumino/widgets');
  return {
    SavedPanel: class extends Widget {
      constructor(
        readonly saved: unknown,
        _services: unknown,
        readonly fail: (message: string) => void
      ) {
        super();
        this.addClass('saved');
      }
    }
  };
});

const VIEW = 'application/vnd.jupyter.widget-view+json';
const STATE = 'application/vnd.jupyter.widget-state+json';
const MODELS = { models: [{ bundle: 'AAAA' }], height: 400 };

class Rendered extends Widget {
  constructor(readonly type: string) {
    super();
    this.addClass(type.replace(/\W/g, '-'));
  }
  renderModel(): Promise<void> {
    return Promise.resolve();
  }
}

interface IGiven {
  /** Ids of the widgets with a connection in the manager; undefined without a kernel. */
  comms?: Set<string>;
  /** Ids of the widgets in the notebook's metadata. */
  savedIds?: string[];
  /** Ids known to the kernel; another connection has their widgets. */
  kernelIds?: string[];
  manager?: boolean;
}

function setUp({
  comms,
  savedIds: ids = [],
  kernelIds: elsewhere,
  manager = true
}: IGiven) {
  const listeners: (() => void)[] = [];
  const kernel = comms && {
    hasComm: (id: string) => comms.has(id),
    handleComms: elsewhere === undefined,
    requestCommInfo: async () => ({
      content: {
        status: 'ok',
        comms: Object.fromEntries((elsewhere ?? []).map(id => [id, {}]))
      }
    })
  };
  const host = {
    rendermime: {
      getFactory: () => (manager ? {} : undefined),
      createRenderer: (type: string) => new Rendered(type),
      preferredMimeType: (data: object, safe: string) =>
        safe === 'any' ? Object.keys(data)[0] : 'text/plain'
    },
    context: {
      model: {
        getMetadata: () => ({
          [STATE]: { state: Object.fromEntries(ids.map(id => [id, {}])) }
        })
      },
      sessionContext: {
        ready: Promise.resolve(),
        session: kernel ? { kernel } : null,
        iopubMessage: {
          connect: (slot: () => void, self: unknown) =>
            listeners.push(slot.bind(self)),
          disconnect: () => listeners.splice(0)
        }
      }
    },
    services: {}
  } as unknown as IOutputHost;
  const output = new OutputRenderer(host);
  return { output, message: () => listeners.forEach(slot => slot()) };
}

function model(id = 'w', { trusted = true, models = MODELS as object } = {}) {
  const data = {
    [VIEW]: { model_id: id },
    [OUTPUT_MIME]: models,
    'image/svg+xml': '<svg/>'
  };
  return { data, trusted } as unknown as IRenderMime.IMimeModel;
}

const LIVE = VIEW.replace(/\W/g, '-');
const renderedKinds = (output: OutputRenderer): string[] =>
  output.widgets.map(widget => widget.node.className.replace('lm-Widget ', ''));

test('a live widget is rendered by its manager, without the saved model', async () => {
  const { output, message } = setUp({ comms: new Set(['w']) });
  await output.renderModel(model());
  expect(renderedKinds(output)).toEqual([LIVE]);
  const [first] = output.widgets;
  message();
  expect(output.widgets).toEqual([first]);
});

test('the saved model is rendered without a kernel', async () => {
  const { output } = setUp({});
  await output.renderModel(model());
  expect(renderedKinds(output)).toEqual(['saved']);
});

test('the models of a widget box are rendered below each other', async () => {
  const { output } = setUp({});
  const single = MODELS.models[0];
  const bundles = {
    models: [single, single, single],
    height: 400,
    apart: true
  };
  await output.renderModel(model('w', { models: bundles }));
  expect(renderedKinds(output)).toEqual(['saved', 'saved', 'saved']);
});

test('a widget that becomes live replaces the saved model', async () => {
  const comms = new Set<string>();
  const { output, message } = setUp({ comms });
  await output.renderModel(model());
  message();
  expect(renderedKinds(output)).toEqual(['saved']);
  comms.add('w');
  message();
  expect(renderedKinds(output)).toEqual([LIVE]);
});

test('a widget with saved state is rendered by its manager if there is a kernel', async () => {
  const savedIds = ['w'];
  const withKernel = setUp({ comms: new Set(), savedIds: savedIds }).output;
  await withKernel.renderModel(model());
  expect(renderedKinds(withKernel)).toEqual([LIVE]);
  const other = setUp({ comms: new Set(), savedIds: savedIds }).output;
  await other.renderModel(model('another'));
  expect(renderedKinds(other)).toEqual(['saved']);
  const without = setUp({ savedIds: savedIds }).output;
  await without.renderModel(model());
  expect(renderedKinds(without)).toEqual(['saved']);
});

test('a second connection to a kernel requests the widget', async () => {
  const withKernel = setUp({ comms: new Set(), kernelIds: ['w'] }).output;
  await withKernel.renderModel(model());
  expect(renderedKinds(withKernel)).toEqual([LIVE]);
  const withoutWidget = setUp({ comms: new Set(), kernelIds: ['v'] }).output;
  await withoutWidget.renderModel(model());
  expect(renderedKinds(withoutWidget)).toEqual(['saved']);
});

test('an untrusted output does not render a widget', async () => {
  const { output, message } = setUp({ comms: new Set(['w']), savedIds: ['w'] });
  await output.renderModel(model('w', { trusted: false }));
  message();
  expect(renderedKinds(output)).toEqual(['saved']);
});

test('another MIME type is rendered without a model', async () => {
  const models = { models: [], height: 400 };
  const trusted = setUp({}).output;
  await trusted.renderModel(model('w', { models }));
  expect(renderedKinds(trusted)).toEqual(['image-svg-xml']);
  const other = setUp({}).output;
  await other.renderModel(model('w', { models, trusted: false }));
  expect(renderedKinds(other)).toEqual(['text-plain']);
});

test('the image is rendered if the model cannot be drawn', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const { output } = setUp({});
  await output.renderModel(model());
  const [saved] = output.widgets as unknown as [
    { fail(message: string): void }
  ];
  saved.fail('broken');
  expect(renderedKinds(output)).toEqual(['image-svg-xml']);
  expect(warn).toHaveBeenCalledOnce();
  warn.mockRestore();
});

test('nothing is rendered for a closed widget or without a manager', async () => {
  const closed = setUp({ comms: new Set(['']) }).output;
  await closed.renderModel(model(''));
  expect([renderedKinds(closed), closed.isHidden]).toEqual([[], true]);
  const { output } = setUp({ comms: new Set(['w']), manager: false });
  await output.renderModel(model());
  expect(renderedKinds(output)).toEqual(['saved']);
});

test('a disposed output stops listening', async () => {
  const comms = new Set<string>();
  const { output, message } = setUp({ comms });
  await output.renderModel(model());
  output.dispose();
  comms.add('w');
  message();
  expect(output.isDisposed).toBe(true);
});
