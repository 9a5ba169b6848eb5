import {
  Brain,
  ChartColumn,
  FileQuestion,
  FileStack,
  GraduationCap,
  Inbox,
  KeyRound,
  ListChecks,
  MessagesSquare,
  MonitorSmartphone,
  Scale,
  Settings,
  type LucideIcon,
} from "lucide-react";
import { lazy, type ComponentType } from "react";

import { useSession } from "./api/session";
import { ApprovalsPage } from "./approvals/page";
import { usePlace } from "./router";
import { Nowhere, OwnersPage } from "./shell/nowhere";

export interface Page {
  /** What it is called in the address. */
  name: string;
  title: string;
  Icon: LucideIcon;
  Show: ComponentType;
  /** Whether approvers see it too, and not only the owner of the project. */
  forApprovers?: boolean;
}

const AGAIN_MS = 1_000;

function answers(): Promise<boolean> {
  return fetch("/health", { cache: "no-store" }).then(
    () => true,
    () => false,
  );
}

/** A page that is fetched when it is first asked for; where the server is away, as soon as it is back. */
function fetched(load: () => Promise<{ default: ComponentType }>): ComponentType {
  return lazy(async () => {
    try {
      return await load();
    } catch (error) {
      if (await answers()) throw error;
      while (!(await answers())) await new Promise((resolve) => window.setTimeout(resolve, AGAIN_MS));
      // A browser does not fetch a second time what it could not fetch once.
      location.reload();
      return new Promise<never>(() => {});
    }
  });
}

/** All pages there are, in the order of the navigation. The first is there at once, the others when they are asked for. */
const PAGES: Page[] = [
  { name: "approvals", title: "Approvals", Icon: Inbox, Show: ApprovalsPage, forApprovers: true },
  { name: "chat", title: "Chat", Icon: MessagesSquare, Show: fetched(() => import("./chat/page")) },
  { name: "drafts", title: "Drafts", Icon: FileStack, Show: fetched(() => import("./drafts/page")) },
  { name: "activity", title: "Activity", Icon: ListChecks, Show: fetched(() => import("./activity/page")), forApprovers: true },
  { name: "analytics", title: "Analytics", Icon: ChartColumn, Show: fetched(() => import("./analytics/page")) },
  { name: "policy", title: "Policy", Icon: Scale, Show: fetched(() => import("./policy/page")) },
  { name: "grants", title: "Grants", Icon: KeyRound, Show: fetched(() => import("./grants/page")) },
  { name: "machines", title: "Machines", Icon: MonitorSmartphone, Show: fetched(() => import("./machines/page")) },
  { name: "memory", title: "Memory", Icon: Brain, Show: fetched(() => import("./memory/page")) },
  { name: "skills", title: "Skills", Icon: GraduationCap, Show: fetched(() => import("./skills/page")) },
  { name: "settings", title: "Settings", Icon: Settings, Show: fetched(() => import("./settings/page")), forApprovers: true },
];

const NOWHERE: Page = { name: "", title: "No such page", Icon: FileQuestion, Show: Nowhere };

/** The pages that a person may open. */
export function usePages(): Page[] {
  const isOwner = useSession().role === "user";
  return PAGES.filter((one) => isOwner || one.forApprovers);
}

/** The page at this address. */
export function usePage(): Page {
  const { page } = usePlace();
  const allowed = usePages();
  const found = PAGES.find((one) => one.name === page) ?? NOWHERE;
  return found === NOWHERE || allowed.includes(found) ? found : { ...found, Show: OwnersPage };
}
