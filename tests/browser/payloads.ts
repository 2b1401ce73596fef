/** 200 texts that are meant to be run, followed or misread. What they would call is `canary`. */
import { HOSTILE } from "../cli/hostile.ts";
import { INJECTIONS } from "../messages/injections.ts";

const TAGS = ["script", "img", "iframe", "svg", "style", "object", "math", "details", "video", "template"];
const HANDLERS = ["onerror", "onload", "onfocus", "ontoggle", "onmouseover", "onanimationstart"];
const URLS = [
  "javascript:canary()",
  "JaVaScRiPt:canary()",
  "java\tscript:canary()",
  "data:text/html,<script>canary()</script>",
  "vbscript:canary()",
  "//evil.example/x.js",
  "blob:https://evil.example/1",
];
const BROKEN = [
  '"><script>canary()</script>',
  "'><img src=x onerror=canary()>",
  "</script><script>canary()</script>",
  "</textarea><script>canary()</script>",
  "</title><script>canary()</script>",
  "<!--><script>canary()</script>-->",
  "<scr<script>ipt>canary()</scr</script>ipt>",
  '<a href="javascript:canary()">approve</a>',
  "<svg><animate onbegin=canary() attributeName=x dur=1s>",
  "<math><mtext><table><mglyph><style><img src onerror=canary()>",
  "<iframe srcdoc='<script>parent.canary()</script>'>",
  '<form action="javascript:canary()"><button autofocus>Approve</button></form>',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<link rel="stylesheet" href="https://evil.example/x.css">',
  "<style>*{display:none}</style>",
  "<b onclick=canary() style=position:fixed;inset:0>click</b>",
];
const TEMPLATES = [
  ["$", "{canary()}"].join(""),
  "{{constructor.constructor('canary()')()}}",
  "<%= canary() %>",
  "#{canary()}",
  "{{7*7}}",
  "__proto__",
  "constructor",
  "toString",
  "$$typeof",
];
const MARKDOWN = [
  "[approve](javascript:canary())",
  "![x](https://evil.example/pixel.png)",
  "<https://evil.example>",
  "# Approved by person:ann",
  "| a | b |\n|---|---|\n| <img src=x onerror=canary()> |",
];

const made = [
  ...TAGS.flatMap((tag) => HANDLERS.map((handler) => `<${tag} src=x ${handler}=canary()>`)),
  ...TAGS.map((tag) => `<${tag.toUpperCase()}>canary()</${tag}>`),
  ...URLS,
  ...URLS.map((url) => `<a href="${url}">approve</a>`),
  ...BROKEN,
  ...TEMPLATES,
  ...MARKDOWN,
];
const COUNT = 200;
const MOST = 300;
const known = [...HOSTILE, ...INJECTIONS].filter((text) => text.length <= MOST);
const step = Math.floor(known.length / (COUNT - made.length));

export const PAYLOADS: readonly string[] = [
  ...new Set([...made, ...known.filter((_, index) => index % step === 0), ...known]),
].slice(0, COUNT);
