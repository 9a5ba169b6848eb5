import { useId, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

/** A modal dialog of the browser. Escape and a press beside it close it; the focus returns to where it was. */
export function Dialog({ open, ...rest }: Props) {
  return open && createPortal(<Modal {...rest} />, document.body);
}

function Modal({ onClose, title, description, wide = false, children }: Omit<Props, "open">) {
  const place = useRef<HTMLDialogElement>(null);
  const [isShown, setShown] = useState(false);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = place.current;
    dialog?.showModal();
    // Only in an open dialog can a field take the focus.
    setShown(true);
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={place}
      aria-labelledby={`${id}title`}
      aria-describedby={description ? `${id}description` : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={onClose}
      onPointerDown={(event) => event.target === event.currentTarget && onClose()}
      className={`m-auto w-[calc(100vw-2rem)] rounded-xl border border-line bg-panel text-ink shadow-2xl backdrop:bg-black/50 ${wide ? "max-w-4xl" : "max-w-lg"}`}
    >
      <div className="flex max-h-[90dvh] flex-col overflow-auto p-5">
        <h2 id={`${id}title`} className="text-base font-semibold tracking-tight">
          {title}
        </h2>
        {description && (
          <div id={`${id}description`} className="mt-1 text-soft">
            {description}
          </div>
        )}
        {isShown && children}
      </div>
    </dialog>
  );
}
