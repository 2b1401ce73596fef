/** A value as a readable form or as exact JSON, whichever one wants to read. */
import { type ReactNode, useState } from "react";
import type { Json } from "../../format/json.ts";
import { Panel } from "../panel.tsx";
import { ExactJson } from "./exact-json.tsx";
import { AnyValue } from "./value-view.tsx";
import { type Way, WaySwitch } from "./way-switch.tsx";

type Props = { readonly title: ReactNode; readonly value: Json; readonly lead?: ReactNode };

export function ValuePanel({ title, value, lead }: Props) {
  const [way, setWay] = useState<Way>("form");
  return (
    <Panel title={title} aside={<WaySwitch way={way} onChange={setWay} />}>
      {lead}
      {way === "json" ? (
        <ExactJson value={value} label={`${title}, exact JSON`} />
      ) : (
        <AnyValue value={value} />
      )}
    </Panel>
  );
}
