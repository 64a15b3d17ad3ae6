// A frame as that of one output in Colab: a manager of its own, models and messages by the page.

import * as base from '@jupyter-widgets/base';
import { ManagerBase } from '@jupyter-widgets/base-manager';
import * as controls from '@jupyter-widgets/controls';
import { Widget } from '@lumino/widgets';
import { Modules } from './amd';
import type { IModelState } from './wire';
import { hear, createOutput, tellHeight, toPage } from './wire';

type Heard = (message: unknown) => void;
type Callbacks = { iopub?: { status?: (message: unknown) => void } };

const modules = new Modules();
modules.define('@jupyter-widgets/base', [], () => base);
modules.define('@jupyter-widgets/controls', [], () => controls);

/** Calls that the kernel has not finished. */
const calls = new Map<number, () => void>();
let called = 0;

/** Messages of one model. */
class Comm {
  static readonly comms = new Map<string, Comm>();
  readonly target_name = 'jupyter.widget';
  private readonly _heard: Heard[] = [];

  constructor(readonly comm_id: string) {
    Comm.comms.set(comm_id, this);
  }

  open(): string {
    throw new Error('The page opens it.');
  }

  send(
    data: unknown,
    callbacks?: Callbacks,
    _metadata?: unknown,
    buffers: (ArrayBuffer | ArrayBufferView)[] = []
  ): string {
    const call = ++called;
    calls.set(call, () =>
      callbacks?.iopub?.status?.({ content: { execution_state: 'idle' } })
    );
    const copies = buffers.map(buffer =>
      ArrayBuffer.isView(buffer)
        ? (buffer.buffer.slice(
            buffer.byteOffset,
            buffer.byteOffset + buffer.byteLength
          ) as ArrayBuffer)
        : buffer
    );
    toPage({ kind: 'tell', id: this.comm_id, call, data, buffers: copies });
    return String(call);
  }

  close(): string {
    return '';
  }

  on_msg(listener: Heard): void {
    this._heard.push(listener);
  }

  on_close(): void {
    // Nothing closes here.
  }

  receive(data: unknown, buffers: ArrayBuffer[]): void {
    const message = {
      content: { comm_id: this.comm_id, data },
      buffers: buffers.map(buffer => new Uint8Array(buffer))
    };
    for (const listener of this._heard) {
      listener(message);
    }
  }
}

class Manager extends ManagerBase {
  readonly waiting = new Map<string, (state: IModelState | null) => void>();
  private readonly _found = new Map<string, Promise<base.WidgetModel>>();

  override get_model(id: string): Promise<base.WidgetModel> {
    let model = this._found.get(id);
    if (!model) {
      model = this._fetch(id);
      this._found.set(id, model);
    }
    return model;
  }

  private async _fetch(id: string): Promise<base.WidgetModel> {
    const state = await new Promise<IModelState | null>(resolve => {
      this.waiting.set(id, resolve);
      toPage({ kind: 'want', id });
    });
    if (!state) {
      throw new Error(`No model ${id}`);
    }
    return this.new_model(
      {
        model_name: state.name,
        model_module: state.module,
        model_module_version: state.version,
        model_id: id,
        comm: new Comm(id) as unknown as base.IClassicComm
      },
      state.state as never
    );
  }

  protected override async loadClass(
    className: string,
    name: string
  ): Promise<never> {
    if (!modules.has(name)) {
      // Not by a script element, and not into the page: as Colab does.
      const text = await (await fetch(`cdn/${name}.js`)).text();
      await modules.load(name, async () => {
        new Function('define', text)(modules.define);
      });
    }
    const module = (await modules.require(name)) as Record<string, never>;
    return module[className];
  }

  protected override async _create_comm(): Promise<never> {
    throw new Error('Frames make no models.');
  }

  protected override async _get_comm_info(): Promise<never> {
    throw new Error('Colab does not tell.');
  }
}

/** The same binary values as Colab hands over: views. */
function viewed(state: IModelState | null): IModelState | null {
  for (const [key, value] of Object.entries(state?.state ?? {})) {
    if (value instanceof ArrayBuffer && state) {
      state.state[key] = new DataView(value);
    }
  }
  return state;
}

const manager = new Manager();
hear(message => {
  if (message.kind === 'model') {
    manager.waiting.get(message.id)?.(viewed(message.state));
  } else if (message.kind === 'comm') {
    Comm.comms.get(message.id)?.receive(message.data, message.buffers);
  } else if (message.kind === 'idle') {
    calls.get(message.call)?.();
    calls.delete(message.call);
  } else if (message.kind === 'theme') {
    document.documentElement.setAttribute('theme', message.theme);
  } else if (message.kind === 'show') {
    const node = createOutput();
    void manager
      .get_model(message.model)
      .then(model => manager.create_view(model))
      .then(view => Widget.attach(view.luminoWidget, node));
    for (const id of message.viewless) {
      void manager.get_model(id);
    }
  }
});
tellHeight();
toPage({ kind: 'ready' });
