/**
 * Applies a notebook's view settings, which come from a kernel or a saved output and are validated here.
 */

import type { IViewerHandle } from '../state/api';
import { isOverlayId } from '../overlays';

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Selects nodes by id, unless they are already selected; `reveal` brings them into view in that case too.
 */
export function applySelection(
  handle: IViewerHandle,
  requested: unknown,
  reveal = false
): void {
  const ids = Array.isArray(requested)
    ? requested.filter(id => Number.isInteger(id)).map(Number)
    : [];
  const sorted = [...ids].sort((a, b) => a - b);
  if (
    reveal ||
    JSON.stringify(handle.selectedNodes()) !== JSON.stringify(sorted)
  ) {
    handle.selectNodes(ids);
  }
}

/** Sets the heatmap: a name, values by node with their `label` and `unit`, or none. */
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
