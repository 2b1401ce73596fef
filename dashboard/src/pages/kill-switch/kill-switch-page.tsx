import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function KillSwitchPage() {
  return (
    <Page title="Kill switch">
      <Loading />
    </Page>
  );
}
