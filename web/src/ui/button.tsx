import type { ButtonHTMLAttributes, ReactNode } from "react";

const LOOKS = {
  primary: "bg-accent text-on-accent font-medium hover:brightness-110",
  plain: "border border-line bg-panel hover:bg-raised",
  danger: "border border-critical/40 text-critical hover:bg-del",
  "danger-solid": "bg-critical text-bg font-medium hover:brightness-110",
  quiet: "text-soft hover:bg-raised hover:text-ink",
};

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof LOOKS;
  /** The key that does the same. */
  hotkey?: string | undefined;
  icon?: ReactNode;
}

export function Button({ look = "plain", hotkey, icon, children, className = "", ...rest }: Props) {
  return (
    <button
      type="button"
      aria-keyshortcuts={hotkey}
      className={`inline-flex items-center gap-1.5 rounded-md px-3 py-1.5 whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-50 ${LOOKS[look]} ${className}`}
      {...rest}
    >
      {icon}
      {children}
      {hotkey && <Kbd>{hotkey}</Kbd>}
    </button>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd aria-hidden className="ml-1 rounded border border-current/30 pointer-coarse:hidden px-1 font-mono text-[10px] leading-4 opacity-80">
      {children}
    </kbd>
  );
}
