/** Where a browser uses a link. What follows the # stays in the browser: no server's log and no proxy gets to see it. */
export function loginAddress(base: string, text: string): string {
  return `${base.replace(/\/+$/, "")}/login#${text}`;
}
