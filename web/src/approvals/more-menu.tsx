import { ChevronDown } from "lucide-react";

import type { OfferView } from "../api/types";
import { Button } from "../ui/button";
import { ITEM, Menu } from "../ui/menu";
import { visible } from "../words/visible";

/** Approvals that cover more than one call. */
export type Wider = "class" | "project" | "session";

const TITLES: Record<Wider, string> = { class: "This class…", project: "Always in this project…", session: "This session…" };

interface Props {
  offers: OfferView[];
  disabled: boolean;
  onChoose: (wider: Wider) => void;
}

export function MoreMenu({ offers, disabled, onChoose }: Props) {
  const wider = offers.filter((one) => one.scope !== "once");
  if (wider.length === 0) return null;
  return (
    <Menu
      side="above"
      className="w-96"
      trigger={(button) => (
        <Button {...button} disabled={disabled}>
          Approve more
          <ChevronDown size={14} aria-hidden />
        </Button>
      )}
    >
      {wider.map((one) => (
        <button key={one.scope} type="button" role="menuitem" onClick={() => onChoose(one.scope as Wider)} className={`block ${ITEM}`}>
          <span className={`block font-medium ${one.scope === "session" ? "text-critical" : ""}`}>
            {TITLES[one.scope as Wider]}
          </span>
          <span className="block text-xs text-soft [overflow-wrap:anywhere]">{visible(one.words)}</span>
          {one.past && <span className="block text-xs text-soft">{visible(one.past)}</span>}
        </button>
      ))}
    </Menu>
  );
}
