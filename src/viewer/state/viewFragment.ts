/**
 * Encodes a view for the end of an address: the snapshot's JSON, deflated, in the alphabet of addresses.
 * Decoding validates it: size limits before and after inflating, then the checks of any snapshot.
 */

import type { ISnapshot } from './snapshot';
import { readSnapshot, SNAPSHOT_VERSION } from './snapshot';
import { unpacked } from '../../providers/unpack';

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

async function pack(
  bytes: Uint8Array<ArrayBuffer>
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Response(bytes).body!.pipeThrough(
    new CompressionStream('deflate-raw')
  );
  return new Uint8Array(await new Response(stream).arrayBuffer());
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
  return PREFIX + toText(await pack(bytes));
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
    const stream = unpacked(
      toBytes(parameter.slice(PREFIX.length)),
      MAX_BYTES,
      'deflate-raw'
    );
    const raw: unknown = await new Response(stream).json();
    return sharedFields(readSnapshot(raw));
  } catch (error) {
    // A broken link shows the model as without one.
    console.warn('ONNX Autodoc: the link’s view could not be read', error);
    return null;
  }
}
