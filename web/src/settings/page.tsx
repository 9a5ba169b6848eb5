import { KeysList } from "../approvals/keys-list";
import { Page } from "../ui/page";
import { BudgetPart } from "./budget";
import { NotificationsPart } from "./notifications";
import { Part } from "./part";
import { ProjectPart } from "./project";
import { SignOutPart } from "./sign-out";
import { ThemePart } from "./theme";

/** What this browser does for this person; what Handrail itself does is set on its own machine. */
export default function SettingsPage() {
  return (
    <Page title="Settings" about="How these pages look and behave in this browser.">
      <div className="max-w-2xl space-y-4">
        <ThemePart />
        <NotificationsPart />
        <ProjectPart />
        <BudgetPart />
        <Part title="Keys">
          <KeysList />
        </Part>
        <SignOutPart />
      </div>
    </Page>
  );
}
