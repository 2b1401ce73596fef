/** Stops everything, or one agent, service or workflow; and lets it go on. */
import { useQuery } from "@tanstack/react-query";
import { switchQuery } from "../../api/switch.ts";
import { Asked } from "../../ui/asked.tsx";
import { Page } from "../../ui/page.tsx";
import { OneSwitch, OtherSwitches } from "./other-switches.tsx";
import { StopAll } from "./stop-all.tsx";
import { SwitchHistory } from "./switch-history.tsx";

export function KillSwitchPage() {
  return (
    <Page title="Kill switch" lead="Stops new effects. It takes nothing back, and loses nothing.">
      <Asked query={useQuery(switchQuery)}>{(state) => <StopAll state={state} />}</Asked>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <OtherSwitches />
        <OneSwitch />
      </div>
      <SwitchHistory />
    </Page>
  );
}
