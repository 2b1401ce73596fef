/** Another key that may do the same, while the old one works a little longer. */
import { useState } from "react";
import type { Key } from "../../api/agents.ts";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { SPANS } from "../../format/spans.ts";
import type { Dialogue } from "../../ui/dialog-button.tsx";
import { Choice } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";

type Props = Dialogue & { readonly of: Key };

const OVERLAPS: readonly (readonly [number, string])[] = [
  [0, "not at all"],
  [3_600, "1 hour"],
  [86_400, "1 day"],
  [604_800, "7 days"],
];
const SAME = "same";
const ALWAYS = "always";

function lifeOf(life: string): { readonly for_seconds?: number | null } {
  if (life === SAME) return {};
  return { for_seconds: life === ALWAYS ? null : Number(life) };
}

export function RotateKey({ of, onShow, onClose }: Props) {
  const session = useSession();
  const [overlap, setOverlap] = useState(3_600);
  const [life, setLife] = useState(SAME);
  const deed = useDeed({
    does: () =>
      client.keys.rotate(of.key_id, { overlap_seconds: overlap, ...lifeOf(life), ...byOf(session) }),
    touches: "keys",
    onDone: ({ text }) =>
      onShow({
        label: "The new key",
        text,
        note: "Put it where the old one is used, before that one ends.",
      }),
  });
  return (
    <Form deed={deed} submit="Make the new key" onSubmit={() => deed.run(undefined)} onCancel={onClose}>
      <Choice
        label="The old one still works"
        value={overlap}
        onChange={(event) => setOverlap(Number(event.target.value))}
      >
        {OVERLAPS.map(([seconds, words]) => (
          <option key={seconds} value={seconds}>
            {words}
          </option>
        ))}
      </Choice>
      <Choice label="The new one works" value={life} onChange={(event) => setLife(event.target.value)}>
        <option value={SAME}>as long as the old one was to</option>
        <option value={ALWAYS}>until it is revoked</option>
        {SPANS.map(({ seconds, words }) => (
          <option key={seconds} value={seconds}>
            {words}
          </option>
        ))}
      </Choice>
    </Form>
  );
}
