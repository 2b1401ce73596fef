/**
 * Completion scripts for shells, made from the table of commands: names, words with choices, and flags. A script is
 * static, so that pressing Tab starts no process and reads no store.
 */
import type { Command, Flags } from "./shell/command.ts";
import { COMMON_FLAGS, EXIT, word } from "./shell/command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** The choices at one position of a line: after the words of `path`. */
type Node = {
  readonly path: readonly string[];
  readonly choices: readonly (readonly [word: string, summary: string])[];
  readonly flags: Flags;
};

/** `[list|add]` and `applied|not_applied` are choices; `<file>` and `[id]` are not. */
function choicesIn(expected: string | undefined): readonly string[] {
  const text = expected?.replace(/^\[(.*)\]$/, "$1") ?? "";
  const isFree = /^<|…$/.test(text) || (expected?.startsWith("[") === true && !text.includes("|"));
  return text === "" || isFree ? [] : text.split("|");
}

/** A subcommand completes the flags that go with it. */
function commandNodes({ name, words, flags, parts }: Command): readonly Node[] {
  const path = name.split(" ");
  const some = (names: readonly string[]): Flags => ({
    ...Object.fromEntries(names.flatMap((one) => (flags[one] === undefined ? [] : [[one, flags[one]]]))),
    ...COMMON_FLAGS,
  });
  const own = some(Object.keys(flags));
  const choicesAt = (at: number) => choicesIn(words[at]).map((choice) => [choice, ""] as const);
  const node: Node = { path, choices: choicesAt(0), flags: own };
  const later = choicesAt(1);
  if (later.length > 0) return [node, { path: [...path, "*"], choices: later, flags: own }];
  const below = node.choices.map(([choice]): Node => {
    const names = parts?.[choice];
    return { path: [...path, choice], choices: [], flags: names === undefined ? own : some(names) };
  });
  return [node, ...below];
}

/** The root, families of commands such as `policy`, and each command. */
function treeNodes(commands: readonly Command[]): readonly Node[] {
  const byFirst = Map.groupBy(commands, ({ name }) => name.split(" ")[0] ?? "");
  const roots = [...byFirst].map(([first, [command, ...others]]) => {
    const isFamily = others.length > 0 || command?.name !== first;
    return [first, isFamily ? `Commands of ${first}` : (command?.summary ?? "")] as const;
  });
  const families = [...byFirst].flatMap(([first, members]): readonly Node[] => {
    const longer = members.filter(({ name }) => name !== first);
    if (longer.length === 0) return [];
    const choices = longer.map(({ name, summary }) => [name.slice(first.length + 1), summary] as const);
    return [{ path: [first], choices, flags: COMMON_FLAGS }];
  });
  const root: Node = { path: [], choices: roots, flags: { ...COMMON_FLAGS, version: { summary: "" } } };
  return [root, ...families, ...commands.flatMap(commandNodes)];
}

const flagNames = (flags: Flags): string =>
  Object.keys(flags)
    .map((name) => `--${name}`)
    .join(" ");

/** Flags with a value: the word after one belongs to it. No flag has a value in one command and none in another. */
const valueFlags = (commands: readonly Command[]): readonly string[] => {
  const all = Object.entries<Flags[string]>(
    Object.assign({}, COMMON_FLAGS, ...commands.map(({ flags }) => flags)),
  );
  return all.filter(([, { value }]) => value !== undefined).map(([name]) => `--${name}`);
};

/** A pattern of bash and zsh for the words that were typed: these, or these and more. */
function pattern({ path }: Node): string {
  if (path.length === 0) return '""';
  if (path.at(-1) === "*") return `"${path.slice(0, -1).join(" ")} "*`;
  return `"${path.join(" ")}"|"${path.join(" ")} "*`;
}

const cases = (nodes: readonly Node[], line: (node: Node) => string): string =>
  nodes
    .toSorted((a, b) => b.path.length - a.path.length)
    .map((node) => `    ${pattern(node)}) ${line(node)} ;;`)
    .join("\n");

function bashScript(commands: readonly Command[]): string {
  const choose = (node: Node) =>
    `words="${node.choices.map(([choice]) => choice).join(" ")}"; flags="${flagNames(node.flags)}"`;
  return `# Completion of holdpoint for bash. Load it: source <(holdpoint completion bash)
_holdpoint() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line="" words="" flags="" at one
  for ((at = 1; at < COMP_CWORD; at++)); do
    one="\${COMP_WORDS[at]}"
    case "$one" in
      ${valueFlags(commands).join("|")}) at=$((at + 1)) ;;
      -*) ;;
      *) line="\${line:+$line }$one" ;;
    esac
  done
  case "$line" in
${cases(treeNodes(commands), choose)}
  esac
  if [[ "$current" == -* ]]; then words="$flags"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _holdpoint holdpoint
`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** A colon separates a word from its description. */
const described = ([choice, summary]: readonly [string, string]): string =>
  quoted(summary === "" ? choice : `${choice}:${summary.replaceAll(":", "\\:")}`);

function zshScript(commands: readonly Command[]): string {
  const choose = (node: Node) => {
    const flags = Object.entries(node.flags).map(([name, { summary }]) => described([`--${name}`, summary]));
    return `choices=(${node.choices.map(described).join(" ")}); flags=(${flags.join(" ")})`;
  };
  return `#compdef holdpoint
# Completion of holdpoint for zsh. Load it: source <(holdpoint completion zsh)
_holdpoint() {
  local line="" one
  local -a choices flags
  local -i at
  for ((at = 2; at < CURRENT; at++)); do
    one="\${words[at]}"
    case "$one" in
      ${valueFlags(commands).join("|")}) at=$((at + 1)) ;;
      -*) ;;
      *) line="\${line:+$line }$one" ;;
    esac
  done
  case "$line" in
${cases(treeNodes(commands), choose)}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe 'flag' flags
  elif (( \${#choices} > 0 )); then _describe 'command' choices
  else _files
  fi
}
compdef _holdpoint holdpoint
`;
}

/** True in fish if the words that were typed, without flags, are those of the node (`only`), or begin with them. */
const fishCondition = ({ path }: Node, only: boolean): string => {
  const wanted = path.map((one) => (one === "*" ? "'*'" : one));
  return quoted(["__holdpoint_at", only ? "only" : "below", ...wanted].join(" "));
};

function fishScript(commands: readonly Command[]): string {
  const lines = treeNodes(commands).flatMap((node) => [
    ...node.choices.map(([choice, summary]) => {
      const description = summary === "" ? "" : ` -d ${quoted(summary)}`;
      return `complete -c holdpoint -f -n ${fishCondition(node, true)} -a ${choice}${description}`;
    }),
    ...Object.entries(node.flags).map(([name, { value, summary }]) => {
      const condition = fishCondition(node, node.path.length === 0);
      return `complete -c holdpoint -n ${condition} -l ${name}${value === undefined ? "" : " -r"} -d ${quoted(summary)}`;
    }),
  ]);
  return `# Completion of holdpoint for fish. Load it: holdpoint completion fish | source
function __holdpoint_at
  set -l typed
  set -l isValue 0
  for one in (commandline -opc)[2..-1]
    if test $isValue = 1
      set isValue 0
    else if contains -- $one ${valueFlags(commands).join(" ")}
      set isValue 1
    else if not string match -q -- '-*' $one
      set -a typed $one
    end
  end
  set -l path $argv[2..-1]
  test (count $typed) -ge (count $path); or return 1
  test $argv[1] = below; or test (count $typed) -eq (count $path); or return 1
  for at in (seq (count $path))
    string match -q -- $path[$at] $typed[$at]; or return 1
  end
end
${lines.join("\n")}
`;
}

const SCRIPTS: { readonly [name in Shell]: (commands: readonly Command[]) => string } = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** `commands` is a function, because the table lists this command too. */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: "completion",
  words: [SHELLS.join("|")],
  summary: "Print the completion script for a shell",
  details: ["Add the line of your shell to its start-up file."],
  examples: [
    "source <(holdpoint completion bash)",
    "source <(holdpoint completion zsh)",
    "holdpoint completion fish | source",
  ],
  flags: {},
  storeless: true,
  placeless: true,
  async run({ terminal, words }) {
    await terminal.write(SCRIPTS[word({ words }) as Shell](commands()));
    return EXIT.ok;
  },
});
