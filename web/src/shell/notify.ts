import { useCallback } from "react";

import { useEvent } from "../api/stream";
import type { ApprovalRequest, ApprovalResolved } from "../api/types";
import { go } from "../router";
import { visible } from "../words/visible";

/** Browser notifications of new requests: only if switched on, and while this tab is hidden. */

const KEY = "handrail.notify";
const shown = new Map<string, Notification>();

export type Notifying = "on" | "off" | "blocked" | "impossible";

export function notifying(): Notifying {
  if (!("Notification" in window)) return "impossible";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && localStorage.getItem(KEY) === "on" ? "on" : "off";
}

/** Asks the browser for permission where it must; call it on a click and at no other time. */
export async function startNotifying(): Promise<Notifying> {
  localStorage.setItem(KEY, "on");
  if (Notification.permission === "default") await Notification.requestPermission();
  return notifying();
}

export function stopNotifying(): Notifying {
  localStorage.removeItem(KEY);
  return notifying();
}

/** Mounted once. */
export function useNotifications(): void {
  useEvent("tool.approval_request", useCallback(tell, []));
  useEvent("approval.resolved", useCallback(takeBack, []));
}

function tell(asked: ApprovalRequest): void {
  if (asked.status !== "pending" || document.visibilityState === "visible" || notifying() !== "on") return;
  // By its tag, several tabs show one and the same.
  const note = new Notification(`${risk(asked)}: ${visible(asked.description)}`, { body: asked.reasons.map((one) => visible(one)).join("\n"), tag: asked.approval_id });
  note.onclick = () => {
    window.focus();
    go(`/approvals/${asked.approval_id}`);
    note.close();
  };
  shown.set(asked.approval_id, note);
}

function takeBack(ended: ApprovalResolved): void {
  shown.get(ended.approval_id)?.close();
  shown.delete(ended.approval_id);
}

function risk(asked: ApprovalRequest): string {
  return asked.risk_level.charAt(0) + asked.risk_level.slice(1).toLowerCase();
}
