import { ShieldCheck, ShieldOff } from "lucide-react";

import type { RecordView, Profile, Wall } from "../api/types";
import { visible } from "../words/visible";

const WALLS: Record<Wall, string> = {
  namespaces: "It saw files, processes and a network of its own",
  seccomp: "It could ask the kernel only for what commands need",
  limits: "Its memory, processes and time were bounded",
  landlock: "It could write only where it was let",
};
const PROFILES: Record<Profile, string> = {
  read: "read only",
  write: "writes to the workspace",
  net: "writes, and reaches the hosts that were let",
};

interface Box {
  profile?: string;
  walls?: unknown[];
}

/** What kept a command in while it ran; each wall was proven on its machine before. */
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
        Box: <span className="font-medium">{PROFILES[box.profile as Profile] ?? visible(String(box.profile))}</span>
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
  if (!call.started_at) return "It has not run.";
  if (call.result_removed_at) return "This was part of the result, which is no longer kept. The audit still has it.";
  return "It ran in no box: it starts no program, or its machine has none.";
}
