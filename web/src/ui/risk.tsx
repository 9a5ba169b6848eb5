import { Ban, CircleAlert, OctagonAlert, ShieldCheck, TriangleAlert } from "lucide-react";

/** Each risk has a colour, a shape and a word: none of them alone. */
const SHAPES = {
  LOW: ShieldCheck,
  MEDIUM: CircleAlert,
  HIGH: TriangleAlert,
  CRITICAL: OctagonAlert,
  FORBIDDEN: Ban,
};
const COLOURS: Record<string, string> = {
  LOW: "text-low border-low/35 bg-low/10",
  MEDIUM: "text-medium border-medium/35 bg-medium/10",
  HIGH: "text-high border-high/35 bg-high/10",
  CRITICAL: "text-critical border-critical/35 bg-critical/10",
  FORBIDDEN: "text-critical border-critical/35 bg-critical/10",
};

export function Risk({ level }: { level: string }) {
  const Shape = SHAPES[level as keyof typeof SHAPES] ?? CircleAlert;
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full border px-2 py-0.5 text-xs font-medium ${COLOURS[level] ?? COLOURS["MEDIUM"]}`}
    >
      <Shape size={12} aria-hidden />
      {level.toLowerCase()}
    </span>
  );
}
