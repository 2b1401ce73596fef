import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function InDoubtPage() {
  return (
    <Page title="In doubt">
      <Loading />
    </Page>
  );
}
