/** Under a box: what stands in it and cannot be seen there. */
import { hasUnseen } from "../../format/box-text.ts";
import { Strange } from "../strange.tsx";
import { Foldable } from "../values/foldable.tsx";

export function Unseen({ text }: { readonly text: string }) {
  if (!hasUnseen(text)) return null;
  return (
    <div className="mt-1 rounded-base bg-hold-wash px-3 py-2 text-small">
      <p className="text-hold">Letter by letter, with what cannot be seen written out, between quotes:</p>
      <Foldable text={text}>
        {(shown) => (
          <p>
            “<Strange text={shown} as="lines" isProse={false} />”
          </p>
        )}
      </Foldable>
    </div>
  );
}
