/** Whether what is on the page is what stands: always in sight. */
import type { Connection } from "../live/one-stream.ts";
import { useConnection } from "../live/use-connection.ts";

const WORDS: { readonly [state in Connection]: readonly [string, string, string] } = {
  connecting: ["Connecting", "bg-hold", "what is shown may be a moment old"],
  live: ["Live", "bg-go", "changes appear as they happen"],
  lost: ["Reconnecting", "bg-stop", "the connection was lost; what is shown may be old"],
  refused: ["Not live", "bg-stop", "the server gives no live events; what is shown may be old"],
};

export function ConnectionState() {
  const state = useConnection();
  const [word, colour, meaning] = WORDS[state];
  return (
    <p
      role="status"
      title={meaning}
      data-connection={state}
      className="flex items-center gap-2 text-small text-soft"
    >
      <span aria-hidden="true" className={`size-2 rounded-full ${colour}`} />
      {word}
      <span className="sr-only">: {meaning}</span>
    </p>
  );
}
