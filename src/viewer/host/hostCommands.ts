/** What a notebook says of a view, as it comes: by a kernel or out of a saved output, without trust. */

import type { IViewerHandle } from '../state/api';
import { isOverlayId } from '../overlays';

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Selects nodes by their ids, unless they are selected; `again`: brings them into view then, too. */
export function applySelection(
  handle: IViewerHandle,
  wanted: unknown,
  reveal = false
): void {
  const ids = Array.isArray(wanted)
    ? wanted.filter(id => Number.isInteger(id)).map(Number)
    : [];
  const sorted = [...ids].sort((a, b) => a - b);
  if (
    reveal ||
    JSON.stringify(handle.selectedNodes()) !== JSON.stringify(sorted)
  ) {
    handle.selectNodes(ids);
  }
}

/** The heatmap: a name, numbers by node with their `label` and `unit`, or none. */
export function applyOverlay(handle: IViewerHandle, overlay: unknown): void {
  if (isRecord(overlay)) {
    const { label, unit, values, largest } = overlay;
    const numbers = Object.entries(isRecord(values) ? values : {}).flatMap(
      ([node, value]) =>
        typeof value === 'number' ? [[Number(node), value] as const] : []
    );
    handle.setUserValues({
      label: text(label),
      unit: text(unit),
      largest: largest === true,
      values: new Map(numbers)
    });
  } else {
    handle.setOverlay(isOverlayId(overlay) ? overlay : null);
  }
}
