/** Server-sent events out of the bytes of an answer. */

export type SentEvent = {
  /** The last id that was sent, with this event or before it. */
  readonly id: string;
  readonly type: string;
  /** Empty where only the id moved on. */
  readonly data: string;
};

type Block = { type: string; data: string[]; moved: boolean };
const emptyBlock = (): Block => ({ type: "", data: [], moved: false });

/** Lines end with \n, \r\n or \r; one that is not ended yet stays in `rest`. */
function linesOf(text: string): { readonly lines: readonly string[]; readonly rest: string } {
  // A \r at the end may be half of a \r\n.
  const isHalf = text.endsWith("\r");
  const parts = (isHalf ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
  const rest = parts.pop() ?? "";
  return { lines: parts, rest: isHalf ? `${rest}\r` : rest };
}

/** `took` is told how long the server wants whoever comes back to wait. */
export function createEventParser(took: (retryMs: number) => void) {
  let rest = "";
  let id = "";
  let block = emptyBlock();

  function field(name: string, value: string): void {
    if (name === "data") block.data.push(value);
    else if (name === "event") block.type = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) took(Number(value));
    else if (name === "id" && !value.includes("\0")) {
      id = value;
      block.moved = true;
    }
  }

  function line(text: string): SentEvent | undefined {
    if (text !== "") {
      const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(text) ?? [];
      if (name !== "") field(name, value);
      return undefined;
    }
    const { type, data, moved } = block;
    block = emptyBlock();
    if (data.length === 0 && !moved) return undefined;
    return { id, type: type === "" ? "message" : type, data: data.join("\n") };
  }

  return (text: string): readonly SentEvent[] => {
    const read = linesOf(rest + text);
    rest = read.rest;
    return read.lines.flatMap((one) => line(one) ?? []);
  };
}
