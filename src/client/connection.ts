/** Where the server is, who is asking, and what of the platform is used. */

/**
 * An API key; or, in a page of the server's own, the token that `session.get()` answers: the browser sends the cookie by
 * itself. `cookie` is for programs that log in by a link.
 */
export type Credential = { readonly key: string } | { readonly csrfToken: string; readonly cookie?: string };

export type ClientOptions = {
  /** Such as `https://holdpoint.example`. */
  readonly server: string;
  readonly credential?: Credential | (() => Credential | undefined);
  /** The platform's unless set. */
  readonly fetch?: typeof fetch;
  /** How long one answer may take; 30 unless set. */
  readonly timeoutSeconds?: number;
  /** How often a request is sent again where that is safe; 4 unless set. */
  readonly retries?: number;
  /** Resolves after so many milliseconds, or when the signal aborts; for tests. */
  readonly pause?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1; for tests. */
  readonly random?: () => number;
};

export type Connection = {
  readonly server: string;
  readonly credential: () => Credential | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
};

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}

function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError(`"${text}" is not an address such as https://holdpoint.example.`);
  if (url.username !== "" || url.password !== "")
    throw new TypeError("The address holds a name or a password: give a key as the credential instead.");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

export function connect(options: ClientOptions): Connection {
  const { credential, timeoutSeconds = 30, retries = 4, pause = sleep, random = Math.random } = options;
  const given = options.fetch;
  return {
    server: addressOf(options.server),
    credential: typeof credential === "function" ? credential : () => credential,
    // Called as a function of nothing: browsers refuse it as a method of something else.
    fetch: given ?? ((input, init) => fetch(input, init)),
    timeoutMs: timeoutSeconds * 1_000,
    retries,
    pause,
    random,
  };
}

export function credentialHeaders({ credential }: Connection): Record<string, string> {
  const shown = credential();
  if (shown === undefined) return {};
  if ("key" in shown) return { authorization: `Bearer ${shown.key}` };
  const cookie = shown.cookie === undefined ? {} : { cookie: shown.cookie };
  return { "x-csrf-token": shown.csrfToken, ...cookie };
}
