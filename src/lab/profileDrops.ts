/** Drag and drop of profiles from JupyterLab's file browser onto a model. */

/** MIME type of paths dragged from the file browser. */
const CONTENTS = 'application/x-jupyter-icontents';
const PROFILE = /\.(json|csv|txt)$/i;

/** The part of Lumino's drag event that is used. */
interface IDrag extends Event {
  readonly mimeData: {
    hasData(kind: string): boolean;
    getData(kind: string): unknown;
  };
  readonly relatedTarget?: EventTarget | null;
  readonly proposedAction: string;
  dropAction: string;
}

/** The dragged paths if all may be profiles; otherwise empty. */
export function draggedProfiles({
  mimeData
}: Pick<IDrag, 'mimeData'>): string[] {
  const paths = mimeData.hasData(CONTENTS) ? mimeData.getData(CONTENTS) : null;
  const named = Array.isArray(paths)
    ? paths.filter(path => typeof path === 'string')
    : [];
  // Other files open next to the model, as elsewhere in Lab.
  return named.every(path => PROFILE.test(path)) ? named : [];
}

/** Accepts dropped profiles; the viewer inside `node` shows that they can be dropped. */
export function takeLabDrops(
  node: HTMLElement,
  onDrop: (paths: string[]) => void
): void {
  const setHighlight = (isOver: boolean): void => {
    node.querySelector('.oad-Viewer')?.toggleAttribute('data-drop', isOver);
  };
  const hear = (event: Event): void => {
    const drag = event as IDrag;
    const paths = draggedProfiles(drag);
    if (paths.length === 0) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    setHighlight(event.type === 'lm-dragenter' || event.type === 'lm-dragover');
    if (event.type === 'lm-dragover' || event.type === 'lm-drop') {
      drag.dropAction = drag.proposedAction;
    }
    if (event.type === 'lm-drop') {
      onDrop(paths);
    }
  };
  for (const name of ['enter', 'over', 'leave']) {
    node.addEventListener(`lm-drag${name}`, hear);
  }
  node.addEventListener('lm-drop', hear);
}
