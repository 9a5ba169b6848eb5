import {
  Brain,
  ChartColumn,
  FileQuestion,
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

import { ApprovalsPage } from "./approvals/page";
import { Nowhere } from "./shell/nowhere";

export interface Page {
  /** What it is called in the address. */
  name: string;
  title: string;
  Icon: LucideIcon;
  Show: ComponentType;
}

/** All pages there are, in the order of the navigation. The first is there at once, the others when they are asked for. */
export const PAGES: Page[] = [
  { name: "approvals", title: "Approvals", Icon: Inbox, Show: ApprovalsPage },
  { name: "chat", title: "Chat", Icon: MessagesSquare, Show: lazy(() => import("./chat/page")) },
  { name: "activity", title: "Activity", Icon: ListChecks, Show: lazy(() => import("./activity/page")) },
  { name: "analytics", title: "Analytics", Icon: ChartColumn, Show: lazy(() => import("./analytics/page")) },
  { name: "policy", title: "Policy", Icon: Scale, Show: lazy(() => import("./policy/page")) },
  { name: "grants", title: "Grants", Icon: KeyRound, Show: lazy(() => import("./grants/page")) },
  { name: "machines", title: "Machines", Icon: MonitorSmartphone, Show: lazy(() => import("./machines/page")) },
  { name: "memory", title: "Memory", Icon: Brain, Show: lazy(() => import("./memory/page")) },
  { name: "skills", title: "Skills", Icon: GraduationCap, Show: lazy(() => import("./skills/page")) },
  { name: "settings", title: "Settings", Icon: Settings, Show: lazy(() => import("./settings/page")) },
];

const NOWHERE: Page = { name: "", title: "No such page", Icon: FileQuestion, Show: Nowhere };

export function pageOf(name: string): Page {
  return PAGES.find((one) => one.name === name) ?? NOWHERE;
}
