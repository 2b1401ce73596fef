export function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/**
 * A promise where a plain answer belongs is of no use; if it also fails, that must not end the process. A lazy thenable
 * is left alone: asking it would start it.
 */
export function quiet<Value>(value: Value): Value {
  if (value instanceof Promise) value.catch(() => undefined);
  return value;
}
