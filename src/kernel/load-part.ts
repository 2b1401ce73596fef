/**
 * Loads a part of the program at its first use, so that `import "holdpoint"` loads what a gate needs. It loads
 * synchronously (Node's `require` of ES modules): a method checks and copies its input at the call, the first call too.
 */
import { createRequire } from "node:module";

/** `.ts` in the sources, `.js` in the package. */
const EXTENSION = import.meta.url.slice(-3);

/**
 * Give the URL of the calling module. The result takes the type and the path of a module: both name the same file, and the
 * build reads the type (`scripts/bundle.mjs`).
 */
export function partLoader(url: string): <Part>(path: string) => Part {
  const load: (path: string) => unknown = createRequire(url);
  return <Part>(path: string) => load(path.replace(/\.ts$/, EXTENSION)) as Part;
}

type Makers = { readonly [name: string]: () => unknown };
type Made<All extends Makers> = { readonly [Name in keyof All]: ReturnType<All[Name]> };

function lazyProperty(make: () => unknown): PropertyDescriptor {
  let made: { readonly value: unknown } | undefined;
  const get = () => {
    made ??= { value: make() };
    return made.value;
  };
  return { get, enumerable: true };
}

/** An object with the properties of `base`, and one per maker. A value is made when it is first read, and kept. */
export function withLazy<Base extends object, All extends Makers>(base: Base, makers: All): Base & Made<All> {
  const properties = Object.entries(makers).map(([name, make]) => [name, lazyProperty(make)]);
  return Object.defineProperties(base, Object.fromEntries(properties)) as Base & Made<All>;
}
