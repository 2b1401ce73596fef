/**
 * Where a browser uses a link. What follows the # stays in the browser: no server's log and no proxy gets to see it. `to`: the page
 * of the desk to go to then; its first one unless said.
 */
export function loginAddress(base: string, text: string, to?: string): string {
  const next = to === undefined ? "" : `?to=${encodeURIComponent(to)}`;
  return `${base.replace(/\/+$/, "")}/login${next}#${text}`;
}
