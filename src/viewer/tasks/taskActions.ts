/**
 * Starts tasks of the Run tab from anywhere in the viewer; shows a notice if there is no server or
 * kernel.
 */

import { lazyCode } from '../lazy/lazyCode';
import type { GivenFile, TaskOrder } from '../../providers/provider';
import type { Session } from '../session/session';

/** File types offered when the user chooses a profile. */
const PROFILE_TYPES = '.json,.csv,.txt';

/** Not in a page, which has neither a server nor a kernel. */
const serverCode = lazyCode(() => import('./serverWork'));

/** Starts a task and shows its tab. */
export async function startTask(
  session: Session,
  order: TaskOrder
): Promise<void> {
  if (session.provider.task) {
    (await serverCode.get()).startTask(session, order);
    return;
  }
  session.store.set({
    notice: session.trans.__(
      'Models are run by a server: open the model in JupyterLab, or use onnx-autodoc on the command line.'
    )
  });
}

/** Attributes times measured elsewhere to nodes, and shows them. */
export async function loadProfile(
  session: Session,
  files: readonly GivenFile[]
): Promise<void> {
  if (!session.provider.profile) {
    session.store.set({ notice: noReaderNotice(session) });
  } else if (files.length > 0) {
    await (await serverCode.get()).attribute(session, files);
  }
}

function noReaderNotice({ trans }: Session): string {
  return trans.__(
    'Profiles are read by a server or a kernel. Open the model in JupyterLab or run the cell again, or use: onnx-autodoc run MODEL --profile FILE --out-html PAGE'
  );
}

/** Lets the user choose a profile from their files, if there is a server or kernel to read it. */
export function askProfile(session: Session): void {
  if (!session.provider.profile) {
    session.store.set({ notice: noReaderNotice(session) });
    return;
  }
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.accept = PROFILE_TYPES;
  input.addEventListener('change', () => {
    void loadProfile(session, [...(input.files ?? [])]);
  });
  input.click();
}

const dropTargets = new WeakMap<HTMLElement, Session>();

/** Accepts files dropped on a viewer. */
export function acceptDrops(root: HTMLElement, session: Session): void {
  const hasTarget = dropTargets.has(root);
  dropTargets.set(root, session);
  if (hasTarget) {
    return;
  }
  const setHighlight = (isOver: boolean): void => {
    root.toggleAttribute('data-drop', isOver);
  };
  root.addEventListener('dragover', event => {
    if (event.dataTransfer?.types.includes('Files')) {
      // Otherwise the browser would open the file in place of the page.
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      setHighlight(true);
    }
  });
  root.addEventListener('dragleave', ({ relatedTarget }) =>
    setHighlight(relatedTarget instanceof Node && root.contains(relatedTarget))
  );
  root.addEventListener('drop', event => {
    setHighlight(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    const session = dropTargets.get(root);
    if (session && files.length > 0) {
      event.preventDefault();
      event.stopPropagation();
      void loadProfile(session, files);
    }
  });
}
