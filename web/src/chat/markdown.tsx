import { memo, useMemo, type ReactNode } from "react";

import { Copy } from "../ui/copy";
import { blocksOf, type Block, type Inline } from "../words/markdown";
import { visible } from "../words/visible";

/** What a model says, drawn from a tree of our own: nothing in it is ever taken for HTML. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="space-y-3 [overflow-wrap:anywhere]">
      <Blocks blocks={blocks} />
    </div>
  );
});

function Blocks({ blocks }: { blocks: Block[] }) {
  return blocks.map((block, index) => <One key={index} block={block} />);
}

const HEADINGS = ["text-lg font-semibold", "text-base font-semibold", "font-semibold"];

function One({ block }: { block: Block }): ReactNode {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Inlines inner={block.inner} />
        </p>
      );
    case "heading":
      // Below the page's own headings, whatever its level says.
      return (
        <h4 className={`pt-1 tracking-tight ${HEADINGS[Math.min(block.level, HEADINGS.length) - 1]}`}>
          <Inlines inner={block.inner} />
        </h4>
      );
    case "code":
      return <CodeBlock language={block.language} text={block.text} />;
    case "list":
      return <List block={block} />;
    case "quote":
      return (
        <blockquote className="space-y-3 border-l-2 border-line pl-4 text-soft">
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case "table":
      return <Table head={block.head} rows={block.rows} />;
    case "rule":
      return <hr className="border-line" />;
  }
}

function List({ block }: { block: Extract<Block, { kind: "list" }> }) {
  const items = block.items.map((blocks, index) => (
    <li key={index} className="space-y-1.5 pl-1">
      <Blocks blocks={blocks} />
    </li>
  ));
  return block.ordered ? (
    <ol start={block.start} className="list-decimal space-y-1 pl-6">
      {items}
    </ol>
  ) : (
    <ul className="list-disc space-y-1 pl-6">{items}</ul>
  );
}

function CodeBlock({ language, text }: { language: string; text: string }) {
  const shown = visible(text, "\n\t");
  return (
    <figure className="overflow-hidden rounded-lg border border-line bg-panel">
      <figcaption className="flex items-center justify-between border-b border-line py-0.5 pr-1 pl-3 text-xs text-soft">
        <span className="font-mono">{visible(language) || "text"}</span>
        <Copy text={shown} what="this code" />
      </figcaption>
      <pre tabIndex={0} className="overflow-x-auto p-3 text-[12.5px] leading-5">
        <code>{shown}</code>
      </pre>
    </figure>
  );
}

function Table({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) {
  const cell = "border-b border-line px-3 py-1.5 text-left align-top";
  return (
    <div className="overflow-x-auto rounded-lg border border-line" tabIndex={0} role="region" aria-label="Table">
      <table className="w-full text-[13px]">
        <thead className="bg-raised">
          <tr>
            {head.map((inner, index) => (
              <th key={index} scope="col" className={`font-medium ${cell}`}>
                <Inlines inner={inner} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number} className="last:*:border-b-0">
              {row.map((inner, index) => (
                <td key={index} className={cell}>
                  <Inlines inner={inner} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inlines({ inner }: { inner: Inline[] }) {
  return inner.map((one, index) => <Piece key={index} one={one} />);
}

function Piece({ one }: { one: Inline }): ReactNode {
  switch (one.kind) {
    case "text":
      return prose(one.text);
    case "code":
      return <code className="rounded bg-raised px-1 py-0.5 font-mono text-[0.9em]">{visible(one.text, "\t")}</code>;
    case "strong":
      return (
        <strong className="font-semibold">
          <Inlines inner={one.inner} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inlines inner={one.inner} />
        </em>
      );
    case "gone":
      return (
        <s>
          <Inlines inner={one.inner} />
        </s>
      );
    case "link":
      return <Address href={one.href} inner={one.inner} />;
    case "break":
      return <br />;
  }
}

/** Its words may say anything, so where it leads stands beside them. */
function Address({ href, inner }: { href: string; inner: Inline[] }) {
  const plain = inner.length === 1 && inner[0]!.kind === "text" && inner[0]!.text === href;
  return (
    <>
      <a href={href} target="_blank" rel="noreferrer noopener nofollow" title={visible(href)} className="text-accent underline underline-offset-2">
        <Inlines inner={inner} />
      </a>
      {!plain && <span className="text-soft"> ({visible(new URL(href).host)})</span>}
    </>
  );
}

/** In prose a pictograph may say that it wants to be one; in code nothing unseen may be. */
function prose(text: string): string {
  return visible(text.replace(/(\p{Extended_Pictographic})\ufe0f/gu, "$1"), "\n\t");
}
