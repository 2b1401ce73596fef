/** A Dockerfile as far as ours goes: stages and their instructions, each with flags and the rest of its line. */

export type Instruction = {
  readonly word: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly text: string;
};
export type Stage = {
  readonly from: string;
  readonly name: string | undefined;
  readonly lines: readonly Instruction[];
};

function instruction(line: string): Instruction {
  const [, word = "", flags = "", text = ""] = /^([A-Z]+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
  if (word === "") throw new Error(`not an instruction: ${line}`);
  const pairs = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(
    ([, name = "", value = ""]) => [name, value] as const,
  );
  return { word, flags: new Map(pairs), text: text.trim() };
}

export function parseDockerfile(text: string): readonly Stage[] {
  const bare = text.replaceAll(/^\s*#.*\n/gm, "").replaceAll(/\\\n\s*/g, "");
  const lines = bare.split("\n").filter((line) => line.trim() !== "");
  const stages: { from: string; name: string | undefined; lines: Instruction[] }[] = [];
  for (const one of lines.map(instruction)) {
    const [from = "", , name] = one.text.split(/\s+/);
    if (one.word === "FROM") stages.push({ from, name, lines: [] });
    else stages.at(-1)?.lines.push(one);
  }
  return stages;
}

export const all = ({ lines }: Stage, word: string): readonly Instruction[] =>
  lines.filter((line) => line.word === word);

/** The one that counts: the last. */
export function last(stage: Stage, word: string): Instruction {
  const found = all(stage, word).at(-1);
  if (found === undefined) throw new Error(`no ${word}`);
  return found;
}

/** In exec form; in any other a shell would stand between. */
export const words = ({ text }: Instruction): readonly string[] => JSON.parse(text) as string[];

/** `A=b C="d e"` of ENV and LABEL. */
export function pairs(stage: Stage, word: string): Readonly<Record<string, string>> {
  const found = all(stage, word).flatMap(({ text }) => [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g)]);
  return Object.fromEntries(found.map(([, name, quoted, plain]) => [name, quoted ?? plain ?? ""]));
}
