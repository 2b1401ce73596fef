/** An endpoint as it is typed and as it is sent. */
import type { InputOf } from "holdpoint/client";

export type EndpointOffer = Omit<InputOf<"POST /api/endpoints">, "by">;
export type EndpointForm = {
  readonly kind: "webhook" | "mail";
  readonly name: string;
  readonly url: string;
  readonly to: string;
  readonly events: string;
};
export const BLANK_ENDPOINT: EndpointForm = { kind: "webhook", name: "", url: "", to: "", events: "" };

/** Names with commas, spaces or line breaks between them. */
const namesIn = (typed: string): string[] => typed.split(/[\s,]+/).filter((name) => name !== "");

/** Null while nobody would be told. */
export function endpointOfferOf({ kind, name, url, to, events }: EndpointForm): EndpointOffer | null {
  const target = kind === "webhook" ? { url: url.trim() } : { to: namesIn(to) };
  if (("url" in target ? target.url : target.to).length === 0) return null;
  const types = namesIn(events);
  return {
    ...target,
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...(types.length === 0 ? {} : { events: types }),
  };
}
