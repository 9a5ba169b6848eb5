import { Dialog } from "../ui/dialog";
import { KeysList } from "./keys-list";

export function KeysDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keys">
      <KeysList />
    </Dialog>
  );
}
