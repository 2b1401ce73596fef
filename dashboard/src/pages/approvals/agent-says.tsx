/** Everything that the agent says of it, apart from what will run and marked as its own words. */

import { Icon } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { Foldable } from "../../ui/values/foldable.tsx";
import { personName } from "./words.ts";

type Props = { readonly agent: string; readonly says: string | null; readonly verb?: "says" | "asks" };

export function AgentSays({ agent, says, verb = "says" }: Props) {
  if (says === null || says.trim() === "") return null;
  return (
    <section
      aria-labelledby="agent-says"
      className="rounded-large border-2 border-dashed border-edge bg-ground px-4 py-3 sm:px-5"
    >
      <h2 id="agent-says" className="flex flex-wrap items-center gap-2 text-small font-semibold text-soft">
        <Icon name="agent" className="size-4" />
        <span>
          <Strange text={personName(agent)} /> {verb}
        </span>
        <span className="rounded-small bg-hold-wash px-1.5 py-0.5 text-tiny text-hold">
          its own words, not checked
        </span>
      </h2>
      <blockquote className="mt-2 border-l-2 border-edge pl-3">
        <Foldable text={says}>{(shown) => <Strange text={shown} as="lines" />}</Foldable>
      </blockquote>
    </section>
  );
}
