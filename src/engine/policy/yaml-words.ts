/** What the YAML parser finds, in words for whoever wrote the file: most of them write expressions, and forget the quotes. */
import type { YAMLParseError, YAMLWarning } from "yaml";

type Found = Pick<YAMLParseError | YAMLWarning, "code" | "message">;

const QUOTES = "put the whole value into quotes";

const WORDS: { readonly [code: string]: (message: string) => string } = {
  MULTIPLE_DOCS: () =>
    "a second document begins here, and a file holds one; make another file of it, or take the line --- or ... away",
  NON_STRING_KEY: () => "a key has to be text",
  TAG_RESOLVE_FAILED: (message) => `${message}. What begins with ! is a tag in YAML; ${QUOTES}`,
  BAD_SCALAR_START: (message) => `${message}; ${QUOTES}`,
  BLOCK_AS_IMPLICIT_KEY: (message) =>
    message.startsWith("Nested mappings")
      ? `there is a colon in this value; ${QUOTES}, or look at how the lines are indented`
      : message,
  UNEXPECTED_TOKEN: (message) =>
    message.endsWith("at node end") ? `the value had ended before this; ${QUOTES}` : message,
};

export const yamlWords = ({ code, message }: Found): string => WORDS[code]?.(message) ?? message;

/** Thrown where the values are made of the text. */
export const aliasWords = (message: string, most: number): string =>
  message.startsWith("Excessive alias count")
    ? `aliases (*name) stand for too much; ${most} is the limit`
    : message;
