// The host's own connection to a kernel of the server that serves this page.

import type { Kernel as Services, KernelMessage } from '@jupyterlab/services';
import { KernelConnection } from '@jupyterlab/services/lib/kernel/default';
import { ServerConnection } from '@jupyterlab/services/lib/serverconnection';
import type { IModelState } from './wire';

export type IOPubMessage = KernelMessage.IIOPubMessage;

/** What a kernel says of a widget's model. */
interface IUpdate {
  method?: string;
  state?: Record<string, unknown>;
  buffer_paths?: (string | number)[][];
}

function copied(buffers: (ArrayBuffer | ArrayBufferView)[] = []) {
  return buffers.map(buffer =>
    ArrayBuffer.isView(buffer)
      ? (buffer.buffer.slice(
          buffer.byteOffset,
          buffer.byteOffset + buffer.byteLength
        ) as ArrayBuffer)
      : buffer
  );
}

/** Puts bytes where they belong: only whole traits are bytes here. */
function withBuffers(update: IUpdate, buffers: ArrayBuffer[]) {
  const state = { ...update.state };
  for (const [index, path] of (update.buffer_paths ?? []).entries()) {
    if (path.length !== 1) {
      throw new Error(`Bytes inside a trait: ${path.join('.')}`);
    }
    state[path[0]] = buffers[index];
  }
  return state;
}

export class Kernel {
  readonly models = new Map<string, IModelState>();
  /** Ids of models that no view will ask for: what links two sliders. */
  readonly viewless: string[] = [];
  onComm: (id: string, data: unknown, buffers: ArrayBuffer[]) => void = () =>
    undefined;
  private readonly _comms = new Map<string, Services.IComm>();
  private _relayed: WebSocket | null = null;

  private constructor(
    private readonly _id: string,
    private readonly _connection: Services.IKernelConnection
  ) {}

  /** With `widgets` it keeps the widgets' models; else those who relay do. */
  static async start(widgets: boolean): Promise<Kernel> {
    const serverSettings = ServerConnection.makeSettings({
      baseUrl: `${location.origin}/`,
      wsUrl: `${location.origin.replace(/^http/, 'ws')}/`
    });
    const response = await fetch('/api/kernels', {
      method: 'POST',
      body: JSON.stringify({ name: 'python3', path: '' })
    });
    const model = (await response.json()) as Services.IModel;
    const connection = new KernelConnection({
      model,
      serverSettings,
      handleComms: widgets
    });
    const kernel = new Kernel(model.id, connection);
    if (widgets) {
      connection.registerCommTarget('jupyter.widget', (comm, message) =>
        kernel._opened(comm, message)
      );
    }
    await connection.info;
    return kernel;
  }

  async execute(
    code: string,
    onMessage: (message: IOPubMessage) => void
  ): Promise<void> {
    const future = this._connection.requestExecute({ code });
    future.onIOPub = onMessage;
    await future.done;
  }

  /** Another connection whose socket is somewhere else. */
  relay(
    protocols: string[],
    onOpen: (protocol: string) => void,
    onData: (data: string | ArrayBuffer) => void
  ): void {
    const url = `${location.origin.replace(/^http/, 'ws')}/api/kernels/${this._id}/channels?session_id=frame`;
    const socket = new WebSocket(url, protocols);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => onOpen(socket.protocol);
    socket.onmessage = event => onData(event.data as string | ArrayBuffer);
    this._relayed = socket;
  }

  forward(data: string | ArrayBuffer): void {
    this._relayed?.send(data);
  }

  /** Sends a message about a model; ends when the kernel is done with it. */
  async sendMessage(
    id: string,
    data: unknown,
    buffers: ArrayBuffer[]
  ): Promise<unknown> {
    return this._comms.get(id)!.send(data as never, undefined, buffers).done;
  }

  private _opened(
    comm: Services.IComm,
    { content, buffers }: KernelMessage.ICommOpenMsg
  ): void {
    const state = withBuffers(content.data as IUpdate, copied(buffers));
    this.models.set(comm.commId, {
      name: String(state._model_name),
      module: String(state._model_module),
      version: String(state._model_module_version),
      state
    });
    this._comms.set(comm.commId, comm);
    if (state._view_name === null) {
      this.viewless.push(comm.commId);
    }
    comm.onMsg = ({ content, buffers }) => {
      const update = content.data as IUpdate;
      const bytes = copied(buffers);
      if (update.method !== 'custom') {
        Object.assign(state, withBuffers(update, bytes));
      }
      this.onComm(comm.commId, update, bytes);
    };
  }
}
