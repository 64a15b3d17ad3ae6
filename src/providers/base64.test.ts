import { expect, test } from 'vitest';
import { blobOfBase64, bytesOfBase64 } from './base64';

test.each([0, 1, 2, 3, 1 << 20, 3 * (1 << 18), 3 * (1 << 18) + 1, 2_000_003])(
  'decodes a file of %i bytes',
  async size => {
    const bytes = Uint8Array.from(
      { length: size },
      (_, index) => (index * 7) % 251
    );
    const text = btoa(Array.from(bytes, b => String.fromCharCode(b)).join(''));
    const blob = blobOfBase64(text, 'application/octet-stream');
    expect(blob.type).toBe('application/octet-stream');
    const decoded = new Uint8Array(await blob.arrayBuffer());
    expect(decoded.length).toBe(size);
    expect(decoded.every((byte, index) => byte === bytes[index])).toBe(true);
  }
);

test('rejects invalid base64', () => {
  expect(() => bytesOfBase64('§')).toThrow();
  expect(() => blobOfBase64('A'.repeat(1 << 20) + '§', '')).toThrow();
});
