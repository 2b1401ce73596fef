/** A part of a page that is loaded when it is needed. One that cannot be had is tried once more, and then says so as a page does. */
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { notLoaded } from "./lazy-page.ts";

const AGAIN_MS = 500;
const pause = () => new Promise((resolve) => window.setTimeout(resolve, AGAIN_MS));

export function lazyPart<Props>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    const part = await load()
      .catch(() => pause().then(load))
      .catch(notLoaded);
    return { default: part };
  });
}
