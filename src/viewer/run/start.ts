/** Starts what the Run tab tells of, from wherever it is asked for. */

import type { GivenFile, TaskOrder } from '../../providers/provider';
import { boardOf, type TaskKind } from '../quantize/board';
import { showTab } from '../session/panels';
import type { Session } from '../session/session';
import { brief } from '../ui/text';

/** What a browser offers when it asks for a profile. */
const KINDS = '.json,.csv,.txt';

/** Starts a task and shows the tab that tells of it. */
export function startTask(session: Session, order: TaskOrder): void {
  const { provider, store, trans } = session;
  if (!provider.task) {
    store.set({
      notice: trans.__(
        'Models are run by a server: open the model in JupyterLab, or use onnx-autodoc on the command line.'
      )
    });
    return;
  }
  const { kind, ...rest } = order;
  showTab(session, 'run');
  const board = boardOf(session);
  const { data = board.get().data, against = '' } = order;
  board.set({ data, against });
  void board.start(kind as TaskKind, { ...rest, data: data.trim() });
}

function unread({ trans }: Session): string {
  return trans.__(
    'Profiles are read by a server or a kernel. Open the model in JupyterLab or run the cell again, or use: onnx-autodoc run MODEL --profile FILE --out-html PAGE'
  );
}

/** Has times that were measured elsewhere attributed, and paints them. */
export async function loadProfile(
  session: Session,
  files: readonly GivenFile[]
): Promise<void> {
  const { provider, store, trans } = session;
  if (files.length === 0) {
    return;
  }
  if (!provider.profile) {
    store.set({ notice: unread(session) });
    return;
  }
  const board = boardOf(session);
  if (board.get().running) {
    store.set({ notice: trans.__('Another task is running. Wait for it.') });
    return;
  }
  if (provider.task) {
    showTab(session, 'run');
    await board.profile(files);
    return;
  }
  await board.profile(files);
  // There is no tab that tells of it.
  const { problem, results } = board.get();
  const said = problem
    ? [problem.what.detail, problem.what.hint]
    : (results.profile?.lines ?? []);
  store.set({ notice: brief(said.filter(Boolean).join(' '), 400) });
}

/** Asks the user for a profile among their own files, where somebody is there to read it. */
export function askProfile(session: Session): void {
  if (!session.provider.profile) {
    session.store.set({ notice: unread(session) });
    return;
  }
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.accept = KINDS;
  input.addEventListener('change', () => {
    void loadProfile(session, [...(input.files ?? [])]);
  });
  input.click();
}

const taking = new WeakMap<HTMLElement, Session>();

/** Takes files that are dropped on a viewer, from the first that is dragged over it on. */
export function takeDrops(root: HTMLElement, session: Session): void {
  const known = taking.has(root);
  taking.set(root, session);
  if (known) {
    return;
  }
  const mark = (over: boolean): void => {
    root.toggleAttribute('data-drop', over);
  };
  root.addEventListener('dragover', event => {
    if (event.dataTransfer?.types.includes('Files')) {
      // Otherwise the browser leaves the page for the file.
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      mark(true);
    }
  });
  root.addEventListener('dragleave', ({ relatedTarget }) =>
    mark(relatedTarget instanceof Node && root.contains(relatedTarget))
  );
  root.addEventListener('drop', event => {
    mark(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    const there = taking.get(root);
    if (there && files.length > 0) {
      event.preventDefault();
      event.stopPropagation();
      void loadProfile(there, files);
    }
  });
}
