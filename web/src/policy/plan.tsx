import type { ReactNode } from "react";

import type { PlanView, Profile } from "../api/types";
import { Tag } from "../ui/tag";
import { quoted } from "../words/quoted";
import { visible } from "../words/visible";

const BOXES: Record<Profile, string> = {
  read: "can only read",
  write: "can change the workspace",
  net: "can reach named hosts",
};

/** What would really happen: each command with its box, the files, the hosts. */
export function Plan({ plan }: { plan: PlanView }) {
  if (plan.argv.length + plan.paths.length + plan.hosts.length === 0) return null;
  return (
    <dl aria-label="Plan" className="grid gap-x-3 gap-y-1.5 rounded-md border border-line bg-bg p-3 font-mono text-[12.5px] sm:grid-cols-[4rem_minmax(0,1fr)]">
      {plan.argv.map((argv, index) => (
        <Line key={index} name="runs">
          <span className="min-w-0">
            <span className="text-accent">{visible(quoted(argv[0] ?? ""))}</span> {visible(argv.slice(1).map(quoted).join(" "))}
          </span>
          {plan.profiles[index] && <Tag>{BOXES[plan.profiles[index]]}</Tag>}
        </Line>
      ))}
      {plan.paths.map((path) => (
        <Line key={path} name="file">
          {visible(path)}
        </Line>
      ))}
      {plan.hosts.map((host) => (
        <Line key={host} name="host">
          {visible(host)}
        </Line>
      ))}
    </dl>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft max-sm:text-xs">{name}</dt>
      <dd className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 font-medium [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
