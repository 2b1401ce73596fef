/** Where words go: standard output for answers, standard error for complaints and progress. */
import { styleText } from "node:util";
import { ESCAPES, visibleJson } from "../kernel/text.ts";

export type Style = Parameters<typeof styleText>[0];
type Stream = NodeJS.WriteStream;

export type Terminal = {
  /** A person looks at standard output. */
  readonly interactive: boolean;
  readonly columns: number;
  line(text?: string): void;
  json(value: unknown): void;
  /** Exact bytes; resolves when there is room for more. */
  write(text: string): Promise<void>;
  /** On standard error. */
  note(text: string): void;
  /** On standard error, on one line that is replaced; only where a person looks. `null` takes it away. */
  progress(text: string | null): void;
  paint(style: Style, text: string): string;
  /** Text that `visible` went over, its escapes in a style of their own. */
  strange(text: string): string;
  /** Aborts when nobody reads standard output any more. */
  readonly closed: AbortSignal;
  /** What standard output could not take, other than that nobody reads it. */
  fault(): Error | undefined;
};

const DEFAULT_COLUMNS = 80;
const FEWEST_COLUMNS = 40;

function isColourful(stream: Stream, environment: NodeJS.ProcessEnv): boolean {
  const refused = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  return stream.isTTY === true && !refused;
}

/** JSON whose every character can be seen, and which reads back as the same value. */
export function jsonText(value: unknown): string {
  return visibleJson(JSON.stringify(value));
}

function watchOutput(out: Stream): Pick<Terminal, "closed" | "fault"> {
  const closed = new AbortController();
  let fault: Error | undefined;
  out.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") fault ??= error;
    closed.abort();
  });
  return { closed: closed.signal, fault: () => fault };
}

export function createTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  const colourful = isColourful(stdout, env);
  const paint = (style: Style, text: string) =>
    colourful && text !== "" ? styleText(style, text, { validateStream: false }) : text;
  const watched = watchOutput(stdout);
  stderr.on("error", () => {});
  let isShown = false;
  const put = (text: string) => watched.closed.aborted || stdout.write(text);
  return {
    ...watched,
    interactive: stdout.isTTY === true,
    columns: Math.max(FEWEST_COLUMNS, stdout.columns ?? DEFAULT_COLUMNS),
    line: (text = "") => void put(`${text}\n`),
    json: (value) => void put(`${jsonText(value)}\n`),
    write: async (text) => {
      if (put(text) || watched.closed.aborted) return;
      await new Promise<void>((resolve) => {
        stdout.once("drain", resolve);
        watched.closed.addEventListener("abort", () => resolve(), { once: true });
      });
    },
    note: (text) => void stderr.write(`${text}\n`),
    progress: (text) => {
      if (stderr.isTTY && (text !== null || isShown)) stderr.write(`\r\u001b[2K${text ?? ""}`);
      isShown = text !== null;
    },
    paint,
    strange: (text) =>
      text.replace(ESCAPES, (found, backslash) =>
        backslash === undefined ? paint(["inverse"], found) : found,
      ),
  };
}
