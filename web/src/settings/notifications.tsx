import { Bell, BellOff } from "lucide-react";
import { useState } from "react";

import { notifying, startNotifying, stopNotifying } from "../shell/notify";
import { Button } from "../ui/button";
import { Part } from "./part";

const WORDS = {
  on: "You get a notification when something waits for you and this tab is in the background.",
  off: "Get a notification when something waits for you and this tab is in the background. Your browser asks for permission first.",
  blocked: "Notifications from this page are blocked. You can allow them in the browser’s settings.",
  impossible: "This browser does not support notifications.",
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
