import { ShieldCheck, ShieldOff } from "lucide-react";

import type { RecordView, Profile, Wall } from "../api/types";
import { visible } from "../words/visible";

const WALLS: Record<Wall, string> = {
  namespaces: "Own view of files, processes and network",
  seccomp: "Dangerous system calls were blocked",
  limits: "Memory, processes and time were limited",
  landlock: "The kernel allowed writes only in permitted folders",
  overlay: "It ran on a copy of the workspace, which was discarded",
};
const PROFILES: Record<Profile, string> = {
  read: "read only",
  write: "can write to the workspace",
  net: "can write, and reach the approved hosts",
};

interface Box {
  profile?: string;
  walls?: unknown[];
}

/** The sandbox layers of a command. Each was tested on the machine before. */
export function BoxLayers({ call }: { call: RecordView }) {
  const box = call.result?.["box"] as Box | undefined;
  if (!box) {
    return (
      <p className="flex gap-2 text-soft">
        <ShieldOff size={16} className="mt-0.5 shrink-0" aria-hidden />
        {whyNoBox(call)}
      </p>
    );
  }
  const walls = (box.walls ?? []).map(String);
  return (
    <>
      <p>
        Sandbox: <span className="font-medium">{PROFILES[box.profile as Profile] ?? visible(String(box.profile))}</span>
      </p>
      <ul className="mt-1.5 space-y-1">
        {walls.map((wall) => (
          <li key={wall} className="flex gap-2">
            <ShieldCheck size={16} className="mt-0.5 shrink-0 text-low" aria-hidden />
            <span>
              <span className="font-mono text-[13px]">{visible(wall)}</span>
              <span className="text-soft"> · {WALLS[wall as Wall] ?? ""}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function whyNoBox(call: RecordView): string {
  if (!call.started_at) return "Did not run.";
  if (call.result_removed_at) return "This was part of the deleted result. The audit log still has it.";
  return "Ran without a sandbox: this tool starts no program, or its machine has no sandbox.";
}
