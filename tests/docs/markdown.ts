// Markdown as the docs tests read it: files, fenced blocks, links, code spans.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export type Block = {
  readonly file: string;
  /** The line of the opening fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly marks: readonly string[];
  readonly text: string;
};

export const readRoot = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");

export function markdownFiles(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => path.posix.join(folder, name))
      .sort(),
  );
}

const FENCE = /^```(\S*)([^\n]*)\n([\s\S]*?)^```\s*$/gm;

export function blocksOf(file: string, text = readRoot(file)): readonly Block[] {
  return [...text.matchAll(FENCE)].map((match) => ({
    file,
    line: text.slice(0, match.index).split("\n").length,
    language: match[1] ?? "",
    marks: (match[2] ?? "").split(/\s+/).filter((mark) => mark !== ""),
    text: match[3] ?? "",
  }));
}

/** The examples in a source file's documentation comments, with the comment's stars taken off. */
export function commentBlocksOf(file: string): readonly Block[] {
  const comments = [...readRoot(file).matchAll(/\/\*\*[\s\S]*?\*\//g)];
  return comments.flatMap((match) => {
    const before = match.input.slice(0, match.index).split("\n").length;
    const text = match[0].replace(/^\s*\/?\*+\/?[ ]?/gm, "");
    return blocksOf(file, text).map((block) => ({ ...block, line: before + block.line - 1 }));
  });
}

export const withoutBlocks = (text: string): string => text.replaceAll(FENCE, "");

/** First cells of tables that hold nothing but code spans, one or several. */
export function codeCells(text: string): readonly string[] {
  const cells = [...withoutBlocks(text).matchAll(/^\|\s*((?:`[^`|]+`(?:,\s*)?)+)\s*\|/gm)];
  return cells.flatMap((match) => [...(match[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? ""));
}
