import { LogOut } from "lucide-react";
import { useState } from "react";

import { signOut, useSession } from "../api/session";
import { Button } from "../ui/button";
import { Code } from "../ui/code";
import { visible } from "../words/visible";
import { Part } from "./part";

export function SignOutPart() {
  const { name, version } = useSession();
  const [trouble, setTrouble] = useState<string | null>(null);
  const leave = async () => {
    try {
      await signOut();
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Part
      title="Signed in"
      about={
        <>
          As {visible(name)}, Handrail {visible(version)}. To sign in with another browser, run <Code>handrail console</Code> for a link.
        </>
      }
    >
      {trouble && (
        <p role="alert" className="mt-2 text-critical">
          {visible(trouble)}
        </p>
      )}
      <Button look="danger" className="mt-3" icon={<LogOut size={14} aria-hidden />} onClick={() => void leave()}>
        Sign out
      </Button>
    </Part>
  );
}
