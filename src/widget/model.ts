/** The part of an anywidget model that is used here, and functions to read its values. */

import type { IKernelModel } from '../providers/jupyterKernel';

/** A widget model as held by its manager. */
export interface IManagedModel {
  get(trait: string): unknown;
  set(trait: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback: (...args: never[]) => void): void;
}

export interface IWidgetModel extends IManagedModel, IKernelModel {
  /** Absent in hosts that support only single widgets. */
  readonly widget_manager?: {
    get_model?(id: string): Promise<IManagedModel>;
  };
}

/** Kernels send bytes as a `DataView`; a saved notebook may use other types. */
export function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
  }
  return value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new Uint8Array(0);
}

const REFERENCE = /^(?:IPY_MODEL_|anywidget:)(.+)$/;

/** The model that another one refers to; null if the host cannot resolve it. */
export async function resolveModelRef(
  model: IWidgetModel,
  trait: string
): Promise<IManagedModel | null> {
  const value = model.get(trait);
  if (typeof value === 'object' && value !== null && 'get' in value) {
    return value as IManagedModel;
  }
  const id = typeof value === 'string' ? REFERENCE.exec(value)?.[1] : undefined;
  const manager = model.widget_manager;
  if (id === undefined || typeof manager?.get_model !== 'function') {
    return null;
  }
  try {
    return await manager.get_model(id);
  } catch {
    // Some hosts support only single widgets; the kernel is asked then.
    return null;
  }
}

/** A kernel message of this type; null for any other. */
export function messageOf(
  content: unknown,
  type: string
): Readonly<Record<string, unknown>> | null {
  return typeof content === 'object' &&
    content !== null &&
    'type' in content &&
    content.type === type
    ? (content as Readonly<Record<string, unknown>>)
    : null;
}

/** Sends a message; returns false without a kernel. */
export function sendMessage(model: IWidgetModel, content: unknown): boolean {
  try {
    model.send(content);
    return true;
  } catch {
    // A page opened without a kernel has no comm to send on.
    return false;
  }
}
