/** Numbers in full: grouped to be read, never rounded. */
const IN_THREES = /\B(?=(\d{3})+$)/g;

/** Every digit that JSON has, the whole part in groups of three. */
export function exactNumber(value: number): string {
  const text = String(value);
  const found = /^(-?)(\d+)(\.\d+)?$/.exec(text);
  if (found === null) return text;
  const [, sign = "", whole = "", part = ""] = found;
  return `${sign === "" ? "" : "−"}${whole.replace(IN_THREES, ",")}${part}`;
}

const MINOR = 100;

/** An amount in cents, in the currency itself: by whole numbers, so that no digit is lost. */
export function fromMinor(value: number): string | null {
  if (!Number.isSafeInteger(value)) return null;
  const size = Math.abs(value);
  const part = String(size % MINOR).padStart(2, "0");
  return `${value < 0 ? "−" : ""}${exactNumber(Math.floor(size / MINOR))}.${part}`;
}

const KIB = 1_024;
const UNITS = ["bytes", "KiB", "MiB", "GiB"] as const;

export function bytesText(bytes: number): string {
  const step = bytes < KIB ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const size = bytes / KIB ** step;
  return `${step === 0 ? exactNumber(bytes) : size.toFixed(1)} ${UNITS[step] ?? "bytes"}`;
}
