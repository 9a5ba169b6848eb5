import { useEffect, useRef } from "react";

import { Button } from "../ui/button";

interface Props {
  words: string;
  yes: string;
  ready: boolean;
  withKeys?: boolean;
  onYes: () => void;
  onNo: () => void;
}

/**
 * Asks once more, in another place: above the buttons of the first step. Its words have the focus, so that what is
 * pressed once too often presses nothing.
 */
export function SecondStep({ words, yes, ready, withKeys = false, onYes, onNo }: Props) {
  const asked = useRef<HTMLParagraphElement>(null);
  useEffect(() => asked.current?.focus(), []);
  return (
    <>
      <div className="flex basis-full flex-wrap items-center gap-2">
        <p ref={asked} role="alert" tabIndex={-1} className="min-w-0 flex-1 basis-60 font-medium">
          {words}
        </p>
        <Button look="danger-solid" className="ml-auto" hotkey={withKeys ? "y" : undefined} disabled={!ready} onClick={onYes}>
          {yes}
        </Button>
      </div>
      <Button look="plain" hotkey={withKeys ? "Esc" : undefined} onClick={onNo}>
        Back
      </Button>
    </>
  );
}
