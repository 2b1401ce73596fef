/** The same as a `ValuePanel`, for a value that is a part of something. */
import { type ReactNode, useState } from "react";
import { jsonOf } from "../../format/json.ts";
import { ExactJson } from "./exact-json.tsx";
import { AnyValue } from "./value-view.tsx";
import { type Way, WaySwitch } from "./way-switch.tsx";

type Props = { readonly heading: ReactNode; readonly value: unknown; readonly label: string };

export function ValueBlock({ heading, value, label }: Props) {
  const [way, setWay] = useState<Way>("form");
  const shown = jsonOf(value);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <div className="min-w-0 text-small">{heading}</div>
        <WaySwitch way={way} onChange={setWay} />
      </div>
      {way === "json" ? (
        <ExactJson value={shown} label={`${label}, exact JSON`} />
      ) : (
        <AnyValue value={shown} />
      )}
    </div>
  );
}
