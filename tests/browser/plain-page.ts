/** Whether a page is nothing but the desk's own: no element, handler, address or hidden character of anybody else. */
import type { BrowserContext, Page } from "playwright-core";
import { FORBIDDEN } from "../cli/hostile.ts";

/** Whoever manages to run anything is counted. */
const CANARY = `
globalThis.called = [];
for (const name of ["canary", "alert", "confirm", "prompt", "print"]) globalThis[name] = () => void called.push(name);
`;
export const bringCanary = (context: BrowserContext): Promise<void> =>
  context.addInitScript({ content: CANARY }).then(() => undefined);

const FOREIGN =
  "script,iframe,object,embed,style,link,meta,base,video,audio,math,template,marquee,img,frame,applet,portal,animate,mglyph,b,font";
const NAMES = ["title", "aria-label", "placeholder", "alt"];

const LOOK = `(() => {
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    if (element.matches(${JSON.stringify(FOREIGN)})) found.push("an element of theirs: " + element.outerHTML.slice(0, 120));
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on")) found.push("a handler: " + element.outerHTML.slice(0, 120));
      if (["href", "src", "action", "formaction", "xlink:href", "srcdoc"].includes(name) && !/^(\\/(?!\\/)|#|\\?)/.test(value))
        found.push("an address: " + value.slice(0, 120));
    }
  }
  const names = [...document.body.querySelectorAll("*")].flatMap((element) => ${JSON.stringify(NAMES)}.map((name) => element.getAttribute(name) ?? ""));
  return { found, called: globalThis.called, text: document.body.innerText, names: names.filter((name) => name !== "") };
})()`;

type Seen = {
  readonly found: readonly string[];
  readonly called: readonly string[];
  readonly text: string;
  readonly names: readonly string[];
};

/** The text of the page, and whatever is wrong with it. */
export async function readPlain(
  page: Page,
): Promise<{ readonly text: string; readonly wrong: readonly string[] }> {
  const { found, called, text, names } = (await page.evaluate(LOOK)) as Seen;
  const hidden = [text.replaceAll("\n", " "), ...names]
    .map((one) => FORBIDDEN.exec(one.replaceAll("\t", " ")))
    .filter((match) => match !== null)
    .map(({ input, index }) => `hidden: ${JSON.stringify(input.slice(Math.max(0, index - 20), index + 20))}`);
  return { text, wrong: [...new Set([...found, ...called.map((name) => `called: ${name}`), ...hidden])] };
}
