import { Bell, BellOff } from "lucide-react";
import { useState } from "react";

import { notifying, startNotifying, stopNotifying } from "../shell/notify";
import { Button } from "../ui/button";
import { Part } from "./part";

const WORDS = {
  on: "While this tab is in the background, you are told when something waits for you.",
  off: "Be told when something waits for you while this tab is in the background. Your browser asks you first.",
  blocked: "This browser was told to show none for this page. Its own settings can change that.",
  impossible: "This browser cannot show any.",
};

export function NotificationsPart() {
  const [state, setState] = useState(notifying);
  return (
    <Part title="Notifications" about={<p role="status">{WORDS[state]}</p>}>
      {state === "off" && (
        <Button className="mt-3" icon={<Bell size={14} aria-hidden />} onClick={() => void startNotifying().then(setState)}>
          Turn on
        </Button>
      )}
      {state === "on" && (
        <Button className="mt-3" icon={<BellOff size={14} aria-hidden />} onClick={() => setState(stopNotifying())}>
          Turn off
        </Button>
      )}
    </Part>
  );
}
