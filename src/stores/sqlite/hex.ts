export function hex(bytes: unknown): string {
  if (!(bytes instanceof Uint8Array)) return "";
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
