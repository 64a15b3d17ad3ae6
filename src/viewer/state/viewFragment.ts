/**
 * Encodes a view for the end of an address: the snapshot's JSON, deflated, in the alphabet of addresses.
 * Decoding validates it: size limits before and after inflating, then the checks of any snapshot.
 */

import type { ISnapshot } from './snapshot';
import { readSnapshot, SNAPSHOT_VERSION } from './snapshot';

/** Longer addresses are cut or rejected by servers, chats and mail programs. */
export const MAX_FRAGMENT_CHARS = 7000;
/** A view inflates to kilobytes; anything larger is rejected. */
const MAX_BYTES = 1 << 20;

const PREFIX = 'view=';

/** The shared part of a view. Panels, tables and saved views stay with the user. */
function sharedFields(snapshot: ISnapshot): ISnapshot {
  const { overlay, scale, selection, also, open, camera } = snapshot;
  const { hidden, bindings, assume, direction, rows, device } = snapshot;
  return {
    version: SNAPSHOT_VERSION,
    overlay,
    scale,
    selection,
    also,
    open,
    camera,
    hidden,
    bindings,
    assume,
    direction,
    rows,
    device
  };
}

async function pipeThrough(
  bytes: Uint8Array<ArrayBuffer>,
  through: CompressionStream | DecompressionStream,
  maxBytes: number
): Promise<Uint8Array<ArrayBuffer> | null> {
  const reader = new Response(bytes).body!.pipeThrough(through).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return null;
    }
    parts.push(value);
  }
  const joined = new Uint8Array(length);
  let position = 0;
  for (const chunk of parts) {
    joined.set(chunk, position);
    position += chunk.length;
  }
  return joined;
}

function toText(bytes: Uint8Array): string {
  const raw = Array.from(bytes, byte => String.fromCharCode(byte)).join('');
  return btoa(raw).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(raw, character => character.charCodeAt(0));
}

async function packText(snapshot: ISnapshot): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(snapshot));
  const small = await pipeThrough(
    bytes,
    new CompressionStream('deflate-raw'),
    Infinity
  );
  return PREFIX + toText(small ?? new Uint8Array(0));
}

/**
 * `view=…`; `whole` is false if expanded blocks and hidden entities were omitted because of its length.
 */
export async function encodeViewFragment(
  snapshot: ISnapshot
): Promise<{ readonly text: string; readonly whole: boolean }> {
  const view = sharedFields(snapshot);
  const text = await packText(view);
  if (text.length <= MAX_FRAGMENT_CHARS) {
    return { text, whole: true };
  }
  const { overlay, scale, selection, bindings, assume, version } = view;
  const { direction, device } = view;
  const brief = {
    version,
    overlay,
    scale,
    selection,
    bindings,
    assume,
    direction,
    device
  };
  const shorter = await packText(brief);
  return shorter.length <= MAX_FRAGMENT_CHARS
    ? { text: shorter, whole: false }
    : {
        text: await packText({ version, overlay, scale, device }),
        whole: false
      };
}

/** The view in an address's fragment (`#view=…`); null if there is no readable one. */
export async function decodeViewFragment(
  fragment: string
): Promise<ISnapshot | null> {
  const parameter = fragment
    .replace(/^#/, '')
    .split('&')
    .find(parameter => parameter.startsWith(PREFIX));
  if (parameter === undefined || parameter.length > MAX_FRAGMENT_CHARS) {
    return null;
  }
  try {
    const bytes = await pipeThrough(
      toBytes(parameter.slice(PREFIX.length)),
      new DecompressionStream('deflate-raw'),
      MAX_BYTES
    );
    if (bytes === null) {
      return null;
    }
    const raw: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return sharedFields(readSnapshot(raw));
  } catch (error) {
    // A broken link shows the model as without one.
    console.warn('ONNX Autodoc: the link’s view could not be read', error);
    return null;
  }
}
