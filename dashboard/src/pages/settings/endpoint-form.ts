/** An endpoint as it is typed and as it is sent. */
import type { InputOf } from "holdpoint/client";
import type { Endpoint } from "./message-queries.ts";

export type EndpointOffer = Omit<InputOf<"POST /api/endpoints">, "by">;
export type EndpointChange = Omit<InputOf<"PATCH /api/endpoints/{id}">, "by">;
export type EndpointForm = {
  readonly kind: Endpoint["target"]["kind"];
  readonly name: string;
  readonly url: string;
  readonly to: string;
  readonly events: string;
  readonly owner: string;
};
export const BLANK_ENDPOINT: EndpointForm = {
  ...{ kind: "webhook", name: "", url: "", to: "", events: "", owner: "" },
};

/** Where it goes, in words: the address of a chat is a secret, so only its host is known. */
export function targetText(target: Endpoint["target"]): string {
  if (target.kind === "mail") return target.to.join(", ");
  return "url" in target ? target.url : target.host;
}

export function endpointFormOf({ target, name, events, owner }: Endpoint): EndpointForm {
  const url = "url" in target ? target.url : "";
  const to = "to" in target ? target.to.join(", ") : "";
  return { kind: target.kind, name, url, to, events: events.join(", "), owner };
}

/** Names with commas, spaces or line breaks between them. */
const namesIn = (typed: string): string[] => typed.split(/[\s,]+/).filter((name) => name !== "");

/** What is left empty is not sent. An address goes with the kind that was chosen. */
function saidIn({ kind, name, url, to, events, owner }: EndpointForm): EndpointChange {
  const address = { url: url.trim(), kind: url.trim() === "" ? "" : kind };
  const said = {
    ...(kind === "mail" ? { to: namesIn(to) } : address),
    ...{ name: name.trim(), events: namesIn(events), owner: owner.trim() },
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value.length > 0));
}

/** Null while nobody would be told. */
export function endpointOfferOf(form: EndpointForm): EndpointOffer | null {
  const offer = saidIn(form);
  return offer.url === undefined && offer.to === undefined ? null : offer;
}

/** Only what is different: the rest may have been changed by somebody else meanwhile. Null where nothing is. */
export function endpointChangeOf(form: EndpointForm, before: EndpointForm): EndpointChange | null {
  const was = new Map(Object.entries(saidIn(before)));
  const changed = Object.entries(saidIn(form)).filter(
    ([field, value]) => String(value) !== String(was.get(field)),
  );
  return changed.length === 0 ? null : Object.fromEntries(changed);
}
