/** Pages that are loaded when they are gone to. One that cannot be had says so in its place; the desk around it stays. */
import { lazyRouteComponent } from "@tanstack/react-router";

const WORDS =
  "This page could not be loaded: the server does not answer, or another version runs there by now.";

export class PageNotLoaded extends Error {
  override readonly name = "PageNotLoaded";
}

type Module<Name extends string> = { readonly [name in Name]: () => React.ReactNode };

export function notLoaded(cause: unknown): never {
  throw new PageNotLoaded(WORDS, { cause });
}

/** Under another name than the browser's: for that one the router would load the whole window anew, into nothing. */
export function lazyPage<Name extends string>(load: () => Promise<Module<Name>>, name: Name) {
  return lazyRouteComponent(() => load().catch(notLoaded), name);
}
