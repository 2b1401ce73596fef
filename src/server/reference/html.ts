/** HTML that cannot hold anything but what was meant: every value is text until it is marked as markup. */
export type Markup = { readonly html: string };

const ESCAPED: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (one) => ESCAPED[one] ?? "");

type Part = Markup | string | number | null | readonly Part[];

function htmlOf(part: Part): string {
  if (part === null) return "";
  if (typeof part === "object" && "html" in part) return part.html;
  return typeof part === "object" ? part.map(htmlOf).join("") : escaped(String(part));
}

export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { html: texts.map((text, index) => text + htmlOf(parts[index] ?? null)).join("") };
}
