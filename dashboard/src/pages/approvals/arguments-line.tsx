/** The beginning of the arguments, on one line. */
import { piecesOf } from "../../format/arguments-line.ts";
import { LookAlike } from "../../ui/look-alike.tsx";
import { Strange } from "../../ui/strange.tsx";

const MOST = 8;

const Value = ({ text }: { readonly text: string }) => (
  <Strange text={text} isProse className="whitespace-nowrap text-ink" />
);

export function ArgumentsLine({ args }: { readonly args: string }) {
  const pieces = piecesOf(args);
  if (pieces === undefined) return <Value text={args} />;
  if (pieces.length === 0) return <span className="text-faint">no arguments</span>;
  return pieces.slice(0, MOST).map(({ name, value }) => (
    <span key={name} className="mr-3">
      <Strange text={name} className="whitespace-nowrap text-faint" />
      <LookAlike name={name} />: <Value text={value} />
    </span>
  ));
}
