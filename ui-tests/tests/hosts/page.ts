// The page of a host: cells, a kernel, and frames for what they show.

import type { IOPubMessage } from './kernel';
import { Kernel } from './kernel';
import type { Host, ToFrame, ToPage } from './wire';

const VIEW = 'application/vnd.jupyter.widget-view+json';

export interface IRan {
  /** What the cell printed and its value as text. */
  text: string;
  /** `Name: message` of an exception. */
  error: string;
  /** Kinds of the value, in the kernel's order. */
  mimes: string[];
}

export interface IHostPage {
  start(host: Host, flags: string): Promise<void>;
  run(code: string): Promise<IRan>;
  theme(theme: 'light' | 'dark'): void;
  /** Shows a model of the state that a notebook saved. */
  restore(metadata: unknown, model: string): void;
}

class Page implements IHostPage {
  private _host: Host = 'vscode';
  private _flags = '';
  private _theme: 'light' | 'dark' = 'light';
  private _kernel: Kernel | null = null;
  private readonly _frames = new Map<MessageEventSource, HTMLIFrameElement>();
  /** Of VS Code: one for all outputs. */
  private _only: HTMLIFrameElement | null = null;
  /** Whether that one hears the kernel. */
  private _connected = false;
  /** What frames that are still to be loaded are told then. */
  private readonly _waiting = new Map<HTMLIFrameElement, ToFrame[]>();

  constructor() {
    window.addEventListener('message', event => {
      const frame = event.source && this._frames.get(event.source);
      if (frame) {
        this._hear(frame, event.data as ToPage);
      }
    });
  }

  async start(host: Host, flags: string): Promise<void> {
    this._host = host;
    this._flags = flags;
    this._kernel = await Kernel.start(host === 'colab');
    this._kernel.onComm = (id, data, buffers) => {
      // Colab's kernel sends no echoes, and its frames could not tell them from news.
      if ((data as { method?: string }).method !== 'echo_update') {
        this._tellAll({ kind: 'comm', id, data, buffers });
      }
    };
    if (host === 'vscode') {
      // Before the first cell: messages about models are not sent again.
      this._only = this._open();
      while (!this._connected) {
        await new Promise(resolve => setTimeout(resolve, 20));
      }
    }
  }

  async run(code: string): Promise<IRan> {
    const ran: IRan = { text: '', error: '', mimes: [] };
    const texts: string[] = [];
    const { viewless } = this._kernel!;
    viewless.length = 0;
    await this._kernel!.execute(code, message => record(message, ran, texts));
    for (const model of texts) {
      const frame = this._only ?? this._open();
      this._tell(frame, { kind: 'show', model, viewless });
    }
    return ran;
  }

  theme(theme: 'light' | 'dark'): void {
    this._theme = theme;
    document.body.style.background = theme === 'dark' ? '#1f1f1f' : '#fff';
    this._tellAll({ kind: 'theme', theme });
  }

  restore(metadata: unknown, model: string): void {
    this._tell(this._only!, { kind: 'restore', metadata, model });
  }

  private _open(): HTMLIFrameElement {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', this._flags);
    // Colab loads an output when it comes near. It has about its height before: twenty low ones would all be
    // in view, be drawn at once, and push each other away while they grow.
    frame.loading = 'lazy';
    frame.src = `https://${this._host}.test/frame.html`;
    frame.style.cssText = 'width: 100%; height: 300px; border: 0';
    document.body.append(frame);
    this._frames.set(frame.contentWindow!, frame);
    this._waiting.set(frame, [{ kind: 'theme', theme: this._theme }]);
    return frame;
  }

  private _tell(frame: HTMLIFrameElement, message: ToFrame): void {
    const waiting = this._waiting.get(frame);
    if (waiting) {
      waiting.push(message);
      return;
    }
    // The frame has no origin that could be named.
    frame.contentWindow!.postMessage(message, '*');
  }

  private _tellAll(message: ToFrame): void {
    for (const frame of this._frames.values()) {
      this._tell(frame, message);
    }
  }

  private _hear(frame: HTMLIFrameElement, message: ToPage): void {
    const kernel = this._kernel!;
    switch (message.kind) {
      case 'ready': {
        const waiting = this._waiting.get(frame) ?? [];
        this._waiting.delete(frame);
        waiting.forEach(message => this._tell(frame, message));
        break;
      }
      case 'connected':
        this._connected = true;
        break;
      case 'height':
        frame.style.height = `${message.height}px`;
        break;
      case 'connect':
        kernel.relay(
          message.protocols,
          protocol => this._tell(frame, { kind: 'open', protocol }),
          data => this._tell(frame, { kind: 'receive', data })
        );
        break;
      case 'send':
        kernel.forward(message.data);
        break;
      case 'want':
        this._tell(frame, {
          kind: 'model',
          id: message.id,
          state: kernel.models.get(message.id) ?? null
        });
        break;
      case 'tell':
        void kernel
          .sendMessage(message.id, message.data, message.buffers)
          .then(() =>
            this._tell(frame, {
              kind: 'idle',
              id: message.id,
              call: message.call
            })
          );
    }
  }
}

/** Takes what matters of one message about a running cell. */
function record(message: IOPubMessage, ran: IRan, texts: string[]): void {
  const { content } = message as { content: Record<string, unknown> };
  const type = message.header.msg_type;
  if (type === 'stream') {
    ran.text += String(content.text);
  } else if (type === 'error') {
    ran.error = `${String(content.ename)}: ${String(content.evalue)}`;
  } else if (type === 'execute_result' || type === 'display_data') {
    const data = content.data as Record<string, unknown>;
    ran.text += String(data['text/plain'] ?? '');
    ran.mimes = Object.keys(data);
    const view = data[VIEW] as { model_id: string } | undefined;
    if (view) {
      texts.push(view.model_id);
    }
  }
}

(window as unknown as { host: IHostPage }).host = new Page();
