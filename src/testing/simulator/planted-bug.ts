/** What a planted bug is: textual changes that are applied when a worker loads the files, never on the disk. */
export type Patch = { readonly file: string; readonly find: string; readonly replace: string };
export type Planted = {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** Looked for only in seeds that have workflows. */
  readonly inFlows: boolean;
};

export const at = (file: string, find: string, replace: string): Patch => ({ file, find, replace });

/** The source as a planted bug has it. Text that is no longer there is an error: the bug would not be planted. */
export function patched(planted: Planted, file: string, source: string): string {
  let text = source;
  for (const patch of planted.patches.filter((one) => one.file === file)) {
    const parts = text.split(patch.find);
    if (parts.length !== 2)
      throw new Error(
        `"${planted.name}": the text occurs ${parts.length - 1} times in ${file}: ${patch.find}`,
      );
    text = parts.join(patch.replace);
  }
  return text;
}
