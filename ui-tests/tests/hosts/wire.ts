// What the page of a host and the frames of its outputs say to each other.

export type Host = 'vscode' | 'colab';

/** State of a widget's model, as Colab hands it to its widget manager. */
export interface IModelState {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  readonly state: Record<string, unknown>;
}

export type ToFrame =
  | { kind: 'show'; model: string; viewless: string[] }
  | { kind: 'restore'; metadata: unknown; model: string }
  | { kind: 'theme'; theme: 'light' | 'dark' }
  | { kind: 'open'; protocol: string }
  | { kind: 'receive'; data: string | ArrayBuffer }
  | { kind: 'model'; id: string; state: IModelState | null }
  | { kind: 'comm'; id: string; data: unknown; buffers: ArrayBuffer[] }
  | { kind: 'idle'; id: string; call: number };

export type ToPage =
  | { kind: 'ready' }
  | { kind: 'height'; height: number }
  | { kind: 'connect'; protocols: string[] }
  /** The widget manager hears the kernel. */
  | { kind: 'connected' }
  | { kind: 'send'; data: string | ArrayBuffer }
  | { kind: 'want'; id: string }
  | {
      kind: 'tell';
      id: string;
      call: number;
      data: unknown;
      buffers: ArrayBuffer[];
    };

/** Where a frame shows its outputs. */
export function createOutput(): HTMLElement {
  const element = document.createElement('div');
  // VS Code gives this class to what holds a widget.
  element.className = 'cell-output-ipywidget-background';
  document.getElementById('outputs')!.append(element);
  return element;
}

export function toPage(message: ToPage, transfer: Transferable[] = []): void {
  window.parent.postMessage(message, '*', transfer);
}

/** Tells the page how high the outputs are, so that it makes the frame as high: no frame scrolls. */
export function tellHeight(): void {
  const outputs = document.getElementById('outputs')!;
  new ResizeObserver(() =>
    toPage({
      kind: 'height',
      height: outputs.offsetHeight + 2 * outputs.offsetTop
    })
  ).observe(outputs);
}

export function hear(listener: (message: ToFrame) => void): void {
  window.addEventListener('message', event => {
    if (event.source === window.parent) {
      listener(event.data as ToFrame);
    }
  });
}
