/** What is wrong with a policy's text, and where. */
import { several } from "../../format/amounts.ts";
import { classes } from "../../ui/classes.ts";
import { Icon } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { shortDigest } from "./policy-groups.ts";
import type { Check } from "./policy-queries.ts";

type Remark = Check["remarks"][number];

function RemarkRow({ remark, onGo }: { readonly remark: Remark; readonly onGo: (remark: Remark) => void }) {
  const { severity, line, column, message } = remark;
  return (
    <li className="flex items-start gap-2 text-small">
      <Icon
        name={severity === "fault" ? "cross" : "warn"}
        className={classes("mt-0.5 size-4", severity === "fault" ? "text-stop" : "text-hold")}
      />
      <span className="min-w-0">
        <span className="sr-only">{severity}: </span>
        <Strange text={message} />{" "}
        {line === null ? null : (
          <button type="button" onClick={() => onGo(remark)} className="whitespace-nowrap underline">
            line {line}
            {column === null ? "" : `, column ${column}`}
          </button>
        )}
      </span>
    </li>
  );
}

type Props = {
  readonly id: string;
  readonly check: Check | undefined;
  readonly isEmpty: boolean;
  readonly onGo: (remark: Remark) => void;
};

function headline(check: Check): string {
  const faults = check.remarks.filter(({ severity }) => severity === "fault").length;
  const warnings = check.remarks.length - faults;
  if (faults > 0) return `${several(faults, "fault")}: this would not be put in force.`;
  return warnings > 0 ? `In order, with ${several(warnings, "warning")}.` : "In order.";
}

export function Remarks({ id, check, isEmpty, onGo }: Props) {
  if (isEmpty || check === undefined)
    return (
      <p id={id} className="text-small text-soft">
        {isEmpty ? "It is checked as you type." : "Checking …"}
      </p>
    );
  return (
    <div id={id} role="status" className="flex flex-col gap-2">
      <p className="text-small">
        <span className="font-semibold">{headline(check)}</span>
        {check.name === null ? null : (
          <span className="text-soft">
            {" "}
            <Strange text={check.name} />
            {check.digest === null ? null : <code className="font-mono"> {shortDigest(check.digest)}</code>}
          </span>
        )}
      </p>
      <ul className="flex max-h-60 flex-col gap-1.5 overflow-y-auto">
        {check.remarks.map((remark) => (
          <RemarkRow key={`${remark.line}:${remark.column}:${remark.message}`} remark={remark} onGo={onGo} />
        ))}
      </ul>
      {check.is_all ? null : (
        <p className="text-small text-soft">There may be more behind what is wrong: mend this first.</p>
      )}
      {check.unchecked.length === 0 ? null : (
        <p className="text-small text-soft">
          Arguments were not checked, since no schema is known, of:{" "}
          <Strange text={check.unchecked.join(", ")} />
        </p>
      )}
    </div>
  );
}
