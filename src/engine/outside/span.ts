import { durationMs } from "../../kernel/duration.ts";

/** A length of time as policy files write it, `30m` or `4h`, in milliseconds; undefined if it is none. */
export const spanMs = (text: string): number | undefined => durationMs(text);
