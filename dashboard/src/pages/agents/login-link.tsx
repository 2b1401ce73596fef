/** A link by which somebody logs in, once. */
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { momentText } from "../../format/times.ts";
import type { Dialogue } from "../../ui/dialog-button.tsx";
import { Choice } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";

type Props = Dialogue & { readonly person: string };

const LIVES: readonly (readonly [number, string])[] = [
  [600, "10 minutes"],
  [3_600, "1 hour"],
  [86_400, "1 day"],
];

export function LoginLink({ person, onShow, onClose }: Props) {
  const session = useSession();
  const [seconds, setSeconds] = useState(600);
  const deed = useDeed({
    does: () => client.people.loginLink(person, { for_seconds: seconds, ...byOf(session) }),
    onDone: ({ link, expires_at }) =>
      onShow({
        label: `Opens a session for ${person}`,
        text: `${window.location.origin}/login#${link}`,
        note: `It works once, until ${momentText(expires_at)}. Whoever opens it is logged in as them: send it to nobody else.`,
      }),
  });
  return (
    <Form deed={deed} submit="Make the link" onSubmit={() => deed.run(undefined)} onCancel={onClose}>
      <p className="text-soft">
        Only an admin makes one. The journal says who made it, and which session came of it.
      </p>
      <Choice label="Works for" value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
        {LIVES.map(([life, words]) => (
          <option key={life} value={life}>
            {words}
          </option>
        ))}
      </Choice>
    </Form>
  );
}
