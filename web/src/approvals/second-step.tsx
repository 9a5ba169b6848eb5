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

/** Asks once more. Its text takes the focus, so that a key pressed twice does nothing. */
export function SecondStep({ words, yes, ready, withKeys = false, onYes, onNo }: Props) {
  const asked = useRef<HTMLParagraphElement>(null);
  // A double click must not hit a button that has just appeared.
  const awake = useAfter(A_MOMENT_MS);
  useEffect(() => asked.current?.focus(), []);
  return (
    // Yes is never where a button of the first step was: above them, or, in one row, left of Refuse.
    <div className="@container w-full">
      <div className="flex flex-col-reverse items-start gap-2 @2xl:flex-row @2xl:items-center">
        <Button look="plain" hotkey={withKeys ? "Esc" : undefined} onClick={onNo}>
          Back
        </Button>
        <div className="flex w-full flex-wrap items-center gap-2">
          <p ref={asked} role="alert" tabIndex={-1} className="rounded font-medium">
            {words}
          </p>
          <Button look="danger-solid" className="ml-auto @2xl:mr-36" hotkey={withKeys ? "y" : undefined} disabled={!ready || !awake} onClick={onYes}>
            {yes}
          </Button>
        </div>
      </div>
    </div>
  );
}
