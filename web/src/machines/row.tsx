import { Circle, CircleDashed, ShieldAlert, ShieldCheck } from "lucide-react";

import type { ClientView, Wall } from "../api/types";
import { Code } from "../ui/code";
import { Fact, Facts } from "../ui/facts";
import { Tag } from "../ui/tag";
import { moment } from "../words/time";
import { visible } from "../words/visible";

const WALLS: Record<Wall, string> = {
  namespaces: "commands see only the workspace and the system",
  seccomp: "dangerous system calls are blocked",
  limits: "time, memory and processes are limited",
  landlock: "the kernel allows writes only in the workspace",
  overlay: "commands can be tried first without effect",
};

export function MachineRow({ machine }: { machine: ClientView }) {
  return (
    <li className="space-y-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-medium [overflow-wrap:anywhere]">{visible(machine.name)}</h2>
        <Presence machine={machine} />
      </div>
      <Code className="block">{machine.root}</Code>
      <div className="flex flex-wrap items-center gap-2 text-xs">
        {machine.boxed ? <ShieldCheck size={14} className="text-low" aria-hidden /> : <ShieldAlert size={14} className="text-medium" aria-hidden />}
        <span>{machine.boxed ? "Commands run in a tested sandbox" : "No working sandbox, so you are asked about every command"}</span>
        {machine.walls.map((wall) => (
          <Tag key={wall}>
            <span title={WALLS[wall]}>{wall}</span>
          </Tag>
        ))}
      </div>
      <Facts>
        {machine.machine !== machine.name && <Fact name="on">{visible(machine.machine)}</Fact>}
        <Fact name="registered">{moment(machine.registered_at)}</Fact>
        <Fact name="id">
          <Code>{machine.client_id}</Code>
        </Fact>
      </Facts>
    </li>
  );
}

function Presence({ machine }: { machine: ClientView }) {
  if (machine.connected) {
    return (
      <span className="inline-flex items-center gap-1.5 text-xs text-low">
        <Circle size={9} fill="currentColor" aria-hidden /> connected
      </span>
    );
  }
  return (
    <span className="inline-flex items-center gap-1.5 text-xs text-soft">
      <CircleDashed size={11} aria-hidden />
      {machine.left_at ? `last seen ${moment(machine.left_at)}` : "not connected since the server started"}
    </span>
  );
}
