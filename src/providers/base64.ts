/** Characters decoded at once; a multiple of 4, so that each piece is valid base64. */
const PIECE = 1 << 20;

/** Decodes base64 text, which may be long, into a Blob. */
export function blobOfBase64(text: string, type: string): Blob {
  const parts: BlobPart[] = [];
  for (let start = 0; start < text.length; start += PIECE) {
    parts.push(bytesOfBase64(text.slice(start, start + PIECE)));
  }
  return new Blob(parts, { type });
}

/** Decodes base64 text into bytes. Throws if it is invalid. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    bytes[i] = raw.charCodeAt(i);
  }
  return bytes;
}
