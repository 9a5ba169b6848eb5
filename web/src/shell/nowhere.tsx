import { FileQuestion, Lock } from "lucide-react";
import type { ReactNode } from "react";

import { Link } from "../router";
import { Empty } from "../ui/empty";

export function Nowhere() {
  return <WayBack icon={<FileQuestion size={20} />} title="There is no such page" />;
}

/** Shown to an approver at the address of a page that is not for approvers. */
export function OwnersPage() {
  return (
    <WayBack icon={<Lock size={20} />} title="Only the owner of the project sees this page">
      You are signed in as an approver: you can answer requests, see Activity, and stop runs.
    </WayBack>
  );
}

function WayBack({ icon, title, children }: { icon: ReactNode; title: string; children?: ReactNode }) {
  return (
    <main className="h-full">
      <Empty icon={icon} title={title}>
        {children && <p className="mb-4">{children}</p>}
        <Link href="/approvals" className="text-accent underline underline-offset-2">
          Show open requests
        </Link>
      </Empty>
    </main>
  );
}
