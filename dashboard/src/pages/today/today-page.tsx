import { Page } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";

export function TodayPage() {
  return (
    <Page title="Today">
      <Loading />
    </Page>
  );
}
