/**
 * Loads a part of the program at its first use, so that `import "holdpoint"` loads what a gate needs. It loads
 * synchronously (Node's `require` of ES modules): a method checks and copies its input at the call, the first call too.
 */
import { createRequire } from "node:module";

/** `.ts` in the sources, `.js` in the package. */
const EXTENSION = import.meta.url.slice(-3);

/** Give `import.meta.url` of the caller. Its result takes the type and the path of a module: both name the same file. */
export function partLoader(url: string): <Part>(path: string) => Part {
  const load: (path: string) => unknown = createRequire(url);
  return <Part>(path: string) => load(path.replace(/\.ts$/, EXTENSION)) as Part;
}

/** The value is made at the first call, and is the same at every other. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
