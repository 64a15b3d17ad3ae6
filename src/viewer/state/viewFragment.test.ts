import { describe, expect, test, vi } from 'vitest';
import {
  MAX_FRAGMENT_CHARS,
  decodeViewFragment,
  encodeViewFragment
} from './viewFragment';
import { SNAPSHOT_VERSION, type ISnapshot } from './snapshot';

const VIEW: ISnapshot = {
  version: SNAPSHOT_VERSION,
  overlay: 'macs',
  scale: 'rank',
  open: ['["a","b"]', '["ä","→"]'],
  camera: { x: 1.5, y: -2, k: 0.7 },
  hidden: { of: 'sha256:0', ranges: [3, 9] },
  bindings: { batch: 4 }
};

async function packed(text: string): Promise<string> {
  const stream = new Blob([text])
    .stream()
    .pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const raw = Array.from(bytes, byte => String.fromCharCode(byte)).join('');
  const code = btoa(raw).replace(/\+/g, '-').replace(/\//g, '_');
  return `view=${code.replace(/=+$/, '')}`;
}

describe('a view in a URL fragment', () => {
  test('is restored, without personal state', async () => {
    const { text, whole } = await encodeViewFragment({
      ...VIEW,
      showNames: true,
      bookmarks: { 1: { x: 0, y: 0, k: 1 } }
    });
    expect(whole).toBe(true);
    expect(text).toMatch(/^view=[\w-]+$/);
    expect(await decodeViewFragment(`#${text}`)).toEqual(VIEW);
    expect(await decodeViewFragment(`#other&${text}&more`)).toEqual(VIEW);
  });

  test('omits expanded blocks that do not fit', async () => {
    // Incompressible.
    const open = Array.from({ length: 2000 }, (_, i) =>
      String(Math.sin(i) * 1e17)
    );
    const { text, whole } = await encodeViewFragment({ ...VIEW, open });
    expect(whole).toBe(false);
    expect(text.length).toBeLessThanOrEqual(MAX_FRAGMENT_CHARS);
    const decoded = await decodeViewFragment(`#${text}`);
    expect(decoded?.overlay).toBe('macs');
    expect(decoded?.open).toBeUndefined();
  });

  test.each(['', '#', '#view=', '#view=%%%', '#view=AAAA', '#heading'])(
    'is not read from %j',
    async fragment => {
      vi.spyOn(console, 'warn').mockImplementation(() => undefined);
      expect(await decodeViewFragment(fragment)).toBeNull();
      vi.restoreAllMocks();
    }
  );

  test('is not read if it unpacks to megabytes; invalid fields are omitted', async () => {
    const bomb = await packed(`{"version":1,"open":["${'a'.repeat(5e6)}"]}`);
    expect(bomb.length).toBeLessThan(MAX_FRAGMENT_CHARS);
    expect(await decodeViewFragment(`#${bomb}`)).toBeNull();
    const odd = await packed(
      '{"version":1,"overlay":"macs","camera":{"x":"1"},"panels":{},"open":7}'
    );
    expect(await decodeViewFragment(`#${odd}`)).toEqual({
      version: 1,
      overlay: 'macs'
    });
  });
});
