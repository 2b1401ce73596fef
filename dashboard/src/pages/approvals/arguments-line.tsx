/** The beginning of the arguments on one line. */
import { piecesOf } from "../../format/arguments-line.ts";
import { Strange } from "../../ui/strange.tsx";

const MOST = 8;

export function ArgumentsLine({ args }: { readonly args: string }) {
  const pieces = piecesOf(args);
  if (pieces === undefined) return <Strange text={args} className="whitespace-nowrap" />;
  if (pieces.length === 0) return <span className="text-faint">no arguments</span>;
  return pieces.slice(0, MOST).map(({ name, value }) => (
    <span key={name} className="mr-3">
      <Strange text={name} className="whitespace-nowrap text-faint" />{" "}
      <Strange text={value} className="whitespace-nowrap text-ink" />
    </span>
  ));
}
