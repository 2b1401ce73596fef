/** What an action was proposed with: by this a person judges whether another verdict would be right. */
import { countText } from "../../format/amounts.ts";
import { jsonOf } from "../../format/json.ts";
import { Strange } from "../../ui/strange.tsx";
import { AnyValue } from "../../ui/values/value-view.tsx";
import type { Listed } from "./trial-figures.ts";

type Props = { readonly args: Listed["args"] };

export function ChangedArgs({ args }: Props) {
  if (args === null) return <p className="text-soft">They were erased, or are gone.</p>;
  const { text, characters } = args;
  if (text.length === characters) return <AnyValue value={jsonOf(JSON.parse(text))} />;
  return (
    <>
      <p className="text-soft">
        The first {countText(text.length)} of {countText(characters)} characters; the action's page has them
        all.
      </p>
      <Strange as="json" text={text} className="font-mono text-tiny break-all" />
    </>
  );
}
