import { useEffect, useRef } from "react";

import { useAfter } from "../ui/after";
import { Button } from "../ui/button";
import { A_MOMENT_MS } from "./seen";

interface Props {
  words: string;
  yes: string;
  ready: boolean;
  withKeys?: boolean;
  onYes: () => void;
  onNo: () => void;
}

/**
 * Asks once more, above the buttons of the first step. Its text takes the focus, so that a key pressed twice does
 * nothing.
 */
export function SecondStep({ words, yes, ready, withKeys = false, onYes, onNo }: Props) {
  const asked = useRef<HTMLParagraphElement>(null);
  // A double click must not hit a button that has just appeared.
  const awake = useAfter(A_MOMENT_MS);
  useEffect(() => asked.current?.focus(), []);
  return (
    <>
      <div className="flex basis-full flex-wrap items-center gap-2">
        <p ref={asked} role="alert" tabIndex={-1} className="min-w-0 flex-1 basis-60 font-medium">
          {words}
        </p>
        <Button look="danger-solid" className="ml-auto" hotkey={withKeys ? "y" : undefined} disabled={!ready || !awake} onClick={onYes}>
          {yes}
        </Button>
      </div>
      <Button look="plain" hotkey={withKeys ? "Esc" : undefined} onClick={onNo}>
        Back
      </Button>
    </>
  );
}
