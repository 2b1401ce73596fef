/** What a text is written in: recognised by its name and its first words. A wrong guess costs a look, never a character. */
export type Language = "SQL" | "Shell" | "JSON" | "Code";

const SQL =
  /^\s*(?:--[^\n]*\n\s*)*(select\s[\s\S]+\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|(create|alter|drop|truncate)\s+(table|index|view|database|schema|role|user)\b|with\s+\w+\s+as\s*\(|grant\s+\w+|begin;)/i;
const SHELL_NAMES = /^(command|cmd|shell|bash|script_sh|shell_command|commandline|command_line)$/i;
const SQL_NAMES = /^(sql|query_sql|sql_query|statement)$/i;
const CODE_NAMES =
  /^(code|script|source|source_code|program|patch_code|snippet|function_body|dockerfile|yaml|html|css)$/i;
const SHEBANG = /^#!/;
const CODE =
  /^[^\S\n]*(import\s.+from\s|import\s+\w+|from\s+\w+\s+import\s|export\s+(const|function|class|default)\b|(async\s+)?function\s+\w+\s*\(|def\s+\w+\s*\(|class\s+\w+[\s({:]|const\s+\w+\s*=|package\s+\w+|#include\s*<|<\?php|<!doctype\s|<html)/im;
const SHELL = /^\s*\$\s|^(sudo|rm|curl|wget|git|docker|kubectl|npm|npx|psql|ssh|scp|chmod|chown)\s+\S/;

const isJsonText = (text: string): boolean => {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Whatever is recognised is recognised by its beginning: looking is quick, however long the text is. */
const BEGINNING = 2_000;
const beginningOf = (text: string): string => text.slice(0, BEGINNING);

/** Whether the name alone says that it is code: nothing that stands in the text makes it anything else. */
export const isNamedCode = (name: string): boolean =>
  SQL_NAMES.test(name) || SHELL_NAMES.test(name) || CODE_NAMES.test(name);

export function languageOf(name: string, text: string): Language | undefined {
  const first = beginningOf(text);
  if (first.trim() === "") return undefined;
  if (SQL_NAMES.test(name) || SQL.test(first)) return "SQL";
  if (SHELL_NAMES.test(name) || SHEBANG.test(first) || SHELL.test(first)) return "Shell";
  if (isJsonText(text)) return "JSON";
  if (CODE_NAMES.test(name) || (first.includes("\n") && CODE.test(first))) return "Code";
  return undefined;
}

const isUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]{1,20}:\/\/\S+$/i.test(text);
const isPath = (name: string, text: string): boolean =>
  /^(~?\/|\.{1,2}\/|[A-Za-z]:\\)[^\n]*$/.test(text) ||
  (/(^|_)(path|file|filename|directory|folder|dir)$/i.test(name) && /^[^\n]{1,1000}$/.test(text));
const isMoment = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text) &&
  !Number.isNaN(Date.parse(text));

/** What a line of text names; undefined where it is only words. */
export function namedBy(name: string, text: string): "url" | "path" | "moment" | undefined {
  if (isMoment(text)) return "moment";
  if (isUrl(text)) return "url";
  return isPath(name, text) ? "path" : undefined;
}
