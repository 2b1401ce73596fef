import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function AgentsPage() {
  return (
    <Page title="Agents and keys">
      <Loading />
    </Page>
  );
}
