import { readFileSync } from "node:fs";
import { fileError } from "../failure.ts";

/** The text of a file that somebody named; why it cannot be read is told in words. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw fileError(file, error);
  }
}
