import { useSession } from "../api/session";
import { KeysList } from "../approvals/keys-list";
import { Page } from "../ui/page";
import { AutonomyPart } from "./autonomy";
import { BudgetPart } from "./budget";
import { NotificationsPart } from "./notifications";
import { Part } from "./part";
import { ProjectPart } from "./project";
import { SignOutPart } from "./sign-out";
import { ThemePart } from "./theme";

/** Settings of this browser and of the project. Handrail itself is configured on its own machine. */
export default function SettingsPage() {
  const { role } = useSession();
  return (
    <Page title="Settings" about="This browser, and what agents of this project may do. Handrail itself is configured with the handrail command.">
      <div className="max-w-2xl space-y-4">
        <ThemePart />
        <NotificationsPart />
        <ProjectPart />
        {role === "user" && <AutonomyPart />}
        {role === "user" && <BudgetPart />}
        <Part title="Keys">
          <KeysList />
        </Part>
        <SignOutPart />
      </div>
    </Page>
  );
}
