import { useState } from "react";

import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { several } from "../words/number";
import { visible } from "../words/visible";

// As many as one card takes.
const MOST = 200;

interface Props {
  files: readonly string[];
  busy: boolean;
  onClose: () => void;
  onChoose: (files: string[]) => void;
}

/** Chooses files of a draft. Folders are listed with them: a chosen one stands for all below it. */
export function FilesDialog({ files, busy, onClose, onChoose }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const folderOf = (path: string) => files.find((one) => chosen.has(one) && path.startsWith(`${one}/`));
  const tick = (path: string, isChosen: boolean) => setChosen(new Set(isChosen ? [...chosen, path] : [...chosen].filter((one) => one !== path)));
  return (
    <Dialog open onClose={onClose} title="Apply chosen files" description="You get a new card with these files alone, and nothing is applied before you approve it. All other changes, and commits, stay in the draft.">
      <form
        className="flex min-h-0 flex-col"
        onSubmit={(event) => {
          event.preventDefault();
          onChoose([...chosen]);
        }}
      >
        <fieldset className="mt-4 min-h-0 overflow-y-auto">
          <legend className="text-soft">Files to apply</legend>
          {files.map((path) => (
            <label key={path} className="mt-1 flex cursor-pointer items-baseline gap-2 rounded-md px-2 py-1 hover:bg-raised has-focus-visible:outline-2 has-focus-visible:outline-accent has-disabled:cursor-default">
              <input type="checkbox" className="accent-(--accent)" disabled={folderOf(path) !== undefined} checked={chosen.has(path) || folderOf(path) !== undefined} onChange={(event) => tick(path, event.target.checked)} />
              <span className="as-code min-w-0 flex-1 [overflow-wrap:anywhere]">{visible(path)}</span>
            </label>
          ))}
        </fieldset>
        <div className="mt-5 flex flex-wrap items-center justify-end gap-2">
          <span role="status" className="mr-auto text-soft">
            {chosen.size > MOST ? `Choose at most ${MOST}, or a folder.` : several(chosen.size, "path")}
          </span>
          <Button look="quiet" onClick={onClose}>
            Back
          </Button>
          <Button look="primary" type="submit" disabled={busy || chosen.size === 0 || chosen.size > MOST}>
            Show the card
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
